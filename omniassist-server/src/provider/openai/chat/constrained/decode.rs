//! Answers that are held to a schema, as events.

use omniassist_core::event::CallKind;
use omniassist_core::{EventBuf, FinishReason, Limits, LlmEvent, LlmPayload, Text, Usage};

use super::reply_name;
use super::turn::{Said, TurnReader};
use crate::provider::ApiDecoder;
use crate::provider::lenient_fields::is_complete_json;
use crate::provider::openai::chat::decode;
use crate::provider::wire::EventReader;
use crate::{Error, ProviderErrorKind, Result};

/// Reads an answer to a request with [constrained tools](super::super::OpenAiChatProviderBuilder::constrained_tools):
/// the text that the decoder of Chat Completions gives is read as JSON, and what it says is given on as the events of
/// an ordinary answer. An answer that is not of the form is text.
///
/// ```
/// use bytes::Bytes;
/// use omniassist_server::core::{EventBuf, Limits, LlmEvent, LlmPayload, TranscriptItem};
/// use omniassist_server::provider::WireDecoder;
/// use omniassist_server::provider::openai::ConstrainedDecoder;
///
/// let payload = LlmPayload::new([TranscriptItem::user("Hello")]);
/// let mut decoder = ConstrainedDecoder::new(&Limits::default(), "a1", &payload);
/// let mut events = EventBuf::new();
/// let chunk = br#"data: {"choices":[{"delta":{"content":"{\"tool\":\"reply\",\"with\":\"Hi"}}]}"#;
/// decoder.feed(Bytes::from_static(chunk), &mut events)?;
/// decoder.feed(Bytes::from_static(b"\n\n"), &mut events)?;
/// assert!(matches!(events.pop(), Some(LlmEvent::Start { .. })));
/// assert_eq!(events.pop(), Some(LlmEvent::TextDelta { block: 0, delta: "Hi".into() }));
/// # Ok::<(), omniassist_server::Error>(())
/// ```
pub type ConstrainedDecoder = ApiDecoder<Reader>;

impl ConstrainedDecoder {
    /// Creates a decoder for the answer to this payload. `mint` becomes part of the call's id; it must differ from answer
    /// to answer.
    #[must_use]
    pub fn new(limits: &Limits, mint: impl Into<String>, payload: &LlmPayload) -> Self {
        Self::of(Reader::new(limits, mint.into(), payload), limits)
    }
}

/// Reads one answer that is held to a schema.
#[derive(Debug)]
pub struct Reader {
    inner: decode::Reader,
    /// The events of the inner reader.
    events: EventBuf<LlmEvent>,
    turn: TurnReader,
    mode: Mode,
    call: Option<Call>,
    call_id: Text,
    /// The numbers of the calls that the server gave as such, by the number it counts them with.
    numbers: Vec<u32>,
    next_call: u32,
    /// The last block that text came in, and the last one that text was given on in.
    block: u32,
    spoken: Option<u32>,
    usage: Option<Usage>,
    max_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The answer is the object that was asked for.
    Turn,
    /// It is something else from the beginning, and passed on.
    Plain,
    /// It ceased to be that object when part of it had been passed on.
    Broken,
}

#[derive(Debug)]
struct Call {
    number: u32,
    arguments: String,
}

impl Reader {
    fn new(limits: &Limits, mint: String, payload: &LlmPayload) -> Self {
        Self {
            call_id: format!("call_{mint}").into(),
            inner: decode::Reader::new(limits, mint),
            events: EventBuf::new(),
            turn: TurnReader::new(reply_name(payload), payload.options.response_schema.is_some()),
            mode: Mode::Turn,
            call: None,
            numbers: Vec::new(),
            next_call: 0,
            block: 0,
            spoken: None,
            usage: None,
            max_bytes: limits.max_tool_args_bytes,
        }
    }

    fn translate(&mut self, read: Result<()>, out: &mut EventBuf<LlmEvent>) -> Result<()> {
        while let Some(event) = self.events.pop() {
            self.event(event, out)?;
        }
        read.inspect_err(|_| self.count(out))
    }

