//! The tools of a run, as the run loop sees them.

use serde_json::Map;

use crate::message::call_label;
use crate::{JsonText, RunEvent, Text, ToolSide};

/// The tools of a run. A run sees one unchanging catalog.
pub trait ToolCatalog {
    /// Returns the side that runs the tool with exactly this name. `None`: there is no such tool.
    fn side(&self, name: &str) -> Option<ToolSide>;

    /// Checks the arguments of a call. A catalog may accept a call of an unknown tool, which does not run in any case.
    ///
    /// # Errors
    ///
    /// Returns the text that the model reads where the arguments do not fit, or where there is no such tool.
    fn check(&self, name: &str, arguments: &JsonText) -> Result<(), Text>;

    /// Returns the gate before a call whose arguments fit. Default: [`Gate::Open`].
    fn gate(&self, name: &str, arguments: &JsonText) -> Gate {
        let _ = (name, arguments);
        Gate::Open
    }

    /// Returns the name and the summary of a call that clients show to people. Default: neither.
    fn label(&self, name: &str, arguments: Option<&JsonText>) -> CallLabel {
        let _ = (name, arguments);
        CallLabel::default()
    }

    /// Checks the output that a client gave for a front-end tool. Default: every output fits.
    ///
    /// # Errors
    ///
    /// Returns the text that user and model read where the output does not fit.
    fn check_output(&self, name: &str, arguments: &JsonText, output: &JsonText) -> Result<(), Text> {
        let _ = (name, arguments, output);
        Ok(())
    }
}

/// The name and the summary of a call, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallLabel {
    /// The tool's title.
    pub title: Option<Text>,
    /// One line about the arguments. `None` while they are incomplete, and for a tool without a summary.
    pub summary: Option<Text>,
}

impl CallLabel {
    /// Returns the event that gives the label to the client, or `None` for an empty label.
    pub(super) fn event(self, call_id: &Text) -> Option<RunEvent> {
        let fields = [("title", self.title), ("summary", self.summary)];
        let label: Map<_, _> = fields
            .into_iter()
            .filter_map(|(key, text)| Some((key.to_owned(), text?.as_str().into())))
            .collect();
        (!label.is_empty()).then(|| RunEvent::Metadata(call_label(call_id, label)))
    }
}

/// The condition on which a call runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gate {
    /// The call runs at once.
    Open,
    /// The user must approve the call.
    Approval {
        /// A question for the user.
        message: Option<Text>,
        /// `true` where the user may change the arguments.
        editable: bool,
    },
    /// The call is a form: the client shows it, and what the user enters is its output.
    Form {
        /// A question for the user.
        message: Option<Text>,
        /// JSON Schema of the answer.
        schema: JsonText,
    },
    /// The call must not run.
    Refused {
        /// The reason, for the user and the model.
        reason: Text,
    },
}

/// A catalog without tools.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTools;

impl ToolCatalog for NoTools {
    fn side(&self, _name: &str) -> Option<ToolSide> {
        None
    }

    fn check(&self, _name: &str, _arguments: &JsonText) -> Result<(), Text> {
        Ok(())
    }
}
