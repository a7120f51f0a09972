//! The events of an answer for which the API compacted the conversation.

use omniassist_core::Text;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::usage::Counts;
use crate::Result;
use crate::provider::lenient_fields::{Few, Str};
use crate::provider::wire::broken_json;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta {
    delta: Map<String, Value>,
}

/// Adds a delta to a block: text is appended, and any other value replaces the earlier one.
pub(super) fn add(block: &mut Map<String, Value>, data: &Text) -> Result<()> {
    let Delta { mut delta } = serde_json::from_str(data).map_err(broken_json)?;
    delta.remove("type");
    for (name, value) in delta {
        match (block.get_mut(&name), &value) {
            (Some(Value::String(text)), Value::String(more)) if name == "content" => text.push_str(more),
            _ => drop(block.insert(name, value)),
        }
    }
    Ok(())
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct End<'a> {
    usage: Iterations<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Iterations<'a> {
    iterations: Few<Iteration<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Iteration<'a> {
    #[serde(rename = "type")]
    kind: Str<'a>,
    #[serde(flatten)]
    counts: Counts,
}

/// Returns the counts of the compactions in the event at the end of a message.
pub(super) fn counts(data: &Text) -> Result<Counts> {
    let end: End<'_> = serde_json::from_str(data).map_err(broken_json)?;
    let compactions = end.usage.iterations.into_iter().filter(|each| each.kind.as_str() == "compaction");
    Ok(compactions.fold(Counts::default(), |sum, each| sum.plus(Some(each.counts))))
}
