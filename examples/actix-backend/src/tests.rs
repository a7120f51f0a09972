use actix_web::http::{Method, StatusCode};
use actix_web::{App, test, web};
use omniassist_actix::testing::{ScriptedProvider, call, text};
use serde_json::{Value, json};
use tasks::{Tasks, Users};

use crate::{app, assistant};

struct Backend {
    tasks: web::Data<Tasks>,
    model: ScriptedProvider,
}

impl Backend {
    fn new(model: ScriptedProvider) -> Self {
        Self { tasks: web::Data::new(Tasks::new()), model }
    }

    async fn ask(&self, method: &str, path: &str, token: &str, body: Value) -> (StatusCode, String) {
        let assistant = assistant::assistant(self.model.clone()).unwrap();
        let app = App::new()
            .app_data(web::Data::new(Users::parse("ann=a-token,bo=b-token")))
            .app_data(self.tasks.clone())
            .configure(|app| app::routes(app, assistant));
        let app = test::init_service(app).await;
        let request = test::TestRequest::with_uri(path)
            .method(Method::from_bytes(method.as_bytes()).unwrap())
            .insert_header(("authorization", format!("Bearer {token}")))
            .insert_header(("content-type", "application/json"))
            .set_payload(body.to_string());
        match test::try_call_service(&app, request.to_request()).await {
            Ok(response) => {
                let status = response.status();
                (status, String::from_utf8(test::read_body(response).await.into()).unwrap())
            }
            // What a middleware refuses.
            Err(error) => {
                let response = error.error_response();
                let body = actix_web::body::to_bytes(response.into_body()).await.unwrap();
                (error.as_response_error().status_code(), String::from_utf8(body.into()).unwrap())
            }
        }
    }
}

fn says(content: &str) -> Value {
    json!({ "messages": [{ "id": "m1", "role": "user", "content": content }] })
}

#[actix_web::test]
async fn the_backend_does_what_it_did() {
    let backend = Backend::new(ScriptedProvider::new());
    assert_eq!(backend.ask("GET", "/health", "", json!(null)).await, (StatusCode::OK, "well".to_owned()));
    let (status, problem) = backend.ask("GET", "/tasks", "x", json!(null)).await;
    assert_eq!((status, problem.as_str()), (StatusCode::UNAUTHORIZED, r#"{"error":"Please sign in."}"#));
    let (status, _) = backend.ask("POST", "/tasks", "a-token", json!({ "title": "Water the plants" })).await;
    assert_eq!(status, StatusCode::CREATED);
    let (status, _) = backend.ask("POST", "/tasks", "a-token", json!({ "title": "" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let (status, task) = backend.ask("POST", "/tasks/1/done", "a-token", json!(null)).await;
    assert_eq!((status, task.contains(r#""done":true"#)), (StatusCode::OK, true));
    assert_eq!(backend.ask("POST", "/tasks/1/done", "b-token", json!(null)).await.0, StatusCode::NOT_FOUND);
}

#[actix_web::test]
async fn the_assistant_works_on_the_list_of_who_is_signed_in() {
    let model = ScriptedProvider::new()
        .turn(call("add_task", json!({ "title": "Call the bank" })))
        .turn(text("Noted."));
    let backend = Backend::new(model);
    let (status, answer) = backend.ask("POST", "/assistant", "a-token", says("Remind me of the bank")).await;
    assert!(status == StatusCode::OK && answer.contains("Noted."), "{answer}");
    assert!(backend.model.payloads()[0].system.as_deref().unwrap().contains("ann"));
    let list = |token| backend.ask("GET", "/tasks", token, json!(null));
    assert!(list("a-token").await.1.contains("Call the bank"));
    assert_eq!(list("b-token").await.1, "[]");
}

#[actix_web::test]
async fn who_is_not_signed_in_has_no_assistant() {
    let backend = Backend::new(ScriptedProvider::new());
    for path in ["/assistant", "/assistant/", "/assistant/manifest.json"] {
        let (status, _) = backend.ask("POST", path, "x", says("hi")).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
    }
    assert!(backend.model.payloads().is_empty());
}

#[actix_web::test]
async fn what_a_tool_refuses_the_model_is_told() {
    let model = ScriptedProvider::new()
        .turn(call("add_task", json!({ "title": "" })))
        .turn(text("It needs a title."));
    let backend = Backend::new(model);
    let (_, answer) = backend.ask("POST", "/assistant", "a-token", says("Add an empty task")).await;
    assert!(answer.contains("A title has 1 to 200 characters."), "{answer}");
}
