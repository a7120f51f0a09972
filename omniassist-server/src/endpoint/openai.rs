use std::sync::Arc;

use omniassist_core::dialect::chat_completions::ClientSettings;
use omniassist_core::{ModelOptions, Text};

use crate::{Error, Result};

/// A field of an OpenAI client's request that changes the options of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClientSetting {
    /// `temperature`. Some reasoning models refuse it.
    Temperature,
    /// `top_p`. Some reasoning models refuse it.
    TopP,
    /// `max_completion_tokens` or `max_tokens`. It can only lower the application's own limit. It applies to each model
    /// call; a call of a server tool that it cuts off is not made.
    MaxTokens,
    /// `reasoning_effort`. More of it costs more.
    ReasoningEffort,
}

/// The assistant as a model for OpenAI's clients (`POST /v1/chat/completions`, `GET /v1/models`).
///
/// A client cannot change the provider's address, headers or model. These fields of its request change the options of
/// the model: `tools`, `tool_choice`, `parallel_tool_calls` and `response_format`, without which the client could not
/// read the answer, and those that are listed with [`allow`](Self::allow). All others (`seed`, `stop`, `logit_bias`,
/// `service_tier`, …) are ignored.
#[derive(Debug, Clone)]
#[must_use = "settings do nothing until they are given to a builder"]
pub struct OpenAiEndpoint {
    pub(crate) model: Text,
    any_model: bool,
    allowed: Vec<ClientSetting>,
    pub(crate) reasoning: bool,
    pub(crate) server_tools: bool,
}

impl Default for OpenAiEndpoint {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenAiEndpoint {
    /// Creates the default settings.
    pub fn new() -> Self {
        Self {
            model: Text::from_static("omniassist"),
            any_model: false,
            allowed: Vec::new(),
            reasoning: false,
            server_tools: false,
        }
    }

    /// Sets the model name of the assistant: 1 to 128 of `[A-Za-z0-9._:/-]`. It is independent of the provider's model.
    /// Default: `omniassist`.
    pub fn model(mut self, name: impl Into<Text>) -> Self {
        self.model = name.into();
        self
    }

    /// Answers requests for other models too, under the requested name, for clients whose model cannot be set. Default:
    /// `false`; they are answered 404 `model_not_found`.
    pub fn any_model(mut self, any: bool) -> Self {
        self.any_model = any;
        self
    }

    /// Lets clients set this option. Default: none, because client libraries send values that no user chose, and a model
    /// that does not support one refuses the whole request.
    pub fn allow(mut self, setting: ClientSetting) -> Self {
        self.allowed.push(setting);
        self
    }

    /// Adds the model's reasoning to answers, as `reasoning_content`. Other servers introduced this field; OpenAI's own
    /// clients ignore it. Default: `false`.
    pub fn show_reasoning(mut self, show: bool) -> Self {
        self.reasoning = show;
        self
    }

    /// Adds the calls of server tools to answers, in a field `omniassist` beside `choices`. Default: `false`.
    pub fn show_server_tools(mut self, show: bool) -> Self {
        self.server_tools = show;
        self
    }

    pub(crate) fn check(&self) -> Result<()> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/-".contains(&byte);
        if (1..=128).contains(&self.model.len()) && self.model.bytes().all(allowed) {
            return Ok(());
        }
        Err(Error::configuration("the model name of the OpenAI endpoint is not 1 to 128 of [A-Za-z0-9._:/-]"))
    }

    pub(crate) fn serves(&self, model: &str) -> bool {
        self.any_model || self.model == model
    }

    /// Returns the options of the model for a client; `None` if the client changes nothing.
    pub(crate) fn options(&self, own: &ModelOptions, asked: ClientSettings) -> Option<Arc<ModelOptions>> {
        let allows = |setting| self.allowed.contains(&setting);
        let tokens = asked.max_tokens.filter(|_| allows(ClientSetting::MaxTokens));
        let tokens = tokens.map(|tokens| own.max_output_tokens.map_or(tokens, |own| own.min(tokens)));
        let effort = asked.reasoning_effort.filter(|_| allows(ClientSetting::ReasoningEffort));
        let mut options = own.clone();
        replace(&mut options.temperature, asked.temperature.filter(|_| allows(ClientSetting::Temperature)));
        replace(&mut options.top_p, asked.top_p.filter(|_| allows(ClientSetting::TopP)));
        replace(&mut options.max_output_tokens, tokens);
        replace(&mut options.reasoning_effort, effort);
        replace(&mut options.parallel_tool_calls, asked.parallel_tool_calls);
        replace(&mut options.response_schema, asked.response_schema);
        (options != *own).then(|| Arc::new(options))
    }
}

/// Sets an option that the client has set.
fn replace<T>(option: &mut Option<T>, asked: Option<T>) {
    if asked.is_some() {
        *option = asked;
    }
}
