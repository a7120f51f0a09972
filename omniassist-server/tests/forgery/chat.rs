//! An honest server and an honest client, and a record of the values that the server wrote.

use std::collections::{HashMap, HashSet};

use omniassist_server::Principal;
use omniassist_server::core::event::{ApprovalRequest, BlockId, FinishReason, InputRequest, Usage};
use omniassist_server::core::message::{
    Decision, Message, MessageCollector, Part, ProviderMetadata, ToolState,
};
use omniassist_server::core::run::{Gate, ToolCatalog};
use omniassist_server::core::{JsonText, RunEvent, Text, ToolSide};
use omniassist_server::seal::{SealKeys, Sealer};
use serde_json::json;

use super::dice::Dice;
use super::json::{object, plain, plain_state, value, word};

pub(super) const START: u64 = 1_800_000_000_123;
pub(super) const LIFETIME_MS: u64 = 15 * 60 * 1000;

pub(super) const SERVER_TOOLS: [&str; 3] = ["lookup", "deliver", "refund"];

/// The tools of the honest server.
pub(super) struct Shop;

impl ToolCatalog for Shop {
    fn side(&self, name: &str) -> Option<ToolSide> {
        match name {
            "lookup" | "deliver" | "refund" => Some(ToolSide::Server),
            "open_page" | "request_input" => Some(ToolSide::FrontEnd),
            _ => None,
        }
    }

    fn check(&self, _name: &str, _arguments: &JsonText) -> Result<(), Text> {
        Ok(())
    }

    fn gate(&self, name: &str, _arguments: &JsonText) -> Gate {
        match name {
            "refund" => Gate::Approval { message: None, editable: false },
            "request_input" => Gate::Form { message: None, schema: JsonText::EMPTY_OBJECT },
            _ => Gate::Open,
        }
    }
}

/// The values that the server wrote.
#[derive(Default)]
pub(super) struct Ledger {
    /// Message, text, state.
    pub(super) texts: HashSet<[String; 3]>,
    pub(super) reasoning: HashSet<[String; 3]>,
    /// Message, call, tool, arguments, state.
    pub(super) calls: HashSet<[String; 5]>,
    /// Message, call, tool, arguments, and the expiry of an answer.
    pub(super) client_calls: HashMap<[String; 4], Option<u64>>,
    /// Message, call, tool, state.
    pub(super) failed_calls: HashSet<[String; 4]>,
    /// Message, call, tool, arguments, output.
    pub(super) outputs: HashSet<[String; 5]>,
    /// Message, call, tool, text.
    pub(super) errors: HashSet<[String; 4]>,
    /// Message, approval, call, tool, arguments, and the expiry of an answer.
    pub(super) approvals: HashMap<[String; 5], u64>,
}

/// One chat of one user.
pub(super) struct Chat {
    pub(super) keys: SealKeys,
    pub(super) id: Option<Text>,
    pub(super) principal: Principal,
    pub(super) now_ms: u64,
    pub(super) messages: Vec<Message>,
    pub(super) ledger: Ledger,
    /// Calls whose arguments did not match the schema.
    pub(super) input_errors: HashSet<Text>,
    pub(super) seals: Vec<usize>,
    next: usize,
}

/// The possible parts of an assistant turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
    Server,
    Failing,
    Invalid,
    Provider,
    FrontEnd,
    Form,
    Approval,
}

impl Chat {
    pub(super) fn new(keys: &SealKeys, id: Option<&str>, principal: Principal) -> Self {
        Self {
            keys: keys.clone(),
            id: id.map(Text::from),
            principal,
            now_ms: START,
            messages: Vec::new(),
            ledger: Ledger::default(),
            input_errors: HashSet::new(),
            seals: Vec::new(),
            next: 0,
        }
    }

    /// Makes a chat with a few turns that ends with a user message.
    pub(super) fn settled(keys: &SealKeys, dice: &mut Dice) -> Self {
        let mut chat = Self::new(keys, Some("chat-1"), Principal::new("ann"));
        chat.turns(dice);
        chat
    }

    /// Adds a few turns and a user message.
    pub(super) fn turns(&mut self, dice: &mut Dice) {
        for _ in 0..=dice.below(3) {
            self.say(dice);
            self.answer(dice, None);
            self.settle(dice);
        }
        self.say(dice);
    }

