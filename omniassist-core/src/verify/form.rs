use crate::message::{Part, ToolState};
use crate::{JsonText, canonical};

/// The canonical forms of the arguments and outputs of one call after another, in the same memory.
#[derive(Default)]
pub(super) struct Forms {
    arguments: Form,
    output: Form,
}

#[derive(Default)]
struct Form {
    bytes: Vec<u8>,
    /// `true` if a key was omitted; `None` if there is no canonical form.
    left_out: Option<bool>,
}

impl Forms {
    /// Computes the canonical forms of a part. A part that is not a call has none.
    pub(super) fn take(&mut self, part: &Part) {
        let (arguments, output) = match part {
            Part::Tool(tool) => (tool.state.input(), output(&tool.state)),
            _ => (None, None),
        };
        self.arguments.take(arguments);
        self.output.take(output);
    }

    pub(super) fn arguments(&self) -> Option<&str> {
        self.arguments.get()
    }

    pub(super) fn output(&self) -> Option<&str> {
        self.output.get()
    }

    /// Replaces the posted values by their canonical forms. All readers of a call's arguments and output then see the
    /// same value, and an approved call runs with exactly the proved arguments.
    pub(super) fn put(&self, part: &mut Part) {
        let Part::Tool(tool) = part else { return };
        let is_approval = matches!(tool.state, ToolState::ApprovalResponded { .. });
        let put = |form: &Form, json: Option<&mut JsonText>| {
            if let (Some(known), Some(json)) = (form.get(), json)
                && (is_approval || form.left_out == Some(true))
            {
                *json = JsonText::from_raw(known.into());
            }
        };
        put(&self.arguments, tool.state.input_mut());
        if let ToolState::OutputAvailable { output, .. } = &mut tool.state {
            put(&self.output, Some(output));
        }
    }
}

impl Form {
    fn take(&mut self, json: Option<&JsonText>) {
        self.bytes.clear();
        self.left_out = json.and_then(|json| canonical::append(json, &mut self.bytes));
    }

    fn get(&self) -> Option<&str> {
        self.left_out?;
        str::from_utf8(&self.bytes).ok()
    }
}

fn output(state: &ToolState) -> Option<&JsonText> {
    match state {
        ToolState::OutputAvailable { output, .. } => Some(output),
        _ => None,
    }
}
