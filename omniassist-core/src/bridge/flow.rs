use serde::Serialize;

use crate::{JsonText, RunEvent, Text};

/// The status of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "lowercase")]
pub enum FlowStatus {
    /// The flow is running.
    Running,
    /// The flow waits for input.
    Paused,
    /// The flow has ended.
    Complete,
    /// The flow was stopped, or failed.
    Aborted,
}

impl FlowStatus {
    /// Parses the status of `flow:complete`. Runtimes also report `failed` there, which chats show as `aborted`.
    pub(super) fn at_the_end(status: &str) -> Self {
        match status {
            "running" => Self::Running,
            "paused" => Self::Paused,
            "aborted" | "failed" => Self::Aborted,
            _ => Self::Complete,
        }
    }
}

/// Returns the event for `data-flow-status`.
pub(super) fn flow_status(status: FlowStatus, flow_name: &Text) -> RunEvent {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Data<'a> {
        status: FlowStatus,
        flow_name: &'a Text,
    }
    data("flow-status", &Data { status, flow_name })
}

/// Returns the event for `data-node-output`.
pub(super) fn node_output(node_id: &Text, run_id: Option<&Text>, output: &JsonText) -> RunEvent {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Data<'a> {
        node_id: &'a Text,
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<&'a Text>,
        output: &'a JsonText,
    }
    data("node-output", &Data { node_id, run_id, output })
}

fn data(name: &'static str, data: &impl Serialize) -> RunEvent {
    RunEvent::Data {
        name: Text::from_static(name),
        id: None,
        data: JsonText::from_serialize(data).unwrap_or_default(),
        transient: false,
    }
}
