//! The instances of components in a conversation, and the actions on them.

use http::Extensions;
use omniassist_core::event::InstanceState;
use omniassist_core::message::{DataPart, Message, Part};
use omniassist_core::{Error, JsonText, RunEvent, RunRequest, Text};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::assistant::Assistant;
use super::run::{Run, Script};
use super::stored::store_failed;
use crate::Principal;
use crate::afs::{ChatHistory, UpdateError};
use crate::component::ActionOn;
use crate::instances::{Instance, Instances, TOOL_PREFIX, state_bytes};
use crate::seal::{Sealer, proves_instance};
use crate::tool::{RegisteredTool, ToolSnapshot};

/// An action that a client calls on an instance of a component.
#[derive(Debug)]
pub(crate) struct PostedAction {
    /// The instance.
    pub(crate) on: PostedState,
    /// The name of the action.
    pub(crate) action: Text,
    /// The arguments.
    pub(crate) payload: JsonText,
}

/// A state that a client has changed.
#[derive(Debug)]
pub(crate) struct PostedState {
    /// The instance.
    pub(crate) instance: Text,
    /// The chat of the instance.
    pub(crate) chat_id: Text,
    /// The state as the client has it, with its seal.
    pub(crate) state: InstanceState,
}

/// The stored state, which has another revision.
struct NewerState(Box<InstanceState>);

/// The reason for which a posted instance is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    Unknown,
    TooLarge,
    Unproven,
}

impl Refused {
    fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "there is no such component",
            Self::TooLarge => "a part is larger than `max_component_state_bytes`",
            Self::Unproven => "its seal does not prove it",
        }
    }
}

impl Assistant {
    /// Reads the instances of a verified conversation.
    pub(super) fn instances(
        &self,
        request: &RunRequest,
        tools: &ToolSnapshot,
        principal: &Principal,
    ) -> Instances {
        let (mut first, mut count) = (None, 0_usize);
        let chat = request.chat_id.as_deref();
        let instances = Instances::read(request, self.limits(), |posted| {
            let refused = self.refusal(chat, tools, principal, posted);
            first = first.or(refused);
            count = count.saturating_add(usize::from(refused.is_some()));
            refused.is_none()
        });
        // One line for all, since a client can post any number of them.
        if let Some(reason) = first.map(Refused::as_str) {
            tracing::warn!(count, reason, "the states of components are not accepted");
        }
        instances
    }

    /// Returns the reason for which a posted instance is not accepted. A part of the user that does not fit is emptied.
    fn refusal(
        &self,
        chat: Option<&str>,
        tools: &ToolSnapshot,
        principal: &Principal,
        posted: &mut Instance,
    ) -> Option<Refused> {
        let Instance { id, state, has_state } = posted;
        let tool = tools.get(&format!("{TOOL_PREFIX}{}", state.component));
        // Of a component in which the user answers, a client writes the outputs. It has no instances.
        let component = tool.and_then(|tool| tool.component()).filter(|component| component.output.is_none());
        let Some(component) = component else { return Some(Refused::Unknown) };
        if !*has_state {
            return None;
        }
        // The cheapest check is the first.
        if state_bytes(state) > self.limits().max_component_state_bytes {
            return Some(Refused::TooLarge);
        }
        if !self.proves(chat, principal, id, state) {
            return Some(Refused::Unproven);
        }
        let faults = match &component.state {
            Some(data) => data.faults(&state.state.to_value()),
            None => Some(String::new()),
        };
        if let Some(faults) = faults {
            if component.state.is_some() {
                tracing::debug!(instance = id.as_str(), faults, "the state that a user posted does not fit");
            }
            state.state = JsonText::EMPTY_OBJECT;
        }
        None
    }

    /// Stores the part of a state that the user has changed in the page. Returns the new state, or as an error the newest one
    /// if it has another revision. `None` if there is no such component, or nothing is stored for the sender.
    ///
    /// # Errors
    ///
    /// Returns an error if the state is not proved, does not fit the component, or cannot be stored.
    pub(crate) async fn put_state(
        &self,
        PostedState { instance, chat_id, state }: PostedState,
        extensions: &Extensions,
    ) -> Result<Option<Result<InstanceState, InstanceState>>, Error> {
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        let tools = self.visible_tools(extensions);
        let tool = tools.get(&format!("{TOOL_PREFIX}{}", state.component));
        let data = tool.and_then(|tool| tool.component()).and_then(|component| component.state.as_ref());
        let history = ChatHistory::of(&self.setup.afs, &principal, &chat_id);
        let (Some(data), Some(history)) = (data, history) else { return Ok(None) };
        if state_bytes(&state) > self.limits().max_component_state_bytes {
            return Err(self.too_large());
        }
        if !self.proves(Some(&chat_id), &principal, &instance, &state) {
            return Err(Error::seal_invalid("state"));
        }
        if let Some(faults) = data.faults(&state.state.to_value()) {
            return Err(Error::invalid_field("state", "the state of the component", faults));
        }
        let mut next = |stored: Option<InstanceState>| match stored {
            Some(stored) if stored.rev != state.rev => Err(NewerState(Box::new(stored))),
            Some(stored) => Ok(stored.with_state(state.state.clone())),
            None => Ok(state.clone()),
        };
        let (mut state, is_saved) = match history.update(&instance, &mut next).await {
            Ok(stored) => (stored, true),
            Err(UpdateError::Refused(NewerState(newer))) => (*newer, false),
            Err(UpdateError::Deleted) => return Err(Error::chat_deleted()),
            Err(UpdateError::Store(error)) => return Err(store_failed(&error)),
        };
        self.seal_state(chat_id, &principal, &instance, &mut state);
        Ok(Some(if is_saved { Ok(state) } else { Err(state) }))
    }

