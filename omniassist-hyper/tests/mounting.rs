//! Tests of the paths at which the assistant can be mounted, and of host data in its tools.

use std::convert::Infallible;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::service::TowerToHyperService;
use omniassist_hyper::http::{AssistantService, CutAnswer, PostedRun};
use omniassist_hyper::testing::{ScriptedProvider, Turn, text};
use omniassist_hyper::{
    Assistant, ContextMessage, Extension, Principal, State, Tool, ToolError, nest, service,
};
use reqwest::{Client, StatusCode};
use serde_json::json;
use tower::ServiceBuilder;

use crate::client::{Raw, ask, asking, chunks, json, output, post, tool_error, versions};
use crate::serving::{own, serve};

#[derive(Clone)]
struct Shop(&'static str);

#[derive(Clone)]
struct User(&'static str);

async fn who(
    State(shop): State<Shop>,
    Extension(user): Extension<User>,
    principal: Principal,
) -> Result<String, ToolError> {
    Ok(format!("{} {} {principal}", shop.0, user.0))
}

fn assistant() -> Assistant {
    let turn = Turn::call("who", json!({}));
    let model = ScriptedProvider::new().turn(turn).otherwise(|_| text("Hello"));
    Assistant::builder(model)
        .allow_anonymous()
        .state(Shop("books"))
        .tool(Tool::new("who", "Say who asks", who))
        .build()
        .unwrap()
}

fn sign_in<B>(mut request: Request<B>) -> Request<B> {
    request.extensions_mut().insert(User("ann"));
    request.extensions_mut().insert(Principal::new("user-7"));
    request
}

async fn get(client: &Client, url: String) -> (StatusCode, String) {
    let response = client.get(url).send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

#[tokio::test]
async fn below_a_path_of_any_depth_with_and_without_a_trailing_slash() {
    for client in versions() {
        for path in ["/assistant", "/assistant/", "assistant", "/a/b/c"] {
            let server = serve(nest(path, assistant(), service_fn(own))).await;
            let mount = format!("{}/{}", server.base, path.trim_matches('/'));
            for url in [mount.clone(), format!("{mount}/"), format!("{mount}//"), format!("{mount}?ai-sdk=6")]
            {
                let response = ask(&client, &url).await;
                assert_eq!(response.status(), StatusCode::OK, "{url}");
                assert!(response.text().await.unwrap().contains("Hello"));
            }
            let (status, manifest) = get(&client, format!("{mount}/manifest.json")).await;
            assert!(status == StatusCode::OK && manifest.contains("dialects"));
            assert_eq!(get(&client, format!("{mount}/nowhere")).await.0, StatusCode::NOT_FOUND);
            for elsewhere in ["/", "/a", "/a/b", "/assistants", "/a/b/cd", "/%61ssistant"] {
                let (status, body) = get(&client, format!("{}{elsewhere}", server.base)).await;
                assert_eq!((status, body), (StatusCode::OK, format!("own {elsewhere}")));
            }
        }
    }
}

#[tokio::test]
async fn at_the_root() {
    for client in versions() {
        let alone = serve(service(assistant())).await;
        let nested = [
            serve(nest("/", assistant(), service_fn(own))).await,
            serve(nest("", assistant(), service_fn(own))).await,
        ];
        for server in [&alone, &nested[0], &nested[1]] {
            assert!(ask(&client, &server.base).await.text().await.unwrap().contains("Hello"));
            assert!(get(&client, format!("{}/manifest.json", server.base)).await.1.contains("dialects"));
            let other = client.get(format!("{}/nowhere", server.base)).send().await.unwrap();
            assert_eq!(other.status(), StatusCode::NOT_FOUND);
            assert_eq!(json(other).await["error"]["code"], "not_found");
        }
    }
}

#[tokio::test]
async fn in_a_service_of_the_host() {
    type Body = BoxBody<Bytes, CutAnswer>;

    async fn route(
        assistant: AssistantService,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        Ok(match request.uri().path() {
            "/health" => Response::new(Full::from("well").map_err(|never| match never {}).boxed()),
            "/chat" => chat(assistant.assistant(), request).await.map(BodyExt::boxed),
            _ => assistant.handle(sign_in(request)).await.map(BodyExt::boxed),
        })
    }

    async fn chat(
        assistant: &Assistant,
        request: Request<Incoming>,
    ) -> Response<omniassist_hyper::http::AssistantBody> {
        let mut posted = match PostedRun::read_for(request, assistant).await {
            Ok(posted) => posted,
            Err(refusal) => return refusal,
        };
        posted.request.context.push(ContextMessage::new("plan", "account", json!("premium")));
        posted.extensions.insert(User("the handler's"));
        posted.respond(assistant).await
    }

    for client in versions() {
        let serve_one = || {
            let assistant = AssistantService::new(assistant());
            serve(service_fn(move |request| route(assistant.clone(), request)))
        };
        let server = serve_one().await;
        assert_eq!(get(&client, format!("{}/health", server.base)).await.1, "well");
        assert_eq!(output(&chunks(ask(&client, &server.base).await).await), "books ann user-7");
        let server = serve_one().await;
        let url = format!("{}/chat", server.base);
        let answer = chunks(ask(&client, &url).await).await;
        assert_eq!(output(&answer), "books the handler's anonymous");
        let refused = post(&client, &url, "{}".to_owned()).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
        assert_eq!(json(refused).await["error"]["path"], "messages");
    }
}

#[tokio::test]
async fn within_a_stack_of_tower_layers() {
    for client in versions() {
        let assistant = assistant();
        let app = ServiceBuilder::new()
            .concurrency_limit(2)
            .map_request(sign_in::<Incoming>)
            .layer_fn(move |own| nest("/assistant", assistant.clone(), own))
            .service(tower::service_fn(own));
        let server = serve(TowerToHyperService::new(app)).await;
        let answer = chunks(ask(&client, &format!("{}/assistant", server.base)).await).await;
        assert_eq!(output(&answer), "books ann user-7");
        assert_eq!(get(&client, format!("{}/x", server.base)).await.1, "own /x");
    }
}

#[tokio::test]
async fn extensions_of_hyper_services_reach_tools() {
    for client in versions() {
        let app = nest("/assistant", assistant(), service_fn(own));
        let server = serve(service_fn(move |request| {
            hyper::service::Service::call(&app, sign_in::<Incoming>(request))
        }));
        let url = format!("{}/assistant", server.await.base);
        assert_eq!(output(&chunks(ask(&client, &url).await).await), "books ann user-7");
    }
}

#[tokio::test]
async fn a_missing_extension_fails_the_tool() {
    for client in versions() {
        let server = serve(service(assistant())).await;
        let chunks = chunks(ask(&client, &server.base).await).await;
        assert_eq!(tool_error(&chunks), "The tool failed.", "{chunks:?}");
    }
}

#[tokio::test]
async fn the_assistant_resolves_escapes_in_a_path() {
    let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
    let server = serve(nest(
        "/assistant",
        Assistant::builder(model).allow_anonymous().build().unwrap(),
        service_fn(own),
    ))
    .await;
    let body = asking("hi").replace("\"c\"", "\"a b?c#%41\"");
    let mut client = Raw::post(server.address, "/assistant", &body).await;
    client.until("so far").await;
    let stop = async |id: &str| {
        let url = format!("{}/assistant/{id}/stop", server.base);
        json(post(&Client::new(), &url, String::new()).await).await
    };
    assert_eq!(stop("a%20b%3Fc%23A").await, json!({ "stopped": false }), "another chat");
    assert_eq!(stop("a%20b%3Fc%23%2541").await, json!({ "stopped": true }));
    assert!(client.until("0\r\n\r\n").await.contains("abort"));
}
