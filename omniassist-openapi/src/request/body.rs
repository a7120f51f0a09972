//! The body of a request.

use bytes::Bytes;
use omniassist_server::ToolError;
use serde_json::{Map, Value};

use super::encode::encode;
use super::multipart;
use super::style::{in_pairs, scalar};
use crate::arguments::{BodyPlan, Content};
use crate::document::BodyKind;

/// Returns the media type and the body, if there is one.
pub(super) fn write(
    plan: &BodyPlan,
    arguments: &Map<String, Value>,
) -> Result<Option<(String, Bytes)>, ToolError> {
    let collected;
    let value = match &plan.content {
        Content::Whole(argument) => arguments.get(argument),
        Content::Fields(fields) => {
            let given = fields.iter().filter_map(|(argument, field)| {
                arguments.get(argument).map(|value| (field.clone(), value.clone()))
            });
            collected = Value::Object(given.collect());
            let is_empty = collected.as_object().is_none_or(Map::is_empty);
            (plan.required || !is_empty).then_some(&collected)
        }
    };
    let Some(value) = value else { return Ok(None) };
    let mut media_type = plan.media_type.clone();
    let text = match &plan.kind {
        BodyKind::Json => value.to_string(),
        BodyKind::Text => scalar(value).unwrap_or_else(|| value.to_string()),
        BodyKind::Form(styles) => {
            let mut pairs = Vec::new();
            for (name, value) in fields(value)? {
                match styles.get(name) {
                    Some(wire) => pairs.extend(in_pairs(name, value, *wire)?),
                    None => plain(name, value, &mut pairs),
                }
            }
            let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
            pairs.join("&")
        }
        BodyKind::Multipart(parts) => {
            let (boundary, text) = multipart::write(fields(value)?, &parts.texts);
            media_type = format!("multipart/form-data; boundary={boundary}");
            text
        }
    };
    Ok(Some((media_type, text.into())))
}

fn fields(value: &Value) -> Result<&Map<String, Value>, ToolError> {
    value.as_object().ok_or_else(|| ToolError::new("The argument for the body must be an object."))
}

/// Adds a field of a form without a style: each item of a list is a field of its own, and an object is JSON.
fn plain(name: &str, value: &Value, pairs: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Array(items) => items.iter().for_each(|item| {
            pairs.push((encode(name), encode(&scalar(item).unwrap_or_else(|| item.to_string()))));
        }),
        value => pairs.push((encode(name), encode(&scalar(value).unwrap_or_else(|| value.to_string())))),
    }
}
