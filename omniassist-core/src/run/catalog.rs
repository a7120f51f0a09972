//! The tools of a run, as used by the run loop.

use serde_json::{Map, json};

use crate::message::call_label;
use crate::{JsonText, RunEvent, Text, ToolApp, ToolSide};

/// The tools of a run. They must not change during the run.
pub trait ToolCatalog {
    /// Returns the side that runs the tool with exactly this name, or `None` if the tool does not exist.
    fn side(&self, name: &str) -> Option<ToolSide>;

    /// Checks the arguments of a call. Calls of unknown tools never run, so they may pass the check.
    ///
    /// # Errors
    ///
    /// Returns the message for the model if the arguments are invalid or the tool does not exist.
    fn check(&self, name: &str, arguments: &JsonText) -> Result<(), Text>;

    /// Returns the condition for a call with valid arguments. Default: [`Gate::Open`].
    fn gate(&self, name: &str, arguments: &JsonText) -> Gate {
        let _ = (name, arguments);
        Gate::Open
    }

    /// Returns the title and the summary of a call that clients display. Default: neither.
    fn label(&self, name: &str, arguments: Option<&JsonText>) -> CallLabel {
        let _ = (name, arguments);
        CallLabel::default()
    }

    /// Checks the output of a front-end tool, which the client supplied. Default: every output is valid.
    ///
    /// # Errors
    ///
    /// Returns the message for user and model if the output is invalid.
    fn check_output(&self, name: &str, arguments: &JsonText, output: &JsonText) -> Result<(), Text> {
        let _ = (name, arguments, output);
        Ok(())
    }
}

/// The display title and summary of a call, and the app that shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallLabel {
    /// The tool's title.
    pub title: Option<Text>,
    /// A one-line summary of the arguments. `None` while they are incomplete, and for a tool without a summary.
    pub summary: Option<Text>,
    /// The tool's app.
    pub app: Option<Box<ToolApp>>,
}

impl CallLabel {
    /// Returns the event with the label for the client, or `None` for an empty label.
    pub(super) fn event(self, call_id: &Text) -> Option<RunEvent> {
        let fields = [("title", self.title), ("summary", self.summary)];
        let mut label: Map<_, _> = fields
            .into_iter()
            .filter_map(|(key, text)| Some((key.to_owned(), text?.as_str().into())))
            .collect();
        if let Some(ToolApp { server, resource_uri, .. }) = self.app.as_deref() {
            let app = json!({ "server": server, "resourceUri": resource_uri });
            label.insert("app".to_owned(), app);
        }
        (!label.is_empty()).then(|| RunEvent::Metadata(call_label(call_id, label)))
    }
}

/// The condition under which a call runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gate {
    /// The call runs immediately.
    Open,
    /// The user must approve the call.
    Approval {
        /// A question for the user.
        message: Option<Text>,
        /// `true` if the user may edit the arguments.
        editable: bool,
    },
    /// The call requests user input by a form. The input is its output.
    Form {
        /// A question for the user.
        message: Option<Text>,
        /// The JSON Schema of the input.
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
