//! Tests of a client's influence on the requests to a provider. It changes only their bodies, and never their address,
//! their credentials or their model.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, header};
use http_body_util::Full;
use omniassist_server::http::AssistantService;
use omniassist_server::provider::anthropic::AnthropicProvider;
use omniassist_server::provider::gemini::GeminiProvider;
use omniassist_server::testing::{FakeProvider, FakeRequest, Reply, chat_sse, responses_sse};
use omniassist_server::{Assistant, LlmProvider, ObjectEndpoint, OpenAiChatProvider, OpenAiProvider};
use serde_json::{Value, json};

use super::bodies::{self, at, places};
use super::payloads::{BREAKS, Canary, urls};
use super::routes::{self, Route};
use super::{Invoice, answer};

const MODEL: &str = "model-of-the-host";
const KEY: &str = "key-of-the-host";

/// Returns the providers, each with an answer of the fake server. A refusal ends a run like an answer.
fn providers(server: &FakeProvider) -> Vec<(Arc<dyn LlmProvider>, Reply)> {
    let (url, host) = (server.base_url(), format!("http://{}", server.address()));
    let refused = Reply::json(400, &json!({"error": {"message": "no", "code": "no"}}));
    let openai = OpenAiProvider::builder().api_key(KEY).base_url(&url).model(MODEL);
    let chat = OpenAiChatProvider::builder().api_key(KEY).base_url(&url).model(MODEL);
    let anthropic = AnthropicProvider::builder().api_key(KEY).base_url(&host).model(MODEL);
    let gemini = GeminiProvider::builder().api_key(KEY).base_url(&host).model(MODEL);
    vec![
        (Arc::new(openai.build().unwrap()), Reply::sse(responses_sse::text("Hi"))),
        (Arc::new(chat.build().unwrap()), Reply::sse(chat_sse::text("Hi"))),
        (Arc::new(anthropic.build().unwrap()), refused.clone()),
        (Arc::new(gemini.build().unwrap()), refused),
    ]
}

fn service(model: Arc<dyn LlmProvider>) -> AssistantService {
    let invoice = ObjectEndpoint::new::<Invoice>("invoice", "Read the invoice.");
    AssistantService::new(Assistant::builder(model).allow_anonymous().object(invoice).build().unwrap())
}

/// Returns a request without its body, and the model in the body.
fn outside(request: &FakeRequest) -> Value {
    let headers: Vec<(&str, &str)> = request
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .filter(|(name, _)| *name != "content-length")
        .collect();
    json!([request.method, request.path, headers, request.json()["model"]])
}

/// Sends these requests. The provider's requests must be equal except for their bodies. Returns their number.
async fn alike(number: usize, requests: impl IntoIterator<Item = Request<Full<Bytes>>>) -> usize {
    let server = FakeProvider::start().await.unwrap();
    let (model, reply) = providers(&server).swap_remove(number);
    server.otherwise(reply);
    let service = service(model);
    answer(&service, routes::all().remove(0).request()).await;
    for request in requests {
        answer(&service, request).await;
    }
    let seen = server.requests();
    let first = outside(&seen[0]);
    assert!(first.to_string().contains(KEY) && first.to_string().contains(MODEL), "{first}");
    for request in &seen {
        assert_eq!(outside(request), first);
    }
    seen.len() - 1
}

#[tokio::test]
async fn hostile_strings_change_nothing_outside_the_body() {
    let canary = Canary::listen().await;
    let urls = urls(&canary);
    let payloads: Vec<&str> =
        urls.iter().map(String::as_str).chain([BREAKS[0], BREAKS[4], "gpt-evil"]).collect();
    for number in 0..4 {
        let (mut requests, mut turn) = (Vec::new(), number);
        for route in bodies::full().into_iter().filter(Route::runs) {
            let body = route.body.clone().unwrap();
            for place in places(&body).into_iter().skip(1) {
                // Each place uses the next few strings. The first provider receives more of them.
                for _ in 0..if number == 0 { 10 } else { 3 } {
                    turn += 1;
                    let mut body = body.clone();
                    *at(&mut body, &place) = payloads[turn % payloads.len()].into();
                    let mut request = route.request();
                    *request.body_mut() = Full::from(body.to_string());
                    requests.push(request);
                }
            }
        }
        let sent = requests.len();
        let came = alike(number, requests).await;
        println!("provider {number}: {came} requests came of {sent}, alike but for their bodies");
        assert!(came > sent / 4, "{came} of {sent}");
    }
    canary.heard_nobody().await;
}

#[tokio::test]
async fn headers_of_a_client_are_not_forwarded() {
    let canary = Canary::listen().await;
    let url = format!("http://127.0.0.1:{}", canary.port);
    for number in 0..4 {
        let mut requests = Vec::new();
        for name in [
            "authorization",
            "x-api-key",
            "api-key",
            "x-goog-api-key",
            "cookie",
            "openai-organization",
            "openai-project",
            "anthropic-version",
            "anthropic-beta",
            "host",
            "forwarded",
            "x-forwarded-host",
            "x-forwarded-for",
            "user-agent",
            "x-stainless-lang",
            "traceparent",
            "x-base-url",
            "x-model",
            "accept-encoding",
            "accept-language",
            "via",
        ] {
            for route in bodies::full().into_iter().filter(Route::runs) {
                let mut request = route.request();
                let value = if name == "host" { "evil.example" } else { url.as_str() };
                request.headers_mut().insert(name, value.parse().unwrap());
                requests.push(request);
            }
        }
        let sent = requests.len();
        let came = alike(number, requests).await;
        assert!(came > sent / 2, "{came} of {sent}");
    }
    canary.heard_nobody().await;
}

#[tokio::test]
async fn fields_do_not_choose_the_model() {
    let mut requests = Vec::new();
    for field in
        ["model", "provider", "baseURL", "base_url", "apiKey", "headers", "options", "system", "instructions"]
    {
        for route in bodies::full().into_iter().filter(Route::runs) {
            let mut body = route.body.clone().unwrap();
            let is_the_name_of_the_assistant = route.path.starts_with("/v1") && field == "model";
            if is_the_name_of_the_assistant {
                continue;
            }
            body[field] = "gpt-evil".into();
            let mut request = route.request();
            *request.body_mut() = Full::from(body.to_string());
            requests.push(request);
            let mut query = route.request();
            *query.uri_mut() = format!("{}?{field}=gpt-evil", route.path).parse().unwrap();
            query.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
            requests.push(query);
        }
    }
    for number in 0..4 {
        let sent = requests.len();
        let came = alike(number, requests.clone()).await;
        assert!(came > sent / 3, "{came} of {sent}");
    }

    let service = super::serve(super::builder().1.allow_anonymous());
    let mut other = bodies::full().into_iter().find(|route| route.path.starts_with("/v1")).unwrap();
    other.body.as_mut().unwrap()["model"] = "gpt-evil".into();
    let refused = answer(&service, other.request()).await;
    assert_eq!((refused.status, other.code(&refused).as_str()), (404, "model_not_found"));
}