    fn event(&mut self, event: LlmEvent, out: &mut EventBuf<LlmEvent>) -> Result<()> {
        match event {
            LlmEvent::TextDelta { block, delta } => {
                self.block = block;
                return self.text(delta, out);
            }
            LlmEvent::TextEnd { block, .. } if self.spoken != Some(block) => {}
            LlmEvent::ToolCallStart { id, name, kind, .. } => {
                let call = self.number();
                self.numbers.push(call);
                out.push(LlmEvent::ToolCallStart { call, id, name, kind });
            }
            LlmEvent::ToolCallDelta { call, delta } => {
                out.push(LlmEvent::ToolCallDelta { call: self.given(call), delta });
            }
            LlmEvent::ToolCallEnd { call, arguments, metadata } => {
                out.push(LlmEvent::ToolCallEnd { call: self.given(call), arguments, metadata });
            }
            LlmEvent::Usage(usage) => self.usage = Some(usage),
            LlmEvent::Finish { reason, raw, truncated } => self.finished(reason, raw, truncated, out),
            event => out.push(event),
        }
        Ok(())
    }

    fn text(&mut self, delta: Text, out: &mut EventBuf<LlmEvent>) -> Result<()> {
        match self.mode {
            Mode::Plain => self.say(delta, out),
            Mode::Broken => {}
            Mode::Turn => {
                let mut said = Vec::new();
                let fed = self.turn.feed(&delta, &mut said);
                for said in said {
                    self.said(said, out)?;
                }
                if self.turn.undecided().is_some_and(|text| text.len() > self.max_bytes) {
                    return Err(Error::provider(ProviderErrorKind::TooLarge));
                }
                if fed.is_err() {
                    self.mode = Mode::Broken;
                    if let Some(text) = self.turn.undecided().map(Text::from) {
                        self.mode = Mode::Plain;
                        self.say(text, out);
                    }
                }
            }
        }
        Ok(())
    }

    fn said(&mut self, said: Said, out: &mut EventBuf<LlmEvent>) -> Result<()> {
        match said {
            Said::Text(text) => self.say(text.into(), out),
            Said::Call(name) => {
                let number = self.number();
                let (id, kind) = (self.call_id.clone(), CallKind::Function);
                out.push(LlmEvent::ToolCallStart { call: number, id, name: name.into(), kind });
                self.call = Some(Call { number, arguments: String::new() });
            }
            Said::Arguments(piece) => {
                let Some(call) = &mut self.call else { return Ok(()) };
                if call.arguments.len() + piece.len() > self.max_bytes {
                    return Err(Error::provider(ProviderErrorKind::TooLarge));
                }
                call.arguments.push_str(&piece);
                out.push(LlmEvent::ToolCallDelta { call: call.number, delta: piece.into() });
            }
        }
        Ok(())
    }

    fn say(&mut self, delta: Text, out: &mut EventBuf<LlmEvent>) {
        self.spoken = Some(self.block);
        out.push(LlmEvent::TextDelta { block: self.block, delta });
    }

    /// The call is complete if its object was closed and nothing says that the output was cut.
    fn finished(
        &mut self,
        reason: FinishReason,
        raw: Option<Text>,
        truncated: bool,
        out: &mut EventBuf<LlmEvent>,
    ) {
        let healthy = matches!(reason, FinishReason::Stop | FinishReason::ToolCalls) && !truncated;
        let began = self.turn.undecided() != Some("");
        let complete = self.mode == Mode::Plain || self.turn.is_closed() || !began;
        let mut reason = reason;
        if let Some(call) = self.call.take()
            && healthy
            && self.turn.is_closed()
            && is_complete_json(&call.arguments)
        {
            let (call, arguments) = (call.number, call.arguments.into());
            out.push(LlmEvent::ToolCallEnd { call, arguments, metadata: None });
            reason = FinishReason::ToolCalls;
        }
        self.count(out);
        out.push(LlmEvent::Finish { reason, raw, truncated: truncated || !complete });
    }

    fn count(&mut self, out: &mut EventBuf<LlmEvent>) {
        if let Some(usage) = self.usage.take() {
            out.push(LlmEvent::Usage(usage));
        }
    }

    fn number(&mut self) -> u32 {
        let number = self.next_call;
        self.next_call += 1;
        number
    }

    fn given(&self, number: u32) -> u32 {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        self.numbers.get(index).copied().unwrap_or(number)
    }
}

impl EventReader for Reader {
    fn event(&mut self, name: &str, data: &Text, out: &mut EventBuf<LlmEvent>) -> Result<()> {
        let read = self.inner.event(name, data, &mut self.events);
        self.translate(read, out)
    }

    fn is_terminal(&self, name: &str, data: &Text) -> bool {
        self.inner.is_terminal(name, data)
    }

    fn end(&mut self, out: &mut EventBuf<LlmEvent>) -> Result<()> {
        let read = self.inner.end(&mut self.events);
        self.translate(read, out)
    }
}
