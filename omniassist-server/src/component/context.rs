use std::sync::Arc;

use omniassist_core::event::{ComponentEvent, EmittedEvent, InstanceState, ShownComponent};
use omniassist_core::{JsonText, Text};
use serde::Serialize;
use serde_json::{Map, Value};

use super::data::{DataType, StateData};
use crate::RunContext;
use crate::afs::{ChatHistory, UpdateError};
use crate::instances::state_bytes;
use crate::tool::{Environment, FromToolCall, ToolContext, ToolError};

/// The instance that an action is for, in the extensions of its request.
#[derive(Debug, Clone)]
pub(crate) struct ActionOn(pub(crate) Text);

/// The type of an instance.
pub(super) struct ComponentType {
    pub(super) name: Text,
    pub(super) environment: Environment,
    pub(super) state: Option<DataType>,
    pub(super) server_state: Option<DataType>,
    pub(super) has_actions: bool,
}

impl ComponentType {
    /// Returns the state of a new instance.
    pub(super) fn initial(&self) -> InstanceState {
        let mut state = InstanceState::new(self.name.clone());
        if let Some(data) = &self.state {
            state.state = (data.initial)();
        }
        state.server = self.server_state.as_ref().map(|data| (data.initial)());
        state
    }

    /// Returns `true` if clients get the state of instances. The seal of an empty one proves the instance to an action.
    pub(super) fn has_state(&self) -> bool {
        self.state.is_some() || self.server_state.is_some() || self.has_actions
    }
}

/// An instance, as a call carries it.
pub(super) struct Acting {
    pub(super) id: Text,
    pub(super) of: Arc<ComponentType>,
}

/// The instance that is rendered, or on which an action is called. It is an extractor. Cloning is cheap.
#[derive(Clone)]
pub struct ComponentContext {
    call: ToolContext,
    acting: Arc<Acting>,
}

impl ComponentContext {
    pub(super) fn new(call: ToolContext, acting: Arc<Acting>) -> Self {
        Self { call, acting }
    }

    /// Returns the call with other arguments, for a function of the component.
    pub(super) fn call_with(&self, arguments: JsonText) -> ToolContext {
        self.call.attaching(arguments, Arc::clone(&self.acting))
    }

    /// Returns the id of the instance, unique within the conversation.
    #[must_use]
    pub fn instance_id(&self) -> &Text {
        &self.acting.id
    }

    /// Returns the name of the component.
    #[must_use]
    pub fn component_name(&self) -> &Text {
        &self.acting.of.name
    }

    /// Returns the environment in which the component is shown: [`Cli`](Environment::Cli) or [`Web`](Environment::Web). A
    /// client that is sent text counts as a terminal.
    #[must_use]
    pub fn environment(&self) -> Environment {
        match self.acting.of.environment {
            Environment::Universal if self.run().shows_components() => Environment::Web,
            Environment::Universal => Environment::Cli,
            environment => environment,
        }
    }

    /// Returns the run.
    #[must_use]
    pub fn run(&self) -> &RunContext {
        self.call.run()
    }

    /// Returns the part of the state that the user may change. Do not trust it. A state that is not of this type, such as
    /// one of an earlier version of the component, is replaced by the default.
    #[must_use]
    pub fn state<S: StateData>(&self) -> S {
        self.current().state.to().unwrap_or_default()
    }

    /// Returns the part of the state that only the server may change, or its default.
    #[must_use]
    pub fn server_state<T: StateData>(&self) -> T {
        self.current().server.and_then(|server| server.to().ok()).unwrap_or_default()
    }

    /// Changes the part of the state that the user may change, and returns the result of the function. The client gets the
    /// new state.
    ///
    /// With a store, the change is stored before this method returns. The function gets the newest state, and is called
    /// again if another server has changed it meanwhile.
    ///
    /// # Errors
    ///
    /// Returns an error if the component has no such [state](super::Component::state), if the state cannot be stored, or if
    /// too many updates wait for the client.
    pub async fn update_state<S: StateData, R>(
        &self,
        mut update: impl FnMut(&mut S) -> R + Send,
    ) -> Result<R, ToolError>
    where
        R: Send,
    {
        if self.acting.of.state.is_none() {
            return Err(ToolError::internal("the component has no state that the user may change"));
        }
        self.change(move |state| {
            let mut data: S = state.state.to().unwrap_or_default();
            let result = update(&mut data);
            state.state = JsonText::from_serialize(&data)?;
            Ok(result)
        })
        .await
    }

    /// Changes the part of the state that only the server may change, like [`update_state`](Self::update_state).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`update_state`](Self::update_state).
    pub async fn update_server_state<T: StateData, R>(
        &self,
        mut update: impl FnMut(&mut T) -> R + Send,
    ) -> Result<R, ToolError>
    where
        R: Send,
    {
        if self.acting.of.server_state.is_none() {
            return Err(ToolError::internal("the component has no state of the server"));
        }
        self.change(move |state| {
            let mut data: T = state.server.as_ref().and_then(|server| server.to().ok()).unwrap_or_default();
            let result = update(&mut data);
            state.server = Some(JsonText::from_serialize(&data)?);
            Ok(result)
        })
        .await
    }