    /// Makes a chat that ends with approved calls and other answers of the user.
    pub(super) fn answered(keys: &SealKeys, dice: &mut Dice) -> Self {
        let mut chat = Self::settled(keys, dice);
        let kind = if dice.one_in(3) { Kind::Form } else { Kind::Approval };
        chat.answer(dice, Some(kind));
        chat.respond(dice, false);
        chat
    }

    /// Makes a chat that ends with an approved call.
    pub(super) fn approved(keys: &SealKeys, dice: &mut Dice) -> Self {
        let mut chat = Self::settled(keys, dice);
        chat.answer(dice, Some(Kind::Approval));
        chat.respond(dice, true);
        chat
    }

    /// Makes a chat that ends with a completed form.
    pub(super) fn form(keys: &SealKeys, dice: &mut Dice) -> Self {
        let mut chat = Self::settled(keys, dice);
        chat.answer(dice, Some(Kind::Form));
        chat.respond(dice, true);
        chat
    }

    /// Makes a chat that ends with an open approval.
    pub(super) fn asked(keys: &SealKeys, dice: &mut Dice) -> Self {
        let mut chat = Self::settled(keys, dice);
        chat.answer(dice, Some(Kind::Approval));
        chat
    }

    /// Adds a turn that ends with an open approval.
    pub(super) fn ask(&mut self, dice: &mut Dice) {
        self.say(dice);
        self.answer(dice, Some(Kind::Approval));
    }

    pub(super) fn say(&mut self, dice: &mut Dice) {
        let id = self.fresh("user");
        self.messages.push(Message::user(id, word(dice)));
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}-{}", self.next)
    }

    /// Adds a turn of the assistant. It ends with a call of the kind `last`, if there is one, which the client must
    /// answer.
    fn answer(&mut self, dice: &mut Dice, last: Option<Kind>) {
        self.now_ms += dice.next() % 120_000;
        let message: Text = self.fresh("msg").into();
        let mut run = Run::begin(self, message, MessageCollector::new());
        run.send(RunEvent::Start { message_id: run.message.clone(), metadata: None });
        // A step with a call that the client must answer is the last one.
        let servers = [
            Kind::Text,
            Kind::Text,
            Kind::Reasoning,
            Kind::Server,
            Kind::Server,
            Kind::Failing,
            Kind::Invalid,
            Kind::Provider,
        ];
        let clients = [Kind::Text, Kind::FrontEnd, Kind::Form, Kind::Approval];
        let steps = dice.below(3);
        for step in 0..=steps {
            run.send(RunEvent::StepStart);
            for _ in 0..=dice.below(4) {
                let kind = dice.pick(&servers);
                run.part(dice, kind);
            }
            if step == steps {
                for _ in 0..dice.below(3) {
                    let kind = dice.pick(&clients);
                    run.part(dice, kind);
                }
                if let Some(kind) = last {
                    run.part(dice, kind);
                }
            }
            run.send(RunEvent::StepFinish { reason: FinishReason::Stop, usage: Usage::default() });
        }
        let message = run.end();
        self.messages.push(message);
    }

    /// Answers open questions as the client. `yes` approves all calls.
    pub(super) fn respond(&mut self, dice: &mut Dice, yes: bool) {
        self.now_ms += dice.next() % 120_000;
        let Some(message) = self.messages.last_mut() else { return };
        for part in &mut message.parts {
            let Part::Tool(tool) = part else { continue };
            tool.state = match std::mem::replace(&mut tool.state, ToolState::InputStreaming) {
                ToolState::InputAvailable { input } if dice.one_in(6) => {
                    ToolState::OutputError { input: Some(input), error_text: word(dice).into() }
                }
                ToolState::InputAvailable { input } => {
                    ToolState::OutputAvailable { input, output: value(dice), preliminary: false }
                }
                ToolState::ApprovalRequested { input, approval } => {
                    let approved = yes || !dice.one_in(4);
                    let reason = dice.one_in(2).then(|| word(dice).into());
                    let approval = approval.decided(Decision { approved, reason });
                    ToolState::ApprovalResponded { input, approval }
                }
                state => state,
            };
        }
    }

    /// Answers as the client, and continues the message as the server.
    fn settle(&mut self, dice: &mut Dice) {
        self.respond(dice, false);
        let Some(message) = self.messages.pop() else { return };
        let open: Vec<_> = message
            .tools()
            .filter_map(|tool| match &tool.state {
                ToolState::ApprovalResponded { input, approval } => {
                    Some((tool.call_id.clone(), tool.name.clone(), input.clone(), approval.is_approved()))
                }
                _ => None,
            })
            .collect();
        if open.is_empty() {
            return self.messages.push(message);
        }
        self.now_ms += dice.next() % 1000;
        let id = message.id.clone();
        let mut run = Run::begin(self, id, MessageCollector::continuing(message.clone()));
        run.sealer.remember(&message);
        for (call_id, name, input, approved) in open {
            if approved {
                run.result(dice, &call_id, &name, &input, false);
            } else {
                run.send(RunEvent::ToolDenied { call_id, reason: None });
            }
        }
        run.send(RunEvent::StepStart);
        run.part(dice, Kind::Text);
        let message = run.end();
        self.messages.push(message);
    }
}

