//! Components on servers that share nothing but the database.

use http::{Extensions, Request};
use http_body_util::{BodyExt as _, Full};
use omniassist_server::component::{Component, ComponentContext};
use omniassist_server::core::JsonText;
use omniassist_server::http::AssistantService;
use omniassist_server::seal::SealKeys;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Assistant, Principal, ToolError};
use serde_json::{Value, json};

use crate::database::{connect, new_schema};

/// The state that only the server changes.
#[derive(Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Votes {
    #[serde(default)]
    count: u64,
}

async fn vote(poll: ComponentContext) -> Result<u64, ToolError> {
    poll.update_server_state(|votes: &mut Votes| {
        votes.count += 1;
        votes.count
    })
    .await
}

async fn server(model: &ScriptedProvider, schema: &str) -> Assistant {
    let schema_of_props = json!({"type": "object", "properties": {"question": {"type": "string"}}});
    let poll = Component::with_schema("poll", "Asks for votes", schema_of_props)
        .server_state::<Votes>()
        .on_action("vote", vote);
    let keys = SealKeys::new("k1", "a secret of at least 32 bytes for tests").unwrap();
    let store = connect(schema).await;
    Assistant::builder(model.clone()).component(poll).seal_keys(keys).store(store).build().unwrap()
}

async fn send(assistant: &Assistant, method: &str, path: &str, body: &Value) -> String {
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    let request = request.header("content-type", "application/json");
    let mut request = request.body(Full::<bytes::Bytes>::from(body.to_string())).unwrap();
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    *request.extensions_mut() = extensions;
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    assert_eq!(response.status(), 200, "{method} {path}");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

/// Returns the newest state in a page of messages, with the id of its instance.
fn shown(page: &str) -> (String, Value) {
    let page: Value = serde_json::from_str(page).unwrap();
    let messages = page["messages"].as_array().unwrap();
    let mut parts = messages.iter().flat_map(|message| message["parts"].as_array().unwrap());
    let state = parts.find(|part| part["type"] == "data-ui-state").unwrap();
    (state["id"].as_str().unwrap().to_owned(), state["data"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_is_shown_by_one_server_used_by_another_and_loaded_from_a_third() {
    let model =
        ScriptedProvider::new().turn(call("ui_poll", json!({"question": "Tea?"}))).turn(text("Vote."));
    let schema = new_schema();
    let [first, second, third] =
        [server(&model, &schema).await, server(&model, &schema).await, server(&model, &schema).await];
    let question = json!({"id": "q", "role": "user", "parts": [{"type": "text", "text": "A poll, please"}]});
    send(&first, "POST", "/", &json!({"id": "c", "message": question})).await;

    let (instance, mut body) = shown(&send(&second, "GET", "/threads/c/messages", &Value::Null).await);
    body["chatId"] = "c".into();
    let path = format!("/ui/{instance}/vote");
    let (one, other) = tokio::join!(
        async {
            for _ in 0..20 {
                send(&first, "POST", &path, &body).await;
            }
        },
        async {
            for _ in 0..20 {
                send(&second, "POST", &path, &body).await;
            }
        }
    );
    let ((), ()) = (one, other);
    let (_, state) = shown(&send(&third, "GET", "/threads/c/messages", &Value::Null).await);
    assert_eq!(state["server"], json!({"count": 40}), "no vote of two servers is lost");
    let state = JsonText::from_value(&state);
    assert!(state.as_str().contains("\"seal\""), "the third server proves the state: {state:?}");
}