    /// Shows the instance with other props.
    ///
    /// # Errors
    ///
    /// Returns an error if the props have no JSON form, or if too many updates wait for the client.
    pub fn show(&self, props: impl Serialize) -> Result<(), ToolError> {
        let shown =
            ShownComponent::complete(self.component_name().clone(), JsonText::from_serialize(&props)?);
        self.call.component_event(ComponentEvent::Shown { instance: self.instance_id().clone(), shown })
    }

    /// Sends the component an event, which clients do not keep.
    ///
    /// # Errors
    ///
    /// Returns an error if the data has no JSON form, or if too many updates wait for the client.
    pub fn emit(&self, kind: impl Into<Text>, data: impl Serialize) -> Result<(), ToolError> {
        let data = JsonText::from_serialize(&data)?;
        let event = EmittedEvent::new(self.instance_id().clone(), kind, data);
        self.call.component_event(ComponentEvent::Emitted(event))
    }

    /// Changes fields of both parts. Fields of the server's part are changed there.
    pub(super) async fn merge(&self, fields: Map<String, Value>) -> Result<(), ToolError> {
        let of = Arc::clone(&self.acting.of);
        let (server, user): (Map<_, _>, Map<_, _>) = fields
            .into_iter()
            .partition(|(field, _)| of.server_state.as_ref().is_some_and(|data| data.has(field)));
        if !user.is_empty() && of.state.is_none() {
            return Err(ToolError::internal("the component has no state with these fields"));
        }
        self.change(move |state| {
            if let (Some(data), false) = (&of.state, user.is_empty()) {
                state.state = merged(&state.state, &user);
                (data.fits)(&state.state)?;
            }
            if let (Some(data), false) = (&of.server_state, server.is_empty()) {
                let merged = merged(state.server.as_ref().unwrap_or(&JsonText::EMPTY_OBJECT), &server);
                (data.fits)(&merged)?;
                state.server = Some(merged);
            }
            Ok(())
        })
        .await
    }

    /// Sends the client the current state.
    pub(super) fn send_state(&self) -> Result<(), ToolError> {
        let (instance, state) = (self.instance_id().clone(), self.current());
        self.call.component_event(ComponentEvent::State { instance, state })
    }

    fn current(&self) -> InstanceState {
        let instance = self.run().instances().get(self.instance_id());
        instance.map_or_else(|| self.acting.of.initial(), |instance| instance.state)
    }

    async fn change<R: Send>(
        &self,
        mut change: impl FnMut(&mut InstanceState) -> Result<R, serde_json::Error> + Send,
    ) -> Result<R, ToolError> {
        let (known, max_bytes) = (self.current(), self.run().instances().max_state_bytes());
        let mut result = None;
        let mut next = |stored: Option<InstanceState>| {
            let mut state = known.clone();
            if let Some(stored) = stored {
                // The user may have changed the newest state in the page.
                let is_newer = stored.rev > known.rev;
                state = if is_newer { stored } else { stored.with_state(known.state.clone()) };
            }
            result = Some(change(&mut state).map_err(ToolError::internal)?);
            if state_bytes(&state) > max_bytes {
                return Err(ToolError::internal("the state is larger than `max_component_state_bytes`"));
            }
            Ok(state)
        };
        let state = match self.run().extensions().get::<ChatHistory>() {
            None => {
                let mut state = next(None)?;
                state.rev = state.rev.saturating_add(1);
                state
            }
            Some(history) => {
                let stored = history.update(self.instance_id(), &mut next).await;
                stored.map_err(|error| match error {
                    UpdateError::Refused(error) => error,
                    UpdateError::Deleted => ToolError::new("The conversation was deleted."),
                    UpdateError::Store(error) => ToolError::internal(error),
                })?
            }
        };
        self.run().instances().set(self.instance_id(), state, true);
        self.send_state()?;
        result.ok_or_else(|| ToolError::internal("the state was not changed"))
    }

    /// Records that the instance was shown with these props, in the history of the chat.
    pub(super) async fn record(&self, props: Value) -> Result<(), ToolError> {
        let Some(history) = self.run().extensions().get::<ChatHistory>() else { return Ok(()) };
        let state = self.current().state;
        let recorded = history.rendered(self.instance_id(), self.component_name(), props, &state).await;
        recorded.map_err(ToolError::internal)
    }
}

/// Returns an object with other values of some fields.
fn merged(object: &JsonText, fields: &Map<String, Value>) -> JsonText {
    let mut object = match object.to_value() {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    object.extend(fields.clone());
    JsonText::from_value(&Value::Object(object))
}

impl FromToolCall for ComponentContext {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        let acting = call.attached::<Acting>().ok_or_else(|| {
            ToolError::internal("`ComponentContext` is only available to the functions of a component")
        })?;
        Ok(Self::new(call.clone(), acting))
    }
}

impl std::fmt::Debug for ComponentContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ComponentContext")
            .field("component", self.component_name())
            .field("instance_id", self.instance_id())
            .finish_non_exhaustive()
    }
}
