use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use omniassist_core::event::BlockId;
use omniassist_core::message::{Message, ProviderMetadata, ToolPart, ToolState};
use omniassist_core::run::{Gate, ToolCatalog};
use omniassist_core::{JsonText, RunEvent, Text, ToolSide, canonical};
use sha2::{Digest as _, Sha256};

use super::binding::{self, Call, Digest, Scope, Sealed, json_digest, state_digest, text_digest};
use super::keys::SealKeys;
use super::token::Token;
use crate::Principal;

/// The time to answer an approval or a form.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The time after the expiry of its questions during which a call can go on.
const LATE: Duration = Duration::from_secs(60 * 60);

/// Seals the output of one run.
///
/// Pass every event through [`seal`](Self::seal) in order, before it is encoded. The [module](super) lists the sealed
/// parts and the places of their seals.
pub struct Sealer {
    keys: SealKeys,
    chat: Option<Text>,
    principal: Principal,
    message: Text,
    agent: Option<Text>,
    lifetime: Duration,
    /// The hashes of the open blocks.
    blocks: Vec<(BlockId, Sha256)>,
    calls: HashMap<Text, KnownCall>,
    /// Calls that the sealer of an asked agent has sealed.
    sealed: HashSet<Text>,
    /// The call that asked the agent, whose other output is not sealed. `None` for the agent of the run.
    asked_by: Option<Text>,
    buffer: Vec<u8>,
}

/// Facts about a call that later events omit.
struct KnownCall {
    name: Text,
    arguments: Option<Digest>,
    /// The time, in seconds since 1970, after which its form or its approval does not count. 0: there is none.
    expiry: u64,
}

impl Sealer {
    /// Creates a sealer for a run that writes into the assistant message with this id. `chat` and `principal` must be
    /// those of the client's next request.
    #[must_use]
    pub fn new(keys: &SealKeys, chat: Option<Text>, principal: &Principal, message: Text) -> Self {
        Self {
            keys: keys.clone(),
            chat,
            principal: principal.clone(),
            message,
            agent: None,
            lifetime: LIFETIME,
            blocks: Vec::new(),
            calls: HashMap::new(),
            sealed: HashSet::new(),
            asked_by: None,
            buffer: Vec::new(),
        }
    }

    /// Sets the assistant message that the run writes into.
    #[must_use]
    pub fn message(mut self, message: Text) -> Self {
        self.message = message;
        self
    }

    /// Sets the named agent that writes the message, to which its approvals are bound. Default: none, the assistant itself.
    #[must_use]
    pub fn agent(mut self, agent: Option<Text>) -> Self {
        self.agent = agent;
        self
    }

    /// Binds later approvals to another agent, which goes on with the message.
    pub fn hand_off(&mut self, agent: Option<Text>) {
        self.agent = agent;
    }

    /// Returns a sealer for an agent that a call of the run asks. The calls of the agent that wait for the client are shown in
    /// the same message, and sealed for it. All else that the agent writes is not, because the client does not post it.
    pub(crate) fn for_asked(&self, call_id: &Text) -> Self {
        let asked_by = Some(self.asked_by.as_ref().unwrap_or(call_id).clone());
        let sealer = Self::new(&self.keys, self.chat.clone(), &self.principal, self.message.clone());
        Self { asked_by, ..sealer.lifetime(self.lifetime).agent(self.agent.clone()) }
    }

    /// Leaves a call unchanged, because the sealer of an asked agent has sealed it.
    pub(crate) fn leave(&mut self, call_id: Text) {
        self.sealed.insert(call_id);
    }

    /// Returns the id of the assistant's message.
    pub(crate) fn message_id(&self) -> &Text {
        &self.message
    }

    pub(super) fn scope(&self) -> (&SealKeys, Scope<'_>) {
        let principal = self.principal.known_id();
        (&self.keys, Scope { chat: self.chat.as_deref(), principal, message: &self.message })
    }

    /// Sets the time to answer an approval or a form. Default: 15 minutes.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Remembers the calls of a message that the run continues: their outputs and failures may follow.
    pub fn remember(&mut self, message: &Message) {
        message.tools().for_each(|call| self.remember_call(call));
    }

