//! The function calls of an answer: complete ones, and those with streamed arguments.

use omniassist_core::event::CallKind;
use omniassist_core::{EventBuf, LlmEvent, Text};

use super::metadata;
use super::partial::PartialArgs;
use super::wire::FunctionCall;
use crate::provider::lenient_fields::string_or_json;
use crate::{Error, ProviderErrorKind, Result};

type Out = EventBuf<LlmEvent>;

/// All calls of an answer, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    max_arguments: usize,
    /// The part of generated ids that is different for each answer.
    mint: String,
}

#[derive(Debug)]
struct Call {
    number: u32,
    id: Text,
    /// The arguments of a call that arrived in one piece, or of a call that has ended.
    arguments: Text,
    pieces: Option<PartialArgs>,
    signature: Option<Text>,
    /// `true` if the API has announced further pieces.
    open: bool,
    complete: bool,
}

impl Calls {
    pub(super) fn new(mint: String, max_arguments: usize) -> Self {
        Self { max_arguments, mint, ..Self::default() }
    }

    /// Takes a part. A part with a name begins a call; one without continues the open call.
    pub(super) fn take(
        &mut self,
        part: FunctionCall<'_>,
        signature: Option<Text>,
        data: &Text,
        out: &mut Out,
    ) -> Result<()> {
        let continues = self.calls.last().is_some_and(|last| {
            let same = part.id.non_empty().is_some_and(|id| last.id == *id);
            last.open && (part.name.as_str().is_empty() || same)
        });
        if !continues {
            if part.name.as_str().is_empty() {
                return Ok(());
            }
            self.begin(&part, out);
        }
        let max_arguments = self.max_arguments;
        let Some(call) = self.calls.last_mut() else { return Ok(()) };
        if signature.is_some() {
            call.signature = signature;
        }
        call.open = part.will_continue == Some(true);
        if call.pieces.is_some() || call.open || part.partial_args.len() > 0 {
            let pieces = call.pieces.get_or_insert_with(PartialArgs::new);
            if let Some(args) = part.args {
                pieces.merge(args, max_arguments)?;
            }
            for piece in part.partial_args {
                pieces.add(piece, max_arguments)?;
            }
        } else {
            call.arguments = string_or_json(part.args, data);
            if call.arguments.len() > max_arguments {
                return Err(Error::provider(ProviderErrorKind::TooLarge));
            }
        }
        if !call.open {
            call.close(true, out);
        }
        Ok(())
    }

    fn begin(&mut self, part: &FunctionCall<'_>, out: &mut Out) {
        self.close_open(out);
        let number = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
        let given = part.id.to_text().filter(|id| self.calls.iter().all(|call| call.id != *id));
        let id = given.unwrap_or_else(|| metadata::minted_id(&self.mint, number));
        let name = part.name.to_text().unwrap_or_default();
        out.push(LlmEvent::ToolCallStart { call: number, id: id.clone(), name, kind: CallKind::Function });
        self.calls.push(Call {
            number,
            id,
            arguments: Text::new(),
            pieces: None,
            signature: None,
            open: true,
            complete: false,
        });
    }

    /// Ends a streamed call whose last piece is missing, because another part followed.
    fn close_open(&mut self, out: &mut Out) {
        if let Some(last) = self.calls.last_mut().filter(|last| last.open) {
            last.open = false;
            last.close(false, out);
        }
    }

    pub(super) fn any(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Ends the complete calls. The last one ends only if the answer ended regularly (`healthy`).
    pub(super) fn finish(&mut self, healthy: bool, out: &mut Out) {
        self.close_open(out);
        let count = self.calls.len();
        for (position, call) in (1..).zip(&mut self.calls) {
            if call.complete && (healthy || position < count) {
                let arguments = std::mem::take(&mut call.arguments);
                let metadata = metadata::state(call.signature.take());
                out.push(LlmEvent::ToolCallEnd { call: call.number, arguments, metadata });
            }
        }
    }
}

impl Call {
    /// Closes the call. `ended` is `true` if the API ended it.
    fn close(&mut self, ended: bool, out: &mut Out) {
        self.complete = true;
        if let Some(pieces) = self.pieces.take() {
            self.complete = pieces.complete(ended);
            self.arguments = pieces.to_json().into();
        }
        if !self.arguments.is_empty() {
            out.push(LlmEvent::ToolCallDelta { call: self.number, delta: self.arguments.clone() });
        }
    }
}
