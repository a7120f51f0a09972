//! The part of a request that a run needs again after its server has stopped.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::Extensions;
use omniassist_core::message::Role;
use omniassist_core::run::{ClientAbilities, ToolUse, Trigger};
use omniassist_core::{ContextMessage, JsonText, Message, ModelOptions, RunRequest, Text, ToolSpec};
use serde::{Deserialize, Serialize};

use super::post;
use crate::engine::stored::chat::message;
use crate::mount_path::MountPath;
use crate::store::StoreError;

/// The input of a tree of agents, which ends with its connection. No server goes on with it: an earlier version cannot read it.
pub(in crate::engine::stored) const OF_TREE: &[u8] = br#"{"tree":1}"#;

/// A request without its messages, which the conversation has. Later versions may add fields.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::engine::stored) struct Input {
    /// The last message of the conversation that the run answers.
    pub(in crate::engine::stored) leaf: Text,
    trigger: Trigger,
    context: Vec<ContextMessage>,
    tools: Vec<ToolSpec>,
    /// The components that the client shows. `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    components: Option<Vec<Text>>,
    past_tools: Vec<Text>,
    state: Option<JsonText>,
    forwarded: Option<JsonText>,
    extra: BTreeMap<Text, JsonText>,
    abilities: ClientAbilities,
    options: Option<ModelOptions>,
    tool_use: ToolUse,
    /// The path below which the client knows the assistant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mount: Option<Text>,
    /// The named agent of the run. `None` for the assistant itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::engine::stored) agent: Option<Text>,
    /// The message that the run continues, of an imported conversation that ends with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    continued: Option<JsonText>,
    /// The messages of a post whose run was queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queued: Option<Queued>,
}

/// The part of a post that is compared with the conversation when its run begins.
#[derive(Debug, Serialize, Deserialize)]
struct Queued {
    messages: JsonText,
    message_id: Option<Text>,
    is_last_only: bool,
}

impl Input {
    /// Returns the input of an agent's run that answers this message, the last one of the request.
    ///
    /// # Errors
    ///
    /// Returns an error if a message that the run continues has no JSON form.
    pub(in crate::engine::stored) fn new(
        request: &RunRequest,
        extensions: &Extensions,
        leaf: Text,
        agent: Option<&Text>,
    ) -> Result<Self, StoreError> {
        let continued = request.messages.last().filter(|last| last.role == Role::Assistant);
        let continued = continued.map(|last| message::to_array(std::slice::from_ref(last))).transpose()?;
        Ok(Self { leaf, agent: agent.cloned(), continued, ..Self::of_answers(request, extensions) })
    }

    /// Returns the input of a leg that begins with the answers of this request.
    pub(super) fn of_answers(request: &RunRequest, extensions: &Extensions) -> Self {
        Self {
            leaf: Text::new(),
            trigger: request.trigger,
            context: request.context.clone(),
            tools: request.tools.iter().map(|tool| (**tool).clone()).collect(),
            components: request.components.clone(),
            past_tools: request.past_tools.clone(),
            state: request.state.clone(),
            forwarded: request.forwarded.clone(),
            extra: request.extra.clone(),
            abilities: request.abilities,
            options: request.options.as_deref().cloned(),
            tool_use: request.tool_use.clone(),
            mount: extensions.get::<MountPath>().map(|mount| mount.as_str().into()),
            agent: None,
            continued: None,
            queued: None,
        }
    }

    /// Returns the input of the same run, for a leg that begins with the answers of a later post.
    pub(in crate::engine::stored) fn answered_by(self, post: Self) -> Self {
        Self {
            leaf: self.leaf,
            options: post.options.or(self.options),
            mount: post.mount.or(self.mount),
            agent: self.agent,
            continued: self.continued,
            queued: self.queued,
            ..post
        }
    }

    /// Returns the input of an agent's run that is queued, with the messages of its post.
    ///
    /// # Errors
    ///
    /// Returns an error if a message has no JSON form.
    pub(in crate::engine::stored) fn queued(
        request: &RunRequest,
        extensions: &Extensions,
        agent: Option<&Text>,
    ) -> Result<Self, StoreError> {
        let leaf = request.messages.last().map(|message| message.id.clone()).unwrap_or_default();
        let mut input = Self::new(request, extensions, leaf, agent)?;
        input.queued = Some(Queued {
            messages: message::to_array(&request.messages)?,
            message_id: request.message_id.clone(),
            is_last_only: request.awaits_history,
        });
        Ok(input)
    }

    /// Returns the message that the run continues, as it was before the run. `None` if the run begins one.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read.
    pub(in crate::engine::stored) fn continued(&self) -> Result<Option<Message>, StoreError> {
        let array = self.continued.as_ref().map(message::from_array).transpose()?;
        Ok(array.and_then(|mut messages| messages.pop()))
    }

    /// Returns the ids under which the conversation can have the message that the run answers, the likeliest first. A queued
    /// question that edits another one gets its id when its run begins.
    ///
    /// # Errors
    ///
    /// Returns an error if the messages of a queued run cannot be read.
    pub(in crate::engine::stored) fn answered(&self) -> Result<Vec<Text>, StoreError> {
        let mut ids = vec![self.leaf.clone()];
        if let Some(queued) = &self.queued {
            let posted = message::from_array(&queued.messages)?.pop();
            ids.splice(0..0, posted.as_ref().map(post::id_of_edit));
            ids.extend(queued.message_id.clone());
        }
        Ok(ids)
    }

    /// Adds the path below which the client knows the assistant, for a run that goes on without a request.
    pub(in crate::engine::stored) fn add_mount(&self, extensions: &mut Extensions) {
        if let Some(mount) = &self.mount {
            extensions.get_or_insert_with(|| MountPath::new(mount.as_str()));
        }
    }

    /// Returns `true` if the run was queued.
    pub(in crate::engine::stored) fn was_queued(&self) -> bool {
        self.queued.is_some()
    }

    pub(super) fn to_bytes(&self) -> Result<Bytes, StoreError> {
        serde_json::to_vec(self).map(Bytes::from).map_err(StoreError::invalid)
    }

    pub(in crate::engine::stored) fn from_bytes(bytes: &[u8]) -> Result<Self, StoreError> {
        serde_json::from_slice(bytes).map_err(StoreError::corrupt)
    }

    /// Returns the request of a queued run, as it was posted.
    ///
    /// # Errors
    ///
    /// Returns an error if its messages cannot be read.
    pub(in crate::engine::stored) fn into_post(mut self, chat: Text) -> Result<RunRequest, StoreError> {
        let queued = self.queued.take().ok_or_else(|| StoreError::invalid("the run was not queued"))?;
        let mut request = self.into_request(chat);
        request.messages = message::from_array(&queued.messages)?;
        request.message_id = queued.message_id;
        request.awaits_history = queued.is_last_only;
        Ok(request)
    }

    /// Returns the request without its messages.
    pub(in crate::engine::stored) fn into_request(self, chat: Text) -> RunRequest {
        let mut request = RunRequest::new(Vec::new());
        request.chat_id = Some(chat);
        request.trigger = self.trigger;
        request.context = self.context;
        request.tools = self.tools.into_iter().map(Arc::new).collect();
        request.components = self.components;
        request.past_tools = self.past_tools;
        request.state = self.state;
        request.forwarded = self.forwarded;
        request.extra = self.extra;
        request.abilities = self.abilities;
        request.options = self.options.map(Arc::new);
        request.tool_use = self.tool_use;
        request
    }
}
