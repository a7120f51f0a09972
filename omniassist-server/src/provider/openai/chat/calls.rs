//! The tool calls of a Chat Completions answer, and the assignment of deltas to calls.

use omniassist_core::event::CallKind;
use omniassist_core::message::ProviderMetadata;
use omniassist_core::{EventBuf, LlmEvent, Text};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::metadata;
use super::wire::ToolDelta;
use crate::provider::lenient_fields::{is_complete_json, string_or_json};
use crate::{Error, ProviderErrorKind, Result};

type Out = EventBuf<LlmEvent>;

/// All calls of an answer, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    started: u32,
    max_arguments: usize,
    /// The prefix of generated ids.
    mint: String,
    /// The tools that the request offered, if the decoder was given them.
    offered: Vec<Text>,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    /// The provider's id. A generated one after the call has started without an id.
    id: Text,
    name: Text,
    kind: CallKind,
    arguments: String,
    /// The number of the call, after it was announced.
    number: Option<u32>,
    extra_content: Option<Value>,
    /// Reasoning that arrived too late for a separate block.
    details: Option<Value>,
}

/// The state of the calls at the end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The provider finished all calls.
    AllComplete,
    /// The provider did not finish the last call. A call before it is complete, because the next one began after it.
    LastCut,
}

impl Calls {
    pub(super) fn new(mint: String, max_arguments: usize) -> Self {
        Self { max_arguments, mint, ..Self::default() }
    }

    pub(super) fn offer(&mut self, names: Vec<Text>) {
        self.offered = names;
    }

    /// Takes the delta at index `position` of its chunk's list, which has `of` deltas.
    pub(super) fn delta(
        &mut self,
        delta: &ToolDelta<'_>,
        position: usize,
        of: usize,
        data: &Text,
        out: &mut Out,
    ) -> Result<()> {
        let (kind, function) = match (&delta.function, &delta.custom) {
            (None, Some(custom)) => (CallKind::Custom, Some(custom)),
            (function, _) => (CallKind::Function, function.as_ref()),
        };
        let name = function.map(|function| function.name.as_str()).unwrap_or_default();
        let piece = string_or_json(
            function.and_then(|function| match kind {
                CallKind::Function => function.arguments,
                CallKind::Custom => function.input,
            }),
            data,
        );
        let is_object =
            !piece.is_empty() && function.is_some_and(|function| is_no_string(function.arguments));
        let id = delta.id.as_str();

        let head = Head { index: delta.index.0, id, name, has_arguments: !piece.is_empty(), position, of };
        let at = self.route(head).unwrap_or_else(|| {
            self.calls.push(Call { index: delta.index.0, kind, ..Call::default() });
            self.calls.len() - 1
        });
        let taken = self.calls.iter().any(|call| call.id == *id);
        let Some(call) = self.calls.get_mut(at) else { return Ok(()) };
        if call.id.is_empty() && !id.is_empty() && !taken {
            call.id = id.into();
        }
        // The first name counts, because some servers repeat it in every delta. The exception is a name in pieces,
        // whose first piece is the beginning of an existing tool's name.
        if call.name.is_empty() && !name.is_empty() {
            call.name = name.into();
        } else if call.number.is_none() && !name.is_empty() && call.name != *name {
            let longer = format!("{}{name}", call.name);
            if self.offered.iter().any(|tool| tool.starts_with(&longer)) {
                call.name = longer.into();
            }
        }
        if let Some(extra) = delta.extra_content {
            call.extra_content = serde_json::from_str(extra.get()).ok();
        }
        // A complete object. A second one is a repetition.
        let piece = if is_object && !call.arguments.is_empty() { Text::new() } else { piece };
        check(call.arguments.len() + piece.len(), self.max_arguments)?;
        call.push(piece, out);
        if call.number.is_none() {
            // The id may arrive late, but arguments are not delayed for it.
            let arguments = !call.arguments.is_empty();
            let may_grow = || {
                let longer = |tool: &Text| tool.len() > call.name.len() && tool.starts_with(&*call.name);
                self.offered.iter().any(longer)
            };
            if !call.name.is_empty() && (arguments || (!call.id.is_empty() && !may_grow())) {
                call.start(&mut self.started, &self.mint, out);
            }
        }
        Ok(())
    }

    /// Begins a call with only a name.
    pub(super) fn begin(&mut self, name: Text, out: &mut Out) {
        let mut call = Call { name, ..Call::default() };
        call.start(&mut self.started, &self.mint, out);
        self.calls.push(call);
    }

    /// Takes a piece of the arguments of the last call.
    pub(super) fn append(&mut self, piece: Text, out: &mut Out) -> Result<()> {
        let Some(call) = self.calls.last_mut() else { return Ok(()) };
        check(call.arguments.len() + piece.len(), self.max_arguments)?;
        call.push(piece, out);
        Ok(())
    }

    /// Returns an error if text that may become arguments exceeds their limit.
    pub(super) fn check_length(&self, bytes: usize) -> Result<()> {
        check(bytes, self.max_arguments)
    }

