use crate::{JsonText, Text};

/// The caller's tool calls of one streamed answer.
///
/// A call cannot be taken back once it was streamed, and whether it is one to run is known only when the model's turn
/// is over: arguments that do not fit, and a turn that was cut, veto it. So what might close the arguments is held
/// back until then, and arguments that were never approved do not parse.
///
/// Clients take a call for complete when the next one begins. So one call is streamed at a time; those that the model
/// makes beside it come whole, once they are known to be ones to run.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    begun: usize,
    open: Option<Open>,
    any_approved: bool,
}

/// The call that is being streamed.
#[derive(Debug, Clone)]
struct Open {
    index: usize,
    id: Text,
    /// From the last closing brace on.
    held: String,
    /// `true` once anything but white space was passed on.
    said: bool,
}

impl Calls {
    /// Begins to stream a call, and gives its index; `None` while another one is streamed.
    pub(super) fn begin(&mut self, id: &Text) -> Option<usize> {
        if self.open.is_some() {
            return None;
        }
        let index = self.begun;
        self.begun += 1;
        self.open = Some(Open { index, id: id.clone(), held: String::new(), said: false });
        Some(index)
    }

    /// Begins a call that is one to run, in place of one that is still streamed: calls are settled in the model's order,
    /// so that one will not be.
    pub(super) fn begin_whole(&mut self, id: &Text) -> Option<usize> {
        self.open = None;
        self.begin(id)
    }

    /// Takes a piece of a call's arguments. `pass_on` gets the call's index and what may be passed on.
    pub(super) fn piece(&mut self, id: &str, piece: &str, mut pass_on: impl FnMut(usize, &str)) {
        let Some(call) = self.open.as_mut().filter(|call| call.id == *id) else { return };
        let (clear, brace) = match piece.rfind('}') {
            Some(at) => piece.split_at(at),
            None if !call.held.is_empty() && piece.trim().is_empty() => ("", piece),
            None => (piece, ""),
        };
        if brace.starts_with('}') || !clear.is_empty() {
            call.said |= !call.held.is_empty() || !clear.trim().is_empty();
            for part in [call.held.as_str(), clear] {
                if !part.is_empty() {
                    pass_on(call.index, part);
                }
            }
            call.held.clear();
        }
        call.held.push_str(brace);
    }

    /// The call is one to run. `pass_on` gets its index and what is left of its arguments. `false` for a call that is
    /// not being streamed.
    pub(super) fn approve(
        &mut self,
        id: &str,
        input: &JsonText,
        mut pass_on: impl FnMut(usize, &str),
    ) -> bool {
        let Some(call) = self.open.take_if(|call| call.id == *id) else { return false };
        if !call.said && call.held.is_empty() {
            pass_on(call.index, input.as_str());
        } else if !call.held.is_empty() {
            pass_on(call.index, &call.held);
        }
        self.any_approved = true;
        true
    }

    /// The call is none to run: what was streamed of it stays as it is.
    pub(super) fn give_up(&mut self, id: &str) {
        self.open.take_if(|call| call.id == *id);
    }

    /// Returns `true` once a call was handed over.
    pub(super) fn any_approved(&self) -> bool {
        self.any_approved
    }
}
