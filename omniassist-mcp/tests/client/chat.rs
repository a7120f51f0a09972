//! A conversation as a page holds it, which can be posted to any server.

use futures_util::StreamExt;
use http::Extensions;
use omniassist_server::core::message::{MessageCollector, Part, Role, ToolPart, ToolState, read};
use omniassist_server::core::run::ClientAbilities;
use omniassist_server::core::{JsonText, Limits, Message, RunEvent, RunRequest, Text};
use omniassist_server::seal::SealKeys;
use omniassist_server::{AssistantBuilder, Principal};
use serde_json::Value;

use super::Desk;

/// Gives an assistant the keys that all servers share.
pub(crate) fn keyed(builder: AssistantBuilder) -> AssistantBuilder {
    builder.seal_keys(SealKeys::new("k1", "a secret of at least 32 bytes for tests").unwrap())
}

pub(crate) struct Chat {
    user: &'static str,
    messages: Vec<Message>,
    abilities: ClientAbilities,
}

impl Chat {
    pub(crate) fn new(user: &'static str) -> Self {
        Self { user, messages: Vec::new(), abilities: ClientAbilities::default() }
    }

    /// Opens a conversation whose page has no forms.
    pub(crate) fn without_forms(user: &'static str) -> Self {
        Self { abilities: ClientAbilities::none(), ..Self::new(user) }
    }

    /// Says something, which lets the model call a tool.
    pub(crate) async fn say(&mut self, desk: &Desk, text: &str) {
        self.messages.push(Message::user(format!("m{}", self.messages.len()), text.to_owned()));
        self.post(desk).await;
    }

    /// Posts the conversation, as clients do when a form is answered. They post JSON.
    pub(crate) async fn post(&mut self, desk: &Desk) {
        let posted = serde_json::to_string(&self.messages).unwrap();
        self.messages = read::messages(&Text::from(posted), &Limits::default()).unwrap();
        let mut request = RunRequest::new(self.messages.clone());
        request.chat_id = Some("chat".into());
        request.abilities = self.abilities;
        let mut extensions = Extensions::new();
        extensions.insert(Principal::new(self.user));
        let run = desk.assistant.try_run(request, extensions).await.unwrap();
        let events: Vec<RunEvent> = run.collect().await;
        let continued = self.messages.pop_if(|last| last.role == Role::Assistant);
        let mut collector = continued.map_or_else(MessageCollector::new, MessageCollector::continuing);
        events.iter().for_each(|event| collector.apply(event));
        self.messages.push(collector.into_message());
    }

    /// Returns the message and the schema of the form that is open.
    pub(crate) fn form(&self) -> (String, Value) {
        let form = self.open_form().unwrap_or_else(|| panic!("no form is open: {:?}", self.messages));
        let ToolState::InputAvailable { input } = &form.state else { unreachable!() };
        let input = input.to_value();
        (input["message"].as_str().unwrap().to_owned(), input["schema"].clone())
    }

    pub(crate) fn has_form(&self) -> bool {
        self.open_form().is_some()
    }

    fn open_form(&self) -> Option<&ToolPart> {
        let is_form = |call: &&ToolPart| match &call.state {
            ToolState::InputAvailable { input } => input.to_value()["schema"].is_object(),
            _ => false,
        };
        self.messages.last()?.tools().find(is_form)
    }

    pub(crate) fn fill(&mut self, answer: &Value) {
        let output = JsonText::from_value(answer);
        self.end(|input| ToolState::OutputAvailable { input, output, preliminary: false });
    }

    pub(crate) fn decline(&mut self) {
        let error_text = Text::from("Not now.");
        self.end(|input| ToolState::OutputError { input: Some(input), error_text });
    }

    fn end(&mut self, state: impl FnOnce(JsonText) -> ToolState) {
        let id = self.open_form().expect("a form").call_id.clone();
        for part in &mut self.messages.last_mut().unwrap().parts {
            if let Part::Tool(call) = part
                && call.call_id == id
                && let ToolState::InputAvailable { input } = &call.state
            {
                call.state = state(input.clone());
                return;
            }
        }
    }

    /// Returns the text of the last message: what the model read of the call.
    pub(crate) fn told(&self) -> String {
        self.messages.last().unwrap().text()
    }
}
