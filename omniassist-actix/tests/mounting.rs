//! Tests of the paths at which the assistant can be mounted.

use actix_web::{HttpResponse, web};
use omniassist_actix::testing::{ScriptedProvider, Turn, text};
use omniassist_actix::{Assistant, AssistantRequest, ContextMessage, Extension, Tool, ToolError, scope};
use reqwest::StatusCode;
use serde_json::json;

use crate::client::{Raw, ask, asking, chunks, json, output, post};
use crate::serving::serve;

fn assistant(says: &'static str) -> Assistant {
    Assistant::builder(ScriptedProvider::new().otherwise(move |_| text(says)))
        .allow_anonymous()
        .build()
        .unwrap()
}

async fn get(url: String) -> (StatusCode, String) {
    let response = reqwest::get(url).await.unwrap();
    (response.status(), response.text().await.unwrap())
}

#[actix_web::test]
async fn below_a_path_of_any_depth_with_and_without_a_trailing_slash() {
    for path in ["/assistant", "/assistant/", "/a/b/c", "a/b/c"] {
        let assistant = assistant("Hello");
        let server = serve(move |app| {
            app.service(scope(path, assistant.clone()))
                .route("/", web::get().to(|| async { "home" }))
                .default_service(web::to(|| async { HttpResponse::NotFound().body("nowhere") }));
        });
        let mount = format!("{}/{}", server.base, path.trim_matches('/'));
        for url in [mount.clone(), format!("{mount}/"), format!("{mount}//"), format!("{mount}?ai-sdk=6")] {
            let response = ask(&url).await;
            assert_eq!(response.status(), StatusCode::OK, "{url}");
            assert!(response.text().await.unwrap().contains("Hello"));
        }
        let (status, manifest) = get(format!("{mount}/manifest.json")).await;
        assert!(status == StatusCode::OK && manifest.contains("dialects"));
        assert_eq!(get(format!("{mount}/nowhere")).await.0, StatusCode::NOT_FOUND);
        assert_eq!(get(format!("{mount}s")).await, (StatusCode::NOT_FOUND, "nowhere".to_owned()));
        assert_eq!(get(server.base.clone()).await, (StatusCode::OK, "home".to_owned()));
    }
}

#[actix_web::test]
async fn at_the_root_behind_the_hosts_own_routes() {
    for path in ["", "/"] {
        let assistant = assistant("Hello");
        let server = serve(move |app| {
            app.route("/health", web::get().to(|| async { "well" }))
                .service(web::scope("/api").route("/x", web::get().to(|| async { "x" })))
                .service(scope(path, assistant.clone()));
        });
        let base = &server.base;
        assert!(ask(base).await.text().await.unwrap().contains("Hello"));
        assert!(get(format!("{base}/manifest.json")).await.1.contains("dialects"));
        assert_eq!(get(format!("{base}/health")).await.1, "well");
        assert_eq!(get(format!("{base}/api/x")).await.1, "x");
        let other = reqwest::get(format!("{base}/nowhere")).await.unwrap();
        assert_eq!(other.status(), StatusCode::NOT_FOUND);
        assert_eq!(json(other).await["error"]["code"], "not_found");
        let hosts = get(format!("{base}/api/manifest.json")).await;
        assert_eq!(hosts, (StatusCode::NOT_FOUND, String::new()), "that scope is the host's");
    }
}

#[actix_web::test]
async fn within_a_scope_of_the_host() {
    fn routes(app: &mut web::ServiceConfig) {
        app.service(scope("", assistant("Hello")));
    }
    let server = serve(|app| {
        app.service(web::scope("/t/{tenant}").service(web::scope("/assistant").configure(routes)));
    });
    for tenant in ["ann", "a%20b", "a%2Fb", "%C3%A9"] {
        let mount = format!("{}/t/{tenant}/assistant", server.base);
        assert!(ask(&mount).await.text().await.unwrap().contains("Hello"), "{tenant}");
        assert!(get(format!("{mount}/manifest.json")).await.1.contains("dialects"), "{tenant}");
    }
}

#[actix_web::test]
async fn the_assistant_resolves_escapes_in_a_path() {
    let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
    let assistant = Assistant::builder(model).allow_anonymous().build().unwrap();
    let server = serve(move |app| {
        app.service(scope("/assistant", assistant.clone()));
    });
    let body = asking("hi").replace("\"c\"", "\"a b?c#%41\"");
    let mut client = Raw::post(server.address, "/assistant", &body).await;
    client.until("so far").await;
    let stop = |id: &str| post_to(format!("{}/assistant/{id}/stop", server.base));
    assert_eq!(stop("a%20b%3Fc%23A").await, json!({ "stopped": false }), "another chat");
    assert_eq!(stop("a%20b%3Fc%23%2541").await, json!({ "stopped": true }));
    assert!(client.until("0\r\n\r\n").await.contains("abort"));
}

async fn post_to(url: String) -> serde_json::Value {
    json(post(&url, String::new()).await).await
}

#[actix_web::test]
async fn two_assistants_in_one_application() {
    let (one, two) = (assistant("I am one"), assistant("I am two"));
    let server = serve(move |app| {
        app.service(scope("/one", one.clone())).service(scope("/two", two.clone()));
    });
    for name in ["one", "two"] {
        let answer = ask(&format!("{}/{name}", server.base)).await.text().await.unwrap();
        assert!(answer.contains(&format!("I am {name}")));
    }
}

#[actix_web::test]
async fn in_a_handler_of_the_host() {
    async fn whose(Extension(plan): Extension<&'static str>) -> Result<&'static str, ToolError> {
        Ok(plan)
    }
    async fn chat(mut posted: AssistantRequest) -> HttpResponse {
        let note = ContextMessage::new("plan", "account", json!("premium"));
        posted.request_mut().context.push(note);
        posted.extensions_mut().insert("of the handler");
        posted.respond().await.map_into_boxed_body()
    }
    let model = ScriptedProvider::new().turn(Turn::call("whose", json!({}))).turn(text("Hello."));
    let assistant = Assistant::builder(model.clone())
        .allow_anonymous()
        .tool(Tool::new("whose", "Whose it is", whose))
        .build()
        .unwrap();
    let server = serve(move |app| {
        app.app_data(web::Data::new(assistant.clone())).route("/chat", web::post().to(chat));
    });
    let url = format!("{}/chat", server.base);
    assert_eq!(output(&chunks(ask(&url).await).await), "of the handler");
    assert!(format!("{:?}", model.payloads()).contains("premium"));

    let refused = post(&url, "{}".to_owned()).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    assert_eq!(refused.headers()["content-type"], "application/json");
    assert_eq!(json(refused).await["error"]["path"], "messages");

    let server = serve(|app| {
        app.route("/chat", web::post().to(chat));
    });
    let unset = ask(&format!("{}/chat", server.base)).await;
    assert_eq!(unset.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert!(unset.text().await.unwrap().contains("web::Data<Assistant>"));
}