    /// Remembers a call of an earlier request.
    pub fn remember_call(&mut self, call: &ToolPart) {
        let arguments = call.state.input().and_then(|input| json_digest(input, &mut self.buffer));
        // A request that is repeated must not live longer than the first: approvals are remembered until then.
        let token = match &call.state {
            ToolState::ApprovalRequested { approval, .. } => {
                approval.signature.as_deref().and_then(Token::parse)
            }
            _ => None,
        };
        let expiry = token.map_or(0, |token| token.expiry);
        let known = KnownCall { name: call.name.clone(), arguments, expiry };
        self.calls.insert(call.call_id.clone(), known);
    }

    /// Seals an event, and returns the event to send right after it, if there is one. `tools` are those of the run.
    /// `now_ms` returns the time in milliseconds since 1970, and is called only for parts that expire.
    ///
    /// A delta costs no allocation.
    pub fn seal(
        &mut self,
        event: &mut RunEvent,
        tools: &dyn ToolCatalog,
        now_ms: impl FnOnce() -> u64,
    ) -> Option<RunEvent> {
        if self.asked_by.is_some() && !waits_for_client(event) {
            return None;
        }
        match event {
            RunEvent::ToolInputAvailable { call_id, .. } if self.sealed.contains(call_id) => {}
            RunEvent::ToolApprovalRequest(request) if self.sealed.contains(&request.call_id) => {}
            RunEvent::TextStart { id } | RunEvent::ReasoningStart { id } => self.open(*id),
            RunEvent::TextDelta { id, delta } | RunEvent::ReasoningDelta { id, delta } => {
                if let Some((_, hash)) = self.blocks.iter_mut().find(|(open, _)| open == id) {
                    hash.update(delta.as_bytes());
                }
            }
            RunEvent::TextEnd { id, metadata } => {
                self.close(*id, metadata, |text, state| Sealed::Text { text, state });
            }
            RunEvent::ReasoningEnd { id, metadata } => {
                self.close(*id, metadata, |text, state| Sealed::Reasoning { text, state });
            }
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed, metadata } => {
                self.call(call_id, name, input, *provider_executed, metadata, tools, now_ms);
            }
            RunEvent::ToolInputError { call_id, name, error_text, metadata, .. } => {
                let known = KnownCall { name: name.clone(), arguments: None, expiry: 0 };
                self.calls.insert(call_id.clone(), known);
                let state = state_digest(metadata.as_ref(), &mut self.buffer);
                put(
                    metadata,
                    state.and_then(|state| {
                        self.token(0, Sealed::FailedCall { id: call_id, name, state: &state })
                    }),
                );
                return self.error(call_id, error_text);
            }
            RunEvent::ToolOutput { call_id, output, preliminary: false, .. } => {
                return self.output(call_id, output);
            }
            RunEvent::ToolError { call_id, error_text, .. }
            | RunEvent::ToolRefused { call_id, reason: error_text } => {
                return self.error(call_id, error_text);
            }
            RunEvent::ToolApprovalRequest(request) => {
                let known = self.calls.get(&request.call_id).map_or(0, |call| call.expiry);
                let expiry = match request.expires_at_ms {
                    _ if known != 0 => known,
                    Some(at) => at.div_ceil(1000),
                    None => self.expiry(now_ms()),
                };
                request.expires_at_ms = Some(expiry.saturating_mul(1000));
                request.signature = None;
                if let Some(arguments) = json_digest(&request.input, &mut self.buffer) {
                    let call = Call { id: &request.call_id, name: &request.name, arguments: &arguments };
                    let (id, agent) = (&*request.id, self.agent.as_deref());
                    let sealed = match &self.asked_by {
                        None => Sealed::Approval { id, call, agent },
                        Some(asked_by) => Sealed::AskedApproval { id, call, agent, asked_by },
                    };
                    request.signature = self.token(expiry, sealed).map(Text::from);
                }
            }
            RunEvent::InputRequest(request) => {
                if let Some(call) = self.calls.get(&request.call_id).filter(|call| call.expiry != 0) {
                    request.expires_at_ms = Some(call.expiry.saturating_mul(1000));
                }
            }
            _ => {}
        }
        None
    }

    fn open(&mut self, id: BlockId) {
        self.blocks.retain(|(open, _)| *open != id);
        if self.blocks.is_empty() {
            // Most turns have one block.
            self.blocks.reserve_exact(1);
        }
        self.blocks.push((id, Sha256::new()));
    }

    fn close(
        &mut self,
        id: BlockId,
        metadata: &mut Option<ProviderMetadata>,
        claim: impl for<'a> Fn(&'a Digest, &'a Digest) -> Sealed<'a>,
    ) {
        let at = self.blocks.iter().position(|(open, _)| *open == id);
        let hash = at.map(|at| self.blocks.swap_remove(at).1).unwrap_or_default();
        let state = state_digest(metadata.as_ref(), &mut self.buffer);
        put(metadata, state.and_then(|state| self.token(0, claim(&hash.finalize().into(), &state))));
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one event")]
    fn call(
        &mut self,
        call_id: &Text,
        name: &Text,
        input: &JsonText,
        provider_executed: bool,
        metadata: &mut Option<ProviderMetadata>,
        tools: &dyn ToolCatalog,
        now_ms: impl FnOnce() -> u64,
    ) {
        let arguments = json_digest(input, &mut self.buffer);
        let left_to_client = !provider_executed && tools.side(name) == Some(ToolSide::FrontEnd);
        let is_form = left_to_client && matches!(tools.gate(name, input), Gate::Form { .. });
        let expiry = if is_form { self.expiry(now_ms()) } else { 0 };
        if let Some(metadata) = metadata.as_mut() {
            metadata.forget_own();
        }
        if canonical::has_other_numbers(input) {
            metadata.get_or_insert_default().set_own(ProviderMetadata::ARGUMENTS, input.as_str());
        }
        let state = state_digest(metadata.as_ref(), &mut self.buffer);
        if let (Some(arguments), Some(state)) = (&arguments, &state) {
            let call = Call { id: call_id, name, arguments };
            let sealed = if left_to_client {
                Sealed::ClientCall { call, state }
            } else {
                Sealed::Call { call, state }
            };
            put(metadata, self.token(expiry, sealed));
        }
        self.calls.insert(call_id.clone(), KnownCall { name: name.clone(), arguments, expiry });
    }

    fn output(&mut self, call_id: &Text, output: &JsonText) -> Option<RunEvent> {
        let output = json_digest(output, &mut self.buffer)?;
        let known = self.calls.get(call_id)?;
        let call = Call { id: call_id, name: &known.name, arguments: known.arguments.as_ref()? };
        let seal = self.token(0, Sealed::Output { call, output: &output })?;
        Some(RunEvent::OutputSeal { call_id: call_id.clone(), seal: seal.into() })
    }

    fn error(&self, call_id: &Text, error_text: &str) -> Option<RunEvent> {
        let name = &self.calls.get(call_id)?.name;
        let text = text_digest(error_text);
        let seal = self.token(0, Sealed::Error { id: call_id, name, text: &text })?;
        Some(RunEvent::OutputSeal { call_id: call_id.clone(), seal: seal.into() })
    }

    /// Returns the expiry of a request that is made now, in seconds since 1970.
    fn expiry(&self, now_ms: u64) -> u64 {
        let lifetime = u64::try_from(self.lifetime.as_millis()).unwrap_or(u64::MAX);
        now_ms.saturating_add(lifetime).div_ceil(1000)
    }

    /// Returns the expiry of a state that a call keeps at its client now. It is later than that of the questions, so that the
    /// tool still reads the error of a late answer.
    pub(super) fn state_expiry(&self, now_ms: u64) -> u64 {
        self.expiry(now_ms).saturating_add(LATE.as_secs())
    }

    pub(super) fn token(&self, expiry: u64, sealed: Sealed<'_>) -> Option<String> {
        let (keys, scope) = self.scope();
        binding::seal(keys, expiry, scope, sealed)
    }
}

/// Returns `true` for the events of a call that its client can answer.
fn waits_for_client(event: &RunEvent) -> bool {
    use RunEvent::{InputRequest, ToolApprovalRequest, ToolInputAvailable};
    matches!(event, ToolInputAvailable { .. } | ToolApprovalRequest(_) | InputRequest(_))
}

fn put(metadata: &mut Option<ProviderMetadata>, seal: Option<String>) {
    let Some(seal) = seal else { return };
    metadata.get_or_insert_default().set_own("seal", seal);
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("keys", &self.keys).finish_non_exhaustive()
    }
}
