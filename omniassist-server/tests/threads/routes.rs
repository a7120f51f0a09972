//! The routes below `/threads`.

use std::time::Duration;

use http::{Method, StatusCode};
use omniassist_server::core::FinishReason;
use omniassist_server::store::{ConversationStore, RunState, RunStore, Scope, Which, Window};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use serde_json::{Value, json};

use super::Site;

fn ids(answer: &Value) -> Vec<&str> {
    answer["threads"].as_array().unwrap().iter().map(|thread| thread["id"].as_str().unwrap()).collect()
}

/// Returns the messages of an answer as `id: text`; the assistant's without its id.
fn said(answer: &Value) -> Vec<String> {
    let messages = answer["messages"].as_array().unwrap().iter();
    let text = |message: &Value| {
        let parts = message["parts"].as_array().unwrap().iter();
        parts.filter_map(|part| part["text"].as_str()).collect::<String>()
    };
    messages
        .map(|message| match message["role"].as_str().unwrap() {
            "user" => format!("{}: {}", message["id"].as_str().unwrap(), text(message)),
            role => format!("{role}: {}", text(message)),
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_page_lists_the_chats_and_loads_one() {
    let site = Site::new();
    for chat in ["c1", "c2", "c3"] {
        site.ask(chat, "m1", "  Where is order 17?\nPlease.").await;
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    site.ask("c1", "m3", "When?").await;

    let listed = site.get("/threads").await;
    assert_eq!(listed.status, StatusCode::OK);
    let listed = listed.json();
    assert_eq!(ids(&listed), ["c1", "c3", "c2"]);
    assert_eq!((&listed["nextCursor"], &listed["threads"][0]["run"]), (&Value::Null, &Value::Null));
    assert_eq!(listed["threads"][0]["title"], "Where is order 17?");
    assert!(listed["threads"][0]["updatedAt"].as_u64() > listed["threads"][0]["createdAt"].as_u64());

    let first = site.get("/threads?limit=2").await.json();
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = site.get(&format!("/threads?limit=2&cursor={cursor}")).await.json();
    assert_eq!((ids(&first), ids(&second)), (vec!["c1", "c3"], vec!["c2"]));

    assert_eq!(site.get("/threads/c1").await.json(), listed["threads"][0]);
    let loaded = site.get("/threads/c1/messages").await.json();
    let all =
        ["m1:   Where is order 17?\nPlease.", "assistant: In Kiel.", "m3: When?", "assistant: In Kiel."];
    assert_eq!(said(&loaded), all);
    assert_eq!((&loaded["more"], &loaded["head"]), (&json!(false), &loaded["messages"][3]["id"]));

    let end = site.get("/threads/c1/messages?limit=3").await.json();
    assert_eq!(
        (said(&end), &end["more"]),
        (all[1..].iter().map(ToString::to_string).collect(), &json!(true))
    );
    let before = site.get("/threads/c1/messages?before=m3").await.json();
    assert_eq!(said(&before), all[..2]);
    let branch = site.get("/threads/c1/messages?branch=%6D1").await.json();
    assert_eq!(said(&branch), all[..1]);
}

/// The widget explains an answer without text by it, also after the page was loaded again.
#[tokio::test(start_paused = true)]
async fn a_loaded_answer_has_the_reason_for_its_missing_text() {
    let ends = [
        (Turn::finish(FinishReason::ContentFilter), json!("content-filter")),
        (Turn::finish(FinishReason::Refusal), json!("content-filter")),
        (Turn::finish(FinishReason::Length), json!("length")),
        (Turn::text("Half").then(Turn::finish(FinishReason::Length)), json!("length")),
        (text("In Kiel."), Value::Null),
    ];
    for (turn, reason) in ends {
        let site = Site::with(ScriptedProvider::new().turn(turn), |builder| builder);
        site.ask("c1", "m1", "Where is order 17?").await;
        let loaded = site.get("/threads/c1/messages").await.json();
        assert_eq!(loaded["messages"][1]["role"], "assistant", "{loaded}");
        assert_eq!(loaded["messages"][1]["metadata"]["finishReason"], reason, "{loaded}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_message_is_refused_and_the_first_one_has_none_before_it() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    for query in ["before=nope", "branch=nope"] {
        let answer = site.get(&format!("/threads/c/messages?{query}")).await;
        let path = format!("?{}", &query[..6]);
        assert_eq!(
            (answer.status, answer.json()["error"]["path"].as_str()),
            (StatusCode::BAD_REQUEST, Some(&*path))
        );
    }
    let first = site.get("/threads/c/messages?before=m1").await.json();
    assert_eq!((&first["messages"], &first["more"]), (&json!([]), &json!(false)));
    let message = site.get("/threads?cursor=").await.json()["error"]["message"].clone();
    assert_eq!(message, "expected text in UTF-8, found an empty value at ?cursor");
}

#[tokio::test(start_paused = true)]
async fn the_names_of_routes_are_no_chats() {
    let site = Site::new();
    for chat in ["stop", "stream"] {
        let refused = site.ask(chat, "m1", "Hello").await.json();
        assert_eq!(refused["error"]["path"], "id", "{refused}");
    }
    // A chat may have the name of another route.
    site.ask("copilotkit", "m1", "Hello").await;
    assert_eq!(site.get("/copilotkit/stream").await.status, StatusCode::OK);
    assert_eq!(site.send(Method::POST, "/copilotkit/stop", None).await.status, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_body_of_another_type_is_no_invalid_json() {
    let site = Site::new();
    site.ask("c", "m1", "Hello").await;
    for (method, path) in [(Method::PATCH, "/threads/c"), (Method::POST, "/c/stop")] {
        for body in [json!(5), json!([]), json!(["x"])] {
            let refused = site.send(method.clone(), path, Some(&body)).await.json();
            let error = &refused["error"];
            assert_eq!(
                (&error["code"], &error["path"]),
                (&json!("invalid_request"), &json!("body")),
                "{refused}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_edited_question_shows_its_branch_and_can_be_left_again() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    let old = site.get("/threads/c").await.json();
    site.ask("c", "m1", "Where is order 18?").await;
    let edited = site.get("/threads/c/messages").await.json();
    assert!(said(&edited)[0].ends_with(": Where is order 18?"), "{edited}");
    assert_eq!(said(&edited).len(), 2);

    let head = &old["head"];
    let changed = site.patch("/threads/c", &json!({ "head": head })).await;
    assert_eq!((changed.status, &changed.json()["head"]), (StatusCode::OK, head));
    assert_eq!(said(&site.get("/threads/c/messages").await.json())[0], "m1: Where is order 17?");
}

#[tokio::test(start_paused = true)]
async fn a_change_can_name_the_version_that_it_changes() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    let version = site.get("/threads/c").await.json()["version"].as_u64().unwrap();
    let body = json!({ "title": " Order 17 ", "version": version });
    let changed = site.patch("/threads/c", &body).await;
    assert_eq!((changed.status, &changed.json()["title"]), (StatusCode::OK, &json!("Order 17")));

    let late = site.patch("/threads/c", &body).await;
    assert_eq!((late.status, late.code().as_str()), (StatusCode::CONFLICT, "version_conflict"));
    assert_eq!(late.json()["error"]["version"], version + 1);
    assert_eq!(site.get("/threads/c").await.json()["version"], version + 1);
    // The title of the user stays.
    site.ask("c", "m3", "When?").await;
    assert_eq!(site.get("/threads/c").await.json()["title"], "Order 17");
}

#[tokio::test(start_paused = true)]
async fn a_chat_that_begins_with_a_file_gets_the_title_of_its_first_text() {
    let site = Site::new();
    let file =
        json!({ "type": "file", "mediaType": "image/png", "url": "data:image/png;base64,iVBORw0KGgo=" });
    let message = json!({ "id": "m1", "role": "user", "parts": [file] });
    let answer = site.send(Method::POST, "/", Some(&json!({ "id": "c", "message": message }))).await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    site.settled("c").await;
    assert_eq!(site.get("/threads/c").await.json()["title"], Value::Null);

    site.ask("c", "m3", "What is in the picture?").await;
    site.ask("c", "m5", "Why?").await;
    assert_eq!(site.get("/threads/c").await.json()["title"], "What is in the picture?");
}

#[tokio::test(start_paused = true)]
async fn invalid_requests_name_the_field() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    for (path, field) in [
        ("/threads?limit=0", "?limit"),
        ("/threads?limit=101", "?limit"),
        ("/threads?limit=x", "?limit"),
        ("/threads?cursor=x", "?cursor"),
        ("/threads?cursor=%FF", "?cursor"),
        ("/threads/c/messages?limit=1001", "?limit"),
        ("/threads/c/messages?before=", "?before"),
    ] {
        let answer = site.get(path).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["path"]),
            (StatusCode::BAD_REQUEST, &json!(field)),
            "{path}"
        );
    }
    for path in ["/threads?limit=100", "/threads/c/messages?limit=1000"] {
        assert_eq!(site.get(path).await.status, StatusCode::OK, "{path}");
    }
    for (body, field) in [
        (json!({}), "body"),
        (json!({ "version": 1 }), "body"),
        (json!({ "title": "x", "owner": "eve" }), "body"),
        (json!({ "title": null }), "title"),
        (json!({ "title": " " }), "title"),
        (json!({ "title": "x".repeat(257) }), "title"),
        (json!({ "head": 1 }), "head"),
        (json!({ "head": "m9" }), "head"),
        (json!({ "head": "x".repeat(257) }), "head"),
        (json!({ "title": "x", "version": -1 }), "version"),
    ] {
        let answer = site.patch("/threads/c", &body).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["path"]),
            (StatusCode::BAD_REQUEST, &json!(field)),
            "{body}"
        );
    }
    let longest = site.patch("/threads/c", &json!({ "title": "x".repeat(256) })).await;
    assert_eq!(longest.status, StatusCode::OK);
    assert_eq!(site.send(Method::POST, "/threads", None).await.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_chat_does_not_come_back() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    let shown = site.get("/threads/c/messages").await.json()["messages"].clone();
    let deleted = site.delete("/threads/c").await;
    assert_eq!((deleted.status, deleted.body.as_str()), (StatusCode::NO_CONTENT, ""));

    assert_eq!(site.delete("/threads/c").await.status, StatusCode::NOT_FOUND);
    assert_eq!(site.get("/threads/c").await.status, StatusCode::NOT_FOUND);
    assert_eq!(site.get("/threads/c/messages").await.status, StatusCode::NOT_FOUND);
    assert_eq!(site.patch("/threads/c", &json!({ "title": "x" })).await.status, StatusCode::NOT_FOUND);
    // A page that is still open posts its whole history, or its last message.
    let mut messages = shown.as_array().unwrap().clone();
    messages.push(json!({ "id": "m3", "role": "user", "parts": [{ "type": "text", "text": "When?" }] }));
    let answer = site.send(Method::POST, "/", Some(&json!({ "id": "c", "messages": messages }))).await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::GONE, "chat_deleted"));
    let answer = site.ask("c", "m3", "When?").await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::GONE, "chat_deleted"));
    assert!(ids(&site.get("/threads").await.json()).is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_message_of_a_run_in_progress_is_left_to_its_stream() {
    let model = ScriptedProvider::new().turn(Turn::text("Half").then(Turn::pending()));
    let site = Site::with(model.clone(), |builder| builder);
    let message = json!({ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Go" }] });
    let post = json!({ "id": "c", "message": message });
    let reading = site.send(Method::POST, "/", Some(&post));
    assert!(tokio::time::timeout(Duration::from_secs(1), reading).await.is_err());

    let thread = site.get("/threads/c").await.json();
    assert_eq!(thread["run"]["state"], "running");
    assert_eq!(site.get("/threads").await.json()["threads"][0], thread);
    assert_eq!(said(&site.get("/threads/c/messages").await.json()), ["m1: Go"]);

    assert_eq!(site.delete("/threads/c").await.status, StatusCode::NO_CONTENT);
    tokio::time::timeout(Duration::from_secs(1), model.dropped())
        .await
        .expect("the model is no longer asked");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_continued_is_left_to_its_stream() {
    use omniassist_server::testing::call;
    use omniassist_server::{Approval, Tool, ToolError};

    let model = ScriptedProvider::new()
        .turn(call("refund", json!({})))
        .turn(Turn::text("Half").then(Turn::pending()));
    let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("refunded") })
        .requires_approval(Approval::always().message("Give it back?"));
    let site = Site::with(model, |builder| builder.tool(refund));
    let message = json!({ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Go" }] });
    site.send(Method::POST, "/", Some(&json!({ "id": "c", "message": message }))).await;
    let scope = Scope::new("ada");
    while site.store.find(&scope, Which::Chat("c")).await.unwrap().unwrap().state == RunState::Running {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // A page that is loaded now shows the question.
    let waiting = site.get("/threads/c/messages").await.json();
    assert_eq!(waiting["messages"][1]["parts"][1]["state"], "approval-requested", "{waiting}");
    assert_eq!(waiting["messages"][1]["parts"][1]["approval"].get("requestReason"), None);
    assert_eq!(site.get("/threads/c").await.json()["run"]["state"], "waiting");
    let waiting = site.get("/threads/c/messages?ai-sdk=7").await.json();
    assert_eq!(waiting["messages"][1]["parts"][1]["approval"]["requestReason"], "Give it back?");

    let mut message = waiting["messages"][1].clone();
    message["parts"][1]["state"] = "approval-responded".into();
    message["parts"][1]["approval"]["approved"] = true.into();
    let post = json!({ "id": "c", "message": message });
    let reading = site.send(Method::POST, "/", Some(&post));
    assert!(tokio::time::timeout(Duration::from_secs(1), reading).await.is_err());
    assert_eq!(site.get("/threads/c").await.json()["run"]["state"], "running");
    assert_eq!(said(&site.get("/threads/c/messages").await.json()), ["m1: Go"]);
    // The application sees what is stored.
    let stored = site.store.load(&scope, "c", &Window::default()).await.unwrap().unwrap();
    assert_eq!(stored.messages.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_names_of_chats_are_decoded() {
    let site = Site::with(ScriptedProvider::new().otherwise(|_| text("Hi")), |builder| builder);
    site.ask("order 17%", "m1", "Hello").await;
    assert_eq!(site.get("/threads/order%2017%25").await.json()["id"], "order 17%");
    assert_eq!(said(&site.get("/threads/order%2017%25/messages").await.json()).len(), 2);
    assert_eq!(site.get("/threads/order%2017%25/else").await.status, StatusCode::NOT_FOUND);
}