/// A run of the honest server.
struct Run<'a> {
    ledger: &'a mut Ledger,
    input_errors: &'a mut HashSet<Text>,
    seals: &'a mut Vec<usize>,
    next: &'a mut usize,
    now_ms: u64,
    message: Text,
    sealer: Sealer,
    collector: MessageCollector,
}

impl<'a> Run<'a> {
    fn begin(chat: &'a mut Chat, message: Text, collector: MessageCollector) -> Self {
        Self {
            sealer: Sealer::new(&chat.keys, chat.id.clone(), &chat.principal, message.clone()),
            ledger: &mut chat.ledger,
            input_errors: &mut chat.input_errors,
            seals: &mut chat.seals,
            next: &mut chat.next,
            now_ms: chat.now_ms,
            message,
            collector,
        }
    }

    fn end(self) -> Message {
        self.collector.into_message()
    }

    fn send(&mut self, mut event: RunEvent) {
        let follow_up = self.sealer.seal(&mut event, &Shop, || self.now_ms);
        if let RunEvent::ToolApprovalRequest(request) = &event {
            let expires = request.expires_at_ms.unwrap();
            assert_eq!(expires, (self.now_ms + LIFETIME_MS).div_ceil(1000) * 1000);
            self.seals.push(request.signature.as_ref().unwrap().len());
            let approval = [
                self.message.to_string(),
                request.id.to_string(),
                request.call_id.to_string(),
                request.name.to_string(),
                plain(&request.input, true),
            ];
            self.ledger.approvals.insert(approval, expires);
        }
        self.collector.apply(&event);
        if let Some(event) = follow_up {
            let RunEvent::OutputSeal { seal, .. } = &event else { panic!("{event:?}") };
            self.seals.push(seal.len());
            self.collector.apply(&event);
        }
    }

    fn id(&mut self, prefix: &str) -> Text {
        *self.next += 1;
        format!("{prefix}_{}", *self.next).into()
    }

    fn state(dice: &mut Dice) -> Option<ProviderMetadata> {
        let state = match dice.below(4) {
            0 | 1 => return None,
            2 => json!({ "openai": { "itemId": word(dice), "score": 965.9130143999365 } }),
            _ => {
                json!({ "google": { "thoughtSignature": word(dice) }, "flat": 1, "b": object(dice).to_value() })
            }
        };
        serde_json::from_value(state).unwrap()
    }

    fn part(&mut self, dice: &mut Dice, kind: Kind) {
        match kind {
            Kind::Text | Kind::Reasoning => self.text(dice, kind),
            _ => self.tool(dice, kind),
        }
    }

    fn text(&mut self, dice: &mut Dice, kind: Kind) {
        *self.next += 1;
        let id = BlockId(u32::try_from(*self.next).unwrap());
        let (deltas, metadata) = (vec![word(dice); dice.below(4)], Self::state(dice));
        let entry =
            [self.message.to_string(), deltas.concat(), plain_state(sent_state(metadata.as_ref()).as_ref())];
        let events = |text: bool| {
            let start = if text { RunEvent::TextStart { id } } else { RunEvent::ReasoningStart { id } };
            let end = if text {
                RunEvent::TextEnd { id, metadata }
            } else {
                RunEvent::ReasoningEnd { id, metadata }
            };
            let delta = move |delta: &String| match text {
                true => RunEvent::TextDelta { id, delta: delta.as_str().into() },
                false => RunEvent::ReasoningDelta { id, delta: delta.as_str().into() },
            };
            std::iter::once(start).chain(deltas.iter().map(delta)).chain([end]).collect::<Vec<_>>()
        };
        let is_text = kind == Kind::Text;
        events(is_text).into_iter().for_each(|event| self.send(event));
        if is_text {
            self.ledger.texts.insert(entry)
        } else {
            self.ledger.reasoning.insert(entry)
        };
    }

