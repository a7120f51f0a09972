//! The label of a call for people: the tool's title and a summary of the arguments.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use omniassist_core::run::{CallLabel, Gate};
use omniassist_core::{JsonText, Text};
use serde::de::DeserializeOwned;

use crate::one_line::is_unseen;
use crate::tool::output::cut_off;
use crate::tool::typed;

/// The maximum number of bytes of a summary.
const MAX_SUMMARY_BYTES: usize = 300;

/// A function that summarises the arguments of a call.
#[derive(Clone)]
pub(in crate::tool) struct Summary(Arc<Summarise>);

type Summarise = dyn Fn(&JsonText) -> Option<String> + Send + Sync;

impl Summary {
    pub(in crate::tool) fn new<T, S>(summary: impl Fn(&T) -> S + Send + Sync + 'static) -> Self
    where
        T: DeserializeOwned,
        S: Into<String>,
    {
        Self(Arc::new(move |arguments| Some(summary(&typed::read(arguments).ok()?).into())))
    }

    /// Returns the summary of these arguments as one line, or `None` if it is empty or cannot be made.
    pub(in crate::tool) fn of(&self, tool: &str, arguments: &JsonText) -> Option<Text> {
        let summary = catch_unwind(AssertUnwindSafe(|| (self.0)(arguments))).unwrap_or_else(|_| {
            tracing::error!(tool, "the summary of the arguments panicked; the call has none");
            None
        });
        summary.map(|text| one_line(&text)).filter(|text| !text.is_empty()).map(Text::from)
    }
}

impl fmt::Debug for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Summary")
    }
}

/// Completes the question of an approval with the summary of the call.
pub(in crate::tool) fn complete(gate: Gate, tool: &str, label: CallLabel) -> Gate {
    let Gate::Approval { message, editable } = gate else { return gate };
    let message = match (message, label.summary) {
        (message, None) => message,
        (Some(message), Some(summary)) => Some(format!("{message}\n{summary}").into()),
        (None, Some(summary)) => {
            let title = label.title.as_deref().unwrap_or(tool);
            Some(format!("{title}: {summary}").into())
        }
    };
    Gate::Approval { message, editable }
}

/// Returns a text on one line. The model wrote the arguments: a line break or a mark of text direction among them must
/// not make a question look like another one.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in
        text.split(|char: char| is_unseen(char) || char.is_whitespace()).filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    cut_off(line, MAX_SUMMARY_BYTES)
}