    /// Returns the call that a delta continues, or `None` if the delta begins one. An id together with a name begins a
    /// call at any index, because some servers give all calls index 0. Otherwise the index decides, then the position.
    fn route(&self, head: Head<'_>) -> Option<usize> {
        let by_index = |index: u64| self.calls.iter().rposition(|call| call.index == Some(index));
        let last = self.calls.len().checked_sub(1);
        if !head.id.is_empty() {
            if let Some(at) = self.calls.iter().rposition(|call| call.id == *head.id) {
                let other_index = head.index.is_some_and(|index| {
                    by_index(index).is_none() && self.calls.get(at).is_some_and(|call| call.index.is_some())
                });
                // The same id and a name at a new index: the server gives all its calls the same id.
                return if other_index && !head.name.is_empty() { None } else { Some(at) };
            }
            let at = match head.index {
                Some(index) => by_index(index)?,
                None => last?,
            };
            let call = self.calls.get(at)?;
            // The id is late, or changes from delta to delta. Together with a name it begins a call, unless the
            // previous call has no id yet.
            let continues =
                head.name.is_empty() || call.is_blank() || (call.waits_for_id() && call.name == *head.name);
            return continues.then_some(at);
        }
        let at = match head.index {
            // The rest of a call that began at another index.
            Some(index) => by_index(index).or(if head.name.is_empty() { last } else { None })?,
            None if head.of > 1 => (head.position < self.calls.len()).then_some(head.position)?,
            None => last?,
        };
        let call = self.calls.get(at)?;
        // A second name before any argument is a repetition or the next piece of the name.
        let repeats = head.name.is_empty()
            || call.name.is_empty()
            || call.name == *head.name
            || (head.index.is_some() && call.arguments.is_empty());
        let whole = head.has_arguments && !head.name.is_empty() && call.is_whole();
        if repeats && !whole { Some(at) } else { None }
    }

    /// Returns the first call's metadata, extended by the metadata of the turn.
    pub(super) fn carry(&mut self, details: Value) {
        if let Some(call) = self.calls.first_mut() {
            call.details = Some(details);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn any(&self) -> bool {
        self.started > 0
    }

    /// Ends the complete calls. They cannot end earlier, because deltas of parallel calls may interleave.
    pub(super) fn finish(&mut self, verdict: Verdict, out: &mut Out) {
        let last = self.calls.len().checked_sub(1);
        for (at, call) in self.calls.iter_mut().enumerate() {
            if call.number.is_none() {
                if call.name.is_empty() {
                    tracing::debug!("dropped a tool call without a name");
                    continue;
                }
                call.start(&mut self.started, &self.mint, out);
            }
            let complete = match verdict {
                Verdict::AllComplete => true,
                Verdict::LastCut => {
                    Some(at) != last && (call.arguments.is_empty() || is_complete_json(&call.arguments))
                }
            };
            if let (Some(number), true) = (call.number, complete) {
                let arguments = std::mem::take(&mut call.arguments).into();
                out.push(LlmEvent::ToolCallEnd { call: number, arguments, metadata: call.metadata() });
            }
        }
    }
}

/// The fields of a delta that identify its call.
#[derive(Clone, Copy)]
struct Head<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    has_arguments: bool,
    position: usize,
    of: usize,
}

impl Call {
    fn is_blank(&self) -> bool {
        self.id.is_empty() && self.name.is_empty()
    }

    fn waits_for_id(&self) -> bool {
        self.number.is_none() && self.id.is_empty()
    }

    /// Returns `true` if the arguments are a complete object. It checks the last byte first, because some servers
    /// repeat the name in every delta and a full check of each would be quadratic.
    fn is_whole(&self) -> bool {
        self.arguments.ends_with('}') && is_complete_json(&self.arguments)
    }

    fn start(&mut self, started: &mut u32, mint: &str, out: &mut Out) {
        let number = *started;
        *started += 1;
        self.number = Some(number);
        if self.id.is_empty() {
            self.id = format!("call_{mint}_{number}").into();
        }
        let (id, name) = (self.id.clone(), self.name.clone());
        out.push(LlmEvent::ToolCallStart { call: number, id, name, kind: self.kind });
        if !self.arguments.is_empty() {
            out.push(LlmEvent::ToolCallDelta { call: number, delta: self.arguments.as_str().into() });
        }
    }

    fn push(&mut self, piece: Text, out: &mut Out) {
        self.arguments.push_str(&piece);
        if let Some(call) = self.number.filter(|_| !piece.is_empty()) {
            out.push(LlmEvent::ToolCallDelta { call, delta: piece });
        }
    }

    fn metadata(&mut self) -> Option<ProviderMetadata> {
        let state = [
            (metadata::EXTRA_CONTENT, self.extra_content.take()),
            (metadata::REASONING_DETAILS, self.details.take()),
        ];
        metadata::STATE.state(state.into_iter().filter_map(|(name, value)| Some((name, value?))))
    }
}

fn check(bytes: usize, most: usize) -> Result<()> {
    if bytes > most { Err(Error::provider(ProviderErrorKind::TooLarge)) } else { Ok(()) }
}

fn is_no_string(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| !raw.get().starts_with('"'))
}