    /// Replaces the states in stored messages by the newest ones.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be read.
    pub(crate) async fn refresh_states(
        &self,
        principal: &Principal,
        chat: &Text,
        messages: impl Iterator<Item = &mut Message>,
    ) -> Result<(), Error> {
        let Some(history) = ChatHistory::of(&self.setup.afs, principal, chat) else { return Ok(()) };
        for part in messages.flat_map(|message| &mut message.parts) {
            let Part::Data(DataPart { name, id: Some(id), data }) = part else { continue };
            if *name != InstanceState::DATA {
                continue;
            }
            let known = data.to::<InstanceState>();
            let stored = history.load(id).await.map_err(|error| store_failed(&error))?;
            if let (Ok(known), Some(stored)) = (known, stored)
                && stored.rev > known.rev
            {
                let mut state = stored;
                self.seal_state(chat.clone(), principal, id, &mut state);
                *data = JsonText::from_serialize(&state).unwrap_or_else(|_| data.clone());
            }
        }
        Ok(())
    }

    /// Returns the change with which a client that shares a state gets the newest states of stored messages. `None` if there
    /// are none.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be read.
    pub(crate) async fn shared_states(
        &self,
        principal: &Principal,
        chat: &Text,
        messages: &mut [Message],
    ) -> Result<Option<RunEvent>, Error> {
        self.refresh_states(principal, chat, messages.iter_mut()).await?;
        let parts = messages.iter().flat_map(|message| &message.parts);
        let states = parts.filter_map(|part| match part {
            Part::Data(DataPart { name, id: Some(id), data }) if *name == InstanceState::DATA => {
                Some((id.as_str().to_owned(), data.to_value()))
            }
            _ => None,
        });
        let states: Map<String, Value> = states.collect();
        // All else of the client's state stays.
        let change = json!([{ "op": "add", "path": "/ui", "value": states }]);
        Ok((!states.is_empty()).then(|| RunEvent::StateDelta(JsonText::from_value(&change))))
    }

    fn too_large(&self) -> Error {
        let limit = self.limits().max_component_state_bytes;
        Error::limit_exceeded("max_component_state_bytes", limit, "state".to_owned())
    }

    fn proves(&self, chat: Option<&str>, principal: &Principal, id: &str, state: &InstanceState) -> bool {
        let seals = self.setup.seals.as_ref();
        seals.is_none_or(|seals| proves_instance(&seals.keys, chat, principal, id, state))
    }

    fn seal_state(&self, chat: Text, principal: &Principal, id: &str, state: &mut InstanceState) {
        if let Some(seals) = &self.setup.seals {
            Sealer::new(&seals.keys, Some(chat), principal, Text::new()).seal_instance(id, state);
        }
    }

    /// Starts a run in which a client calls an action of a component. The model is not called, and a run of the same chat is
    /// not stopped.
    ///
    /// The call is treated as that of a model: the same checks of its arguments, hooks, limits and records apply.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`try_run`](Self::try_run). `None` if there is no such component or action.
    pub(crate) async fn try_action(
        &self,
        posted: PostedAction,
        mut extensions: Extensions,
    ) -> Result<Option<Run>, Error> {
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        let PostedAction { on: PostedState { instance, chat_id, state }, action, payload } = posted;
        let mut request = RunRequest::new(vec![Message::user("msg-1", action.clone())]);
        request.chat_id = Some(chat_id.clone());
        let tools = self.visible_tools(&extensions);
        let component = tools.get(&format!("{TOOL_PREFIX}{}", state.component));
        let Some(tool) = component.and_then(|component| component.actions().get(&action)) else {
            return Ok(None);
        };
        let mut checked = Instance { id: instance.clone(), state: state.clone(), has_state: true };
        if let Some(refused) = self.refusal(Some(&chat_id), &tools, &principal, &mut checked) {
            let refusal = match refused {
                Refused::TooLarge => self.too_large(),
                Refused::Unknown | Refused::Unproven => Error::seal_invalid("state"),
            };
            self.report_refused(&principal, Some(&chat_id), &refusal);
            return Err(refusal);
        }
        let shared = json!({ "ui": { instance.as_str(): state } });
        request.state = Some(JsonText::from_value(&shared));
        check_payload(tool, &payload)?;
        extensions.insert(ActionOn(instance));
        let id = format!("call_{}", Uuid::now_v7().simple()).into();
        let script = Script::action(id, tool, payload);
        let run = self.begin(request, extensions, &principal, Some(script)).await;
        run.map(Some).inspect_err(|refusal| self.report_refused(&principal, Some(&chat_id), refusal))
    }
}

fn check_payload(tool: &RegisteredTool, payload: &JsonText) -> Result<(), Error> {
    let fault = tool.check_value(&payload.to_value());
    fault.map_or(Ok(()), |fault| Err(Error::invalid_field("payload", "the arguments of the action", fault)))
}
