use crate::message::{Part, ToolState};
use crate::{JsonText, canonical};

/// The canonical forms of one call's arguments and output after the other's, in the same memory.
#[derive(Default)]
pub(super) struct Forms {
    arguments: Form,
    output: Form,
}

#[derive(Default)]
struct Form {
    bytes: Vec<u8>,
    /// `true` if something was left out; `None` where there is no form.
    left_out: Option<bool>,
}

impl Forms {
    /// Makes the forms of a part. One that is no call has none.
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

    /// Puts the forms in place of what was posted. So every reader of a call's arguments and output sees the same in
    /// them, and an approved call runs with the very arguments that were proved.
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
