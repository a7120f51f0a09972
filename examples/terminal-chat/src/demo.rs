//! A script that answers instead of a model: it shows the component that the question names.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use omniassist_server::core::LlmPayload;
use omniassist_server::core::transcript::{TranscriptItem, UserContent};
use omniassist_server::testing::{ScriptedProvider, Turn};
use omniassist_server::{LlmProvider, LlmStream};
use serde_json::json;
use serde_json::value::RawValue;

/// An example of the props of each component, by its name.
const SAMPLES: &str = include_str!("samples.json");

const WELCOME: &str = "A script answers here, not a model. Ask for a card, a stat, a table, a chart, a list, a form, \
     choices, an image, progress, a timeline, code or a stack. Ask for the sales, or set a target.";

/// The script, as the provider of a model. It waits between events, as a model does.
#[derive(Debug, Clone)]
pub struct Demo {
    script: ScriptedProvider,
    pace: Duration,
}

impl Demo {
    /// Creates the script with this pause before each event.
    #[must_use]
    pub fn new(pace: Duration) -> Self {
        Self { script: ScriptedProvider::new().otherwise(answer), pace }
    }

    /// Returns the requests to the model so far, oldest first.
    #[must_use]
    pub fn payloads(&self) -> Vec<LlmPayload> {
        self.script.payloads()
    }
}

impl LlmProvider for Demo {
    fn name(&self) -> &str {
        "demo"
    }

    fn model(&self) -> Option<&str> {
        Some("script")
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        let pace = self.pace;
        Box::pin(self.script.stream(payload).then(move |event| async move {
            tokio::time::sleep(pace).await;
            event
        }))
    }
}

/// Returns the examples, in the text of the file, so that their members have its order.
pub(crate) fn samples() -> BTreeMap<String, Box<RawValue>> {
    serde_json::from_str(SAMPLES).unwrap_or_default()
}

fn answer(payload: &LlmPayload) -> Turn {
    let asked = payload.transcript.iter().rposition(|item| matches!(item, TranscriptItem::User { .. }));
    let turn = payload.transcript.get(asked.unwrap_or_default()..).unwrap_or_default();
    let question = turn.first().map(question_of).unwrap_or_default().to_lowercase();
    if let Some(TranscriptItem::Result(result)) = turn.last() {
        return match &result.output.to_value() {
            serde_json::Value::Object(members) if members.contains_key("rendered") => words("Here it is."),
            output => words(&format!("Thank you. I got this: {output}")),
        };
    }
    if question.contains("target") {
        return words("I need your approval.\n")
            .then(Turn::call("set_target", json!({ "region": "North", "amount": 1500 })));
    }
    if question.contains("sales") {
        return words("Let me look.\n").then(Turn::call("sales", json!({})));
    }
    let samples = samples();
    let named = samples.iter().filter(|(name, _)| question.contains(name.as_str()));
    let turns: Vec<Turn> =
        named.map(|(name, props)| Turn::raw_call(format!("ui_{name}"), props.get())).collect();
    match turns.into_iter().reduce(Turn::then) {
        Some(calls) => words("Of course.").then(calls),
        None => words(WELCOME),
    }
}

fn words(said: &str) -> Turn {
    Turn::text_chunks(said.split_inclusive(' ').map(str::to_owned))
}

fn question_of(item: &TranscriptItem) -> String {
    let TranscriptItem::User { content } = item else { return String::new() };
    let texts = content.iter().filter_map(|part| match part {
        UserContent::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.last().unwrap_or_default().to_owned()
}
