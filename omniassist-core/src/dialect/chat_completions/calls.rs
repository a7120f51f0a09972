use crate::dialect::posted;
use crate::{JsonText, Text};

/// The caller's tool calls of one streamed answer.
///
/// A call cannot be withdrawn once it was streamed. It is known to be valid only at the end of the model's turn:
/// invalid arguments or an incomplete turn cancel it. The last closing brace of the arguments and the white space after
/// it are held back until then, so that the arguments of a cancelled call do not parse. So is `null` at their start, which
/// stands for an empty object.
///
/// Clients consider a call complete when the next one begins. Only one call is streamed at a time. Parallel calls are
/// written in one piece, after they are known to be valid.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    begun: usize,
    open: Option<Open>,
    any_approved: bool,
}

/// The call whose arguments are being streamed.
#[derive(Debug, Clone)]
struct Open {
    index: usize,
    id: Text,
    /// The arguments from the last closing brace on, or all of them while they may say that there are none.
    held: String,
    /// `true` after anything except white space was passed on.
    said: bool,
}

impl Calls {
    /// Begins to stream a call and returns its index. Returns `None` while another call is streamed.
    pub(super) fn begin(&mut self, id: &Text) -> Option<usize> {
        if self.open.is_some() {
            return None;
        }
        let index = self.begun;
        self.begun += 1;
        self.open = Some(Open { index, id: id.clone(), held: String::new(), said: false });
        Some(index)
    }

    /// Begins a valid call in place of the one being streamed. Calls are settled in the model's order, so the replaced
    /// call is not valid.
    pub(super) fn begin_whole(&mut self, id: &Text) -> Option<usize> {
        self.open = None;
        self.begin(id)
    }

    /// Processes a delta of a call's arguments. `pass_on` receives the call's index and the text that can be sent.
    pub(super) fn piece(&mut self, id: &str, piece: &str, mut pass_on: impl FnMut(usize, &str)) {
        let Some(call) = self.open.as_mut().filter(|call| call.id == *id) else { return };
        if !call.said && posted::may_say_none(&[call.held.as_str(), piece].concat()) {
            call.held.push_str(piece);
            return;
        }
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

    /// Marks the call as valid. `pass_on` receives its index and the rest of its arguments. Returns `false` if the call
    /// is not being streamed.
    pub(super) fn approve(
        &mut self,
        id: &str,
        input: &JsonText,
        mut pass_on: impl FnMut(usize, &str),
    ) -> bool {
        let Some(call) = self.open.take_if(|call| call.id == *id) else { return false };
        if !call.said && posted::may_say_none(&call.held) {
            pass_on(call.index, input.as_str());
        } else if !call.held.is_empty() {
            pass_on(call.index, &call.held);
        }
        self.any_approved = true;
        true
    }

    /// Cancels the call. The arguments streamed so far remain incomplete.
    pub(super) fn give_up(&mut self, id: &str) {
        self.open.take_if(|call| call.id == *id);
    }

    /// Returns `true` after a call was completed.
    pub(super) fn any_approved(&self) -> bool {
        self.any_approved
    }
}
