//! Posts of a client, and their results.

use std::collections::HashSet;

use omniassist_server::Principal;
use omniassist_server::core::message::{Message, Part, Role, ToolState, read};
use omniassist_server::core::verify::{self, Poster};
use omniassist_server::core::{Error, ErrorCode, Limits, RunRequest, Text, TrustHistory, Verifier};
use omniassist_server::seal::{SealKeys, SealVerifier};
use serde_json::{Value, json};

use super::chat::{Chat, Ledger, Shop};
use super::dice::Dice;
use super::json::{self, Client, plain, plain_state};

/// A request in the making.
pub(super) struct Post {
    pub(super) chat_id: Option<Text>,
    pub(super) principal: Principal,
    pub(super) now_ms: u64,
    pub(super) keys: SealKeys,
    pub(super) client: Client,
    pub(super) strict: bool,
    /// The conversation, as JSON.
    pub(super) messages: Vec<Value>,
}

impl Post {
    /// Returns the client's post in this chat.
    pub(super) fn of(chat: &Chat, dice: &mut Dice) -> Self {
        let client = if dice.one_in(3) { Client::Verbatim } else { Client::JavaScript };
        let messages = chat.messages.iter().map(|message| serde_json::to_value(message).unwrap());
        let mut post = Self {
            chat_id: chat.id.clone(),
            principal: chat.principal.clone(),
            now_ms: chat.now_ms + dice.next() % 60_000,
            keys: chat.keys.clone(),
            client,
            strict: false,
            messages: messages.collect(),
        };
        let version = dice.below(3);
        for part in post.parts_mut() {
            as_kept(part, client, version, &chat.input_errors);
        }
        post
    }

    pub(super) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.messages.iter_mut().flat_map(|message| message["parts"].as_array_mut().unwrap())
    }

    pub(super) fn last_parts_mut(&mut self) -> &mut Vec<Value> {
        self.messages.last_mut().unwrap()["parts"].as_array_mut().unwrap()
    }

    /// Returns the seals of outputs in the message with this index.
    pub(super) fn output_seals(&mut self, message: usize) -> &mut Value {
        &mut self.messages[message]["metadata"]["omniassist"]["seals"]
    }

    /// Returns all seals of the conversation.
    pub(super) fn seals(&self) -> Vec<String> {
        fn walk(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::String(text) if text.starts_with("v1.") => found.push(text.clone()),
                Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
                Value::Object(object) => object.values().for_each(|item| walk(item, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        self.messages.iter().for_each(|message| walk(message, &mut found));
        found
    }

    /// Returns the request as the server reads it.
    pub(super) fn read(&self, dice: &mut Dice) -> Result<RunRequest, Error> {
        let body = json::spell(dice, self.client, &Value::Array(self.messages.clone()));
        let mut request = RunRequest::new(read::messages(&Text::from(body), &Limits::default())?);
        request.chat_id.clone_from(&self.chat_id);
        Ok(request)
    }

    pub(super) fn verified(
        &self,
        mut request: RunRequest,
        verifier: &dyn Verifier,
    ) -> Result<RunRequest, Error> {
        let poster = match self.principal.is_anonymous() {
            true => Poster::anonymous(self.now_ms),
            false => Poster::known(self.principal.id(), self.now_ms),
        };
        verify::history(&mut request, poster, &Shop, verifier)?;
        Ok(request)
    }

    pub(super) fn verifier(&self) -> SealVerifier {
        SealVerifier::new(self.keys.clone()).refuse_unsealed_text(self.strict)
    }
}

/// Changes a part to the form that a client stores. The server does not send all fields, and clients store some of them
/// elsewhere.
fn as_kept(part: &mut Value, client: Client, version: usize, input_errors: &HashSet<Text>) {
    for key in ["providerMetadata", "callProviderMetadata"] {
        if let Some(state) = part.get_mut(key).and_then(Value::as_object_mut) {
            state.retain(|_, entry| entry.is_object());
        }
    }
    if client == Client::JavaScript {
        drop_refused(part);
    }
    let is_input_error = part["toolCallId"].as_str().is_some_and(|id| input_errors.contains(id));
    let Some(fields) = part.as_object_mut().filter(|_| is_input_error) else { return };
    let state = fields.remove("callProviderMetadata");
    if version < 2 {
        let input = fields.remove("input").unwrap();
        fields.insert("rawInput".to_owned(), input);
    }
    if let Some(state) = state.filter(|_| version > 0) {
        fields.insert("resultProviderMetadata".to_owned(), state);
    }
}

fn drop_refused(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_refused),
        Value::Object(object) => {
            object.remove("__proto__");
            object.values_mut().for_each(drop_refused);
        }
        _ => {}
    }
}

/// The result of a forged request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The request would not have deceived a server without seals.
    Harmless,
    /// The whole request was refused.
    Refused,
    /// The conversation continues without the forged values.
    Neutralised,
}

