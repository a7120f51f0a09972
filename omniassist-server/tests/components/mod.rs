//! Tests of components: their calls, their state, and the actions on them.

mod actions;
#[cfg(feature = "components")]
mod corrected;
mod forgery;
mod limits;
#[cfg(all(feature = "components", feature = "openai"))]
mod real_model;
#[cfg(feature = "components")]
mod script;
mod shown;
mod stored;
mod types;

use http::{Extensions, Request};
use http_body_util::{BodyExt as _, Full};
use omniassist_server::component::{Component, ComponentContext, ComponentOutput};
use omniassist_server::core::event::InstanceState;
use omniassist_server::core::message::{Message, Part};
use omniassist_server::http::AssistantService;
use omniassist_server::seal::SealKeys;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Args, Assistant, AssistantBuilder, Principal, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The props of a cart.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Cart {
    /// The articles.
    pub(crate) articles: Vec<String>,
}

/// The part of the state of a cart that the user may change.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ticked {
    #[serde(default)]
    pub(crate) ticked: Vec<String>,
}

/// The part that only the server may change.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Totals {
    #[serde(default)]
    pub(crate) paid: u64,
    #[serde(default)]
    articles: usize,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Pay {
    pub(crate) cents: u64,
}

async fn pay(Args(order): Args<Pay>, cart: ComponentContext) -> Result<Value, ToolError> {
    let paid = cart
        .update_server_state(|totals: &mut Totals| {
            totals.paid += order.cents;
            totals.paid
        })
        .await?;
    Ok(json!({ "paid": paid }))
}

/// Returns a cart with both states and an action.
pub(crate) fn cart() -> Component {
    Component::new::<Cart>("cart", "Shows the user's cart")
        .state::<Ticked>()
        .server_state::<Totals>()
        .render(async |Args(cart): Args<Cart>| {
            let output = ComponentOutput::new().state("articles", cart.articles.len());
            Ok::<_, ToolError>(output.event("rendered", cart.articles.len()))
        })
        .on_action("pay", pay)
        .cli(|cart: &Cart, _| format!("Cart: {}", cart.articles.join(", ")))
}

pub(crate) fn keys() -> SealKeys {
    SealKeys::new("k1", "a secret of at least 32 bytes for tests").unwrap()
}

pub(crate) fn shows_cart() -> ScriptedProvider {
    ScriptedProvider::new().turn(call("ui_cart", json!({"articles": ["tea", "milk"]}))).turn(text("There."))
}

pub(crate) fn builder(model: ScriptedProvider) -> AssistantBuilder {
    Assistant::builder(model).component(cart()).seal_keys(keys())
}

/// Returns the state of the only instance in a message.
pub(crate) fn state_in(message: &Message) -> (String, InstanceState) {
    let states: Vec<_> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Data(data) if data.name == *"ui-state" => {
                Some((data.id.as_ref()?.to_string(), data.data.to::<InstanceState>().unwrap()))
            }
            _ => None,
        })
        .collect();
    let [state] = <[_; 1]>::try_from(states).unwrap_or_else(|states| panic!("{states:?} in {message:?}"));
    state
}

/// Returns the body of an action on an instance.
pub(crate) fn action_body(state: &InstanceState, payload: &Value) -> Value {
    let mut body = serde_json::to_value(state).unwrap();
    body["chatId"] = "c".into();
    body["payload"] = payload.clone();
    body
}

/// Posts to a path, and returns the status and the body.
pub(crate) async fn post_to(assistant: &Assistant, user: &str, path: &str, body: &Value) -> (u16, String) {
    send(assistant, user, "POST", path, body).await
}

/// Sends a request, and returns the status and the body of the answer.
pub(crate) async fn send(
    assistant: &Assistant,
    user: &str,
    method: &str,
    path: &str,
    body: &Value,
) -> (u16, String) {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .header("host", "localhost")
        .body(Full::<bytes::Bytes>::from(body.to_string()))
        .unwrap();
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new(user));
    *request.extensions_mut() = extensions;
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Gets a path, and returns the status and the body.
pub(crate) async fn get(assistant: &Assistant, path: &str) -> (u16, String) {
    let mut request =
        Request::get(path).header("host", "localhost").body(Full::<bytes::Bytes>::default()).unwrap();
    request.extensions_mut().insert(Principal::new("ada"));
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Returns the chunks of a stream of the AI SDK.
pub(crate) fn chunks(stream: &str) -> Vec<Value> {
    let lines = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.filter(|line| *line != "[DONE]").map(|line| serde_json::from_str(line).unwrap()).collect()
}