    fn tool(&mut self, dice: &mut Dice, kind: Kind) {
        let (call_id, metadata) = (self.id("call"), Self::state(dice));
        let name: Text = match kind {
            Kind::FrontEnd => "open_page".into(),
            Kind::Form => "request_input".into(),
            Kind::Approval => "refund".into(),
            Kind::Provider => "web_search".into(),
            _ => dice.pick(&SERVER_TOOLS[..2]).into(),
        };
        let input = object(dice);
        let message = self.message.to_string();
        let state = plain_state(sent_state(metadata.as_ref()).as_ref());
        self.send(RunEvent::ToolInputStart {
            call_id: call_id.clone(),
            name: name.clone(),
            title: None,
            app: None,
        });
        if kind == Kind::Invalid {
            let error_text: Text = word(dice).into();
            self.ledger.failed_calls.insert([message.clone(), call_id.to_string(), name.to_string(), state]);
            self.ledger.errors.insert([
                message,
                call_id.to_string(),
                name.to_string(),
                error_text.to_string(),
            ]);
            self.input_errors.insert(call_id.clone());
            return self.send(RunEvent::ToolInputError { call_id, name, input, error_text, metadata });
        }
        let provider_executed = kind == Kind::Provider;
        let call = [message, call_id.to_string(), name.to_string(), plain(&input, true)];
        self.ledger.calls.insert([call[0].clone(), call[1].clone(), call[2].clone(), call[3].clone(), state]);
        self.send(RunEvent::ToolInputAvailable {
            call_id: call_id.clone(),
            name: name.clone(),
            input: input.clone(),
            provider_executed,
            metadata,
        });
        match kind {
            Kind::FrontEnd => drop(self.ledger.client_calls.insert(call, None)),
            Kind::Form => {
                let expiry = (self.now_ms + LIFETIME_MS).div_ceil(1000) * 1000;
                self.ledger.client_calls.insert(call, Some(expiry));
                let mut event =
                    RunEvent::InputRequest(InputRequest::new(call_id, None, JsonText::EMPTY_OBJECT));
                self.sealer.seal(&mut event, &Shop, || self.now_ms);
                let RunEvent::InputRequest(request) = event else { unreachable!() };
                assert_eq!(request.expires_at_ms, Some(expiry));
            }
            Kind::Approval => {
                self.send(RunEvent::ToolApprovalRequest(ApprovalRequest::new(call_id, name, input)));
            }
            _ => self.result_of(dice, &call_id, &name, &input, provider_executed, kind == Kind::Failing),
        }
    }

    fn result(&mut self, dice: &mut Dice, call_id: &Text, name: &Text, input: &JsonText, provider: bool) {
        let fails = dice.one_in(5);
        self.result_of(dice, call_id, name, input, provider, fails);
    }

    fn result_of(
        &mut self,
        dice: &mut Dice,
        call_id: &Text,
        name: &Text,
        input: &JsonText,
        provider_executed: bool,
        fails: bool,
    ) {
        let [message, call, tool] = [&self.message, call_id, name].map(ToString::to_string);
        if fails {
            let error_text: Text = word(dice).into();
            self.ledger.errors.insert([message, call, tool, error_text.to_string()]);
            return self.send(RunEvent::ToolError {
                call_id: call_id.clone(),
                error_text,
                provider_executed,
            });
        }
        let output = value(dice);
        self.ledger.outputs.insert([message, call, tool, plain(input, true), plain(&output, true)]);
        if dice.one_in(3) {
            let (call_id, preliminary) = (call_id.clone(), true);
            self.send(RunEvent::ToolOutput { call_id, output: value(dice), preliminary, provider_executed });
        }
        let (call_id, preliminary) = (call_id.clone(), false);
        self.send(RunEvent::ToolOutput { call_id, output, preliminary, provider_executed });
    }
}

/// Returns the metadata that a client receives: entries under a provider's name.
fn sent_state(metadata: Option<&ProviderMetadata>) -> Option<ProviderMetadata> {
    metadata.map(|entries| {
        entries
            .iter()
            .filter(|(_, value)| value.is_object())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    })
}