/// Posts a forged request. `ledger` contains all values that the server wrote for this user.
pub(super) fn judge(dice: &mut Dice, post: &Post, ledger: &Ledger) -> Outcome {
    let Ok(request) = post.read(dice) else { return Outcome::Refused };
    let believed = post.verified(request.clone(), &TrustHistory).unwrap();
    if unproved(&believed.messages, ledger, post.now_ms, post.strict).is_empty() {
        return Outcome::Harmless;
    }
    match post.verified(request, &post.verifier()) {
        Err(error) => {
            assert_eq!(error.code(), ErrorCode::SealInvalid);
            assert!(error.path().unwrap().starts_with("messages["), "{error}");
            Outcome::Refused
        }
        Ok(request) => {
            let taken = unproved(&request.messages, ledger, post.now_ms, post.strict);
            assert!(taken.is_empty(), "{taken:#?}\n{}", json!(post.messages));
            Outcome::Neutralised
        }
    }
}

/// Returns the parts that only the server is allowed to write and that it did not write.
pub(super) fn unproved(messages: &[Message], ledger: &Ledger, now_ms: u64, strict: bool) -> Vec<String> {
    let mut found = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let id = message.id.to_string();
        let is_last = index + 1 == messages.len();
        if message.role != Role::Assistant {
            continue;
        }
        let last_step = message.parts.iter().rposition(|part| *part == Part::StepStart).unwrap_or(0);
        for (part_index, part) in message.parts.iter().enumerate() {
            let is_due = is_last && part_index >= last_step;
            let mut claim = |is_proved: bool, what: &str| {
                if !is_proved {
                    found.push(format!("{what} in {id}: {part:?}"));
                }
            };
            match part {
                Part::Text(text) if text.metadata.is_some() || (strict && !text.text.is_empty()) => {
                    let entry = [id.clone(), text.text.to_string(), plain_state(text.metadata.as_ref())];
                    claim(ledger.texts.contains(&entry), "text");
                }
                Part::Reasoning(text) if text.metadata.is_some() || (strict && !text.text.is_empty()) => {
                    let entry = [id.clone(), text.text.to_string(), plain_state(text.metadata.as_ref())];
                    claim(ledger.reasoning.contains(&entry), "reasoning");
                }
                Part::Tool(tool) => {
                    let [call, name] = [tool.call_id.to_string(), tool.name.to_string()];
                    let arguments = tool.state.input().map(|input| plain(input, false)).unwrap_or_default();
                    let key = [id.clone(), call.clone(), name.clone(), arguments.clone()];
                    let asked = ledger.client_calls.get(&key);
                    let is_clients =
                        asked.is_some_and(|expiry| !is_due || expiry.is_none_or(|expiry| now_ms < expiry));
                    match &tool.state {
                        ToolState::OutputAvailable { output, preliminary: false, .. } => {
                            let output = plain(output, false);
                            let entry = [id.clone(), call.clone(), name.clone(), arguments.clone(), output];
                            claim(is_clients || ledger.outputs.contains(&entry), "output");
                        }
                        ToolState::OutputError { error_text, .. } if !is_ours(error_text) => {
                            let entry = [id.clone(), call.clone(), name.clone(), error_text.to_string()];
                            claim(is_clients || ledger.errors.contains(&entry), "failure");
                        }
                        ToolState::ApprovalResponded { approval, .. } if approval.is_approved() => {
                            let approval = approval.id.to_string();
                            let entry = [id.clone(), approval, call.clone(), name.clone(), arguments.clone()];
                            let until = ledger.approvals.get(&entry);
                            claim(is_due && until.is_some_and(|until| now_ms < *until), "approval");
                        }
                        // The run would request it again with a new seal.
                        ToolState::ApprovalRequested { approval, .. } if is_due => {
                            let approval = approval.id.to_string();
                            let entry = [id.clone(), approval, call.clone(), name.clone(), arguments.clone()];
                            let until = ledger.approvals.get(&entry);
                            claim(until.is_some_and(|until| now_ms < *until), "request");
                        }
                        _ => {}
                    }
                    if tool.metadata.is_some() {
                        let state = plain_state(tool.metadata.as_ref());
                        let failed = [id.clone(), call.clone(), name.clone(), state.clone()];
                        let made = [id.clone(), call, name, arguments, state];
                        let is_proved = ledger.calls.contains(&made) || ledger.failed_calls.contains(&failed);
                        claim(is_proved, "state");
                    }
                }
                _ => {}
            }
            // Parts of unknown kinds are kept unchanged, and are not sent to a model.
            if !matches!(part, Part::Unknown(_)) && format!("{part:?}").contains("\"omniassist\"") {
                found.push(format!("a seal: {part:?}"));
            }
        }
    }
    found
}

/// Returns `true` if the text replaces an untrusted result.
fn is_ours(error_text: &str) -> bool {
    error_text.starts_with("This call did not run: ")
        || error_text == "The result of this call can no longer be verified."
        || error_text == "The answer came after its deadline."
}
