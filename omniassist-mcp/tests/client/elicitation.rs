//! Questions of servers of version 2026-07-28, which answer a call with what they need.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use omniassist_mcp::client::McpServer;
use omniassist_server::AssistantBuilder;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, InputRequest,
    InputRequiredResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use super::chat::{Chat, keyed};
use super::modern::serve;
use super::{Desk, open};

/// A server whose tools need inputs before they answer.
#[derive(Clone, Default)]
struct Asking {
    /// The answers and the state of each call.
    calls: Arc<Mutex<Vec<Value>>>,
    /// Each list and call, with `true` if the client says that it shows forms.
    shows_forms: Arc<Mutex<Vec<(&'static str, bool)>>>,
}

fn input(params: &Value) -> InputRequest {
    let method = if params["messages"].is_array() { "sampling/createMessage" } else { "elicitation/create" };
    serde_json::from_value(json!({"method": method, "params": params})).unwrap()
}

fn form(field: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
    json!({"mode": "form", "message": format!("Your {field}?"), "requestedSchema": schema})
}

fn needs(inputs: &[(&str, Value)], state: &str) -> CallToolResponse {
    let inputs = inputs.iter().map(|(key, params)| ((*key).to_owned(), input(params))).collect();
    let needed = InputRequiredResult::new(Some(inputs), Some(state.to_owned()));
    CallToolResponse::InputRequired(needed)
}

impl ServerHandler for Asking {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.note("list", &context);
        let schema = json!({"type": "object"}).as_object().unwrap().clone();
        let tools = ["two", "again", "sample", "page", "hidden", "plain"];
        let tools = tools.map(|name| Tool::new(name, "Asks", Arc::new(schema.clone())));
        Ok(ListToolsResult::with_all_items(tools.to_vec()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.note("call", &context);
        let answers = call.input_responses.unwrap_or_default();
        let round = self.calls.lock().unwrap().len();
        self.calls.lock().unwrap().push(json!({"answers": answers, "state": call.request_state}));
        let sample = json!({
            "messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "maxTokens": 5
        });
        let page = json!({"mode": "url", "message": "Sign in", "url": "https://id.example/a"});
        Ok(match call.name.as_ref() {
            "two" if answers.is_empty() => needs(&[("a", form("name")), ("b", form("city"))], "s1"),
            "again" => needs(&[("a", form("name"))], &format!("s{round}")),
            "sample" => needs(&[("a", sample)], "s1"),
            "page" if answers.is_empty() => needs(&[("a", page)], "s1"),
            "hidden" => needs(&[("a", form("na\u{202e}me"))], "s1"),
            _ => {
                let told: BTreeMap<String, Value> = answers;
                let text = ContentBlock::text(serde_json::to_string(&told).unwrap());
                CallToolResponse::Complete(CallToolResult::success(vec![text]))
            }
        })
    }
}

impl Asking {
    fn note(&self, what: &'static str, context: &RequestContext<RoleServer>) {
        let shows_forms = context.client_capabilities().unwrap().elicitation.is_some();
        self.shows_forms.lock().unwrap().push((what, shows_forms));
    }

    async fn desks(&self) -> (Desk, Desk) {
        let url = serve(self.clone()).await;
        let desk = || Desk::with([open(McpServer::http("docs", &url))], keyed).ready();
        (desk().await, desk().await)
    }

    fn calls(&self) -> Vec<Value> {
        self.calls.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn each_question_is_a_form_and_another_server_goes_on() {
    let asking = Asking::default();
    let (one, two) = asking.desks().await;
    let mut chat = Chat::new("ann");
    chat.say(&one, "docs_two").await;
    assert_eq!(chat.form().0, "The server “docs” asks:\nYour name?");
    chat.fill(&json!({"name": "Ann"}));
    chat.post(&two).await;
    assert_eq!(chat.form().0, "The server “docs” asks:\nYour city?");
    assert_eq!(asking.calls().len(), 1, "the call goes on when all is answered");
    chat.decline();
    chat.post(&one).await;
    let answers = json!({
        "a": {"action": "accept", "content": {"name": "Ann"}},
        "b": {"action": "decline"},
    });
    assert_eq!(asking.calls()[1..], [json!({"answers": answers, "state": "s1"})]);
    assert!(chat.told().contains("Ann"), "{}", chat.told());
}

#[tokio::test]
async fn a_page_is_opened_without_content() {
    let asking = Asking::default();
    let (desk, _) = asking.desks().await;
    let mut chat = Chat::new("ann");
    chat.say(&desk, "docs_page").await;
    assert!(chat.form().0.contains("a page of id.example:\nhttps://id.example/a\n"));
    chat.fill(&json!({}));
    chat.post(&desk).await;
    assert_eq!(asking.calls()[1]["answers"], json!({"a": {"action": "accept"}}));
}

#[tokio::test]
async fn a_server_asks_eight_times_at_most() {
    let asking = Asking::default();
    let (desk, _) = asking.desks().await;
    let mut chat = Chat::new("ann");
    chat.say(&desk, "docs_again").await;
    for round in 1..=8 {
        assert!(chat.has_form(), "round {round}: {}", chat.told());
        chat.fill(&json!({"name": "Ann"}));
        chat.post(&desk).await;
    }
    assert!(!chat.has_form() && chat.told().contains("asked the user too often"), "{}", chat.told());
    let states: Vec<_> = asking.calls().iter().map(|call| call["state"].clone()).collect();
    assert_eq!(states[..3], [json!(null), json!("s0"), json!("s1")]);
    assert_eq!(states.len(), 9);
}

#[tokio::test]
async fn what_users_cannot_be_asked_is_an_error_for_the_model() {
    let asking = Asking::default();
    let (desk, _) = asking.desks().await;
    for (tool, error) in [("docs_sample", "other than an input"), ("docs_hidden", "cannot be shown")] {
        let mut chat = Chat::new("ann");
        chat.say(&desk, tool).await;
        assert!(!chat.has_form() && chat.told().contains(error), "{}", chat.told());
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_the_form_is_not_sent() {
    let asking = Asking::default();
    let (desk, _) = asking.desks().await;
    let mut chat = Chat::new("ann");
    chat.say(&desk, "docs_again").await;
    chat.fill(&json!({"name": 7}));
    chat.post(&desk).await;
    assert_eq!(asking.calls().len(), 1, "{}", chat.told());
}

#[tokio::test]
async fn only_a_call_whose_user_can_be_asked_says_so() {
    let asking = Asking::default();
    let url = serve(asking.clone()).await;
    let desk = Desk::with([open(McpServer::http("docs", &url))], keyed).ready().await;
    Chat::new("ann").say(&desk, "docs_plain").await;
    Chat::without_forms("bob").say(&desk, "docs_plain").await;
    // An assistant without seals cannot go on with a call that waits.
    let without_seals = |builder: AssistantBuilder| builder.trust_client_history();
    let desk = Desk::with([open(McpServer::http("docs", &url))], without_seals).ready().await;
    Chat::new("ann").say(&desk, "docs_plain").await;
    let expected = [("list", false), ("call", true), ("call", false), ("list", false), ("call", false)];
    assert_eq!(*asking.shows_forms.lock().unwrap(), expected);
}
