//! Posts that are refused, and the choice of a client.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_refusal_names_the_run_in_the_way() {
    let store = MemoryStore::new();
    let (assistant, _) = server(&store, WhenBusy::Reject);
    let (elsewhere, _) = server(&store, WhenBusy::Reject);
    let first = send(&assistant, &ask("u1", "One"), None).await;
    let run = run_of(&first).to_string();
    for server in [&assistant, &elsewhere] {
        let refused = send(server, &ask("u2", "Two"), None).await;
        assert_eq!(refused.status(), StatusCode::CONFLICT);
        assert_eq!(refused.headers()["x-omniassist-run"], run);
        let error = json_of(refused).await["error"].clone();
        assert_eq!((&error["code"], &error["runId"]), (&json!("chat_busy"), &json!(run)));
    }
    assert!(read(first).await.contains("Answer 1"));
    assert_eq!(said(&store).await, ["One", "Answer 1 done"]);
    assert_eq!(send(&assistant, &ask("u2", "Two"), None).await.status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_request_has_its_own_treatment() {
    let store = MemoryStore::new();
    let (assistant, _) = server(&store, WhenBusy::Reject);
    let first = send(&assistant, &ask("u1", "One"), None).await;
    let queued = send(&assistant, &ask("u2", "Two"), Some(WhenBusy::Enqueue)).await;
    assert_eq!(head(&store, run_of(&queued)).await.state, RunState::Queued);
    assert_eq!(send(&assistant, &ask("u3", "Three"), None).await.status(), StatusCode::CONFLICT);

    // A run that takes the place of another takes that of those in the queue.
    let last = send(&assistant, &ask("u4", "Four"), Some(WhenBusy::Supersede)).await;
    let (first, queued, last) = tokio::join!(read(first), read(queued), read(last));
    assert!(first.contains("\"abort\"") && queued.contains("\"abort\""), "{first}{queued}");
    assert!(last.contains("done"), "{last}");
    assert_eq!(said(&store).await.last().unwrap(), "Answer 2 done");
}

#[tokio::test(start_paused = true)]
async fn a_client_chooses_among_what_is_allowed() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().otherwise(|_| slow("Answer"));
    let assistant = Assistant::builder(model).store(store.clone()).when_busy(WhenBusy::Reject);
    let assistant = assistant.client_when_busy([WhenBusy::Enqueue]).build().unwrap();
    let post = async |id: &str, name: &str, of_host: Option<WhenBusy>| {
        let mut posted = request(&ask(id, id));
        posted.headers_mut().insert("x-omniassist-when-busy", name.parse().unwrap());
        posted.extensions_mut().extend(
            of_host
                .map(|when_busy| {
                    let mut extensions = http::Extensions::new();
                    extensions.insert(when_busy);
                    extensions
                })
                .unwrap_or_default(),
        );
        AssistantService::new(assistant.clone()).handle(posted).await
    };
    let _first = send(&assistant, &ask("u1", "One"), None).await;
    let queued = post("u2", "enqueue", None).await;
    assert_eq!(head(&store, run_of(&queued)).await.state, RunState::Queued);
    for name in ["supersede", "discard", "Enqueue", "later"] {
        let refused = post("u3", name, None).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{name}");
        assert_eq!(json_of(refused).await["error"]["path"], "X-Omniassist-When-Busy");
    }
    assert_eq!(post("u3", "enqueue", Some(WhenBusy::Reject)).await.status(), StatusCode::CONFLICT);
}

#[test]
fn a_queue_needs_a_store() {
    for when_busy in [WhenBusy::Enqueue, WhenBusy::Discard] {
        let builder = || Assistant::builder(ScriptedProvider::new());
        for refused in [builder().when_busy(when_busy), builder().client_when_busy([when_busy])] {
            let error = refused.build().unwrap_err().to_string();
            assert!(error.contains("`store`"), "{error}");
        }
        assert!(builder().when_busy(when_busy).store(MemoryStore::new()).build().is_ok());
    }
    assert!(Assistant::builder(ScriptedProvider::new()).when_busy(WhenBusy::Reject).build().is_ok());
}

/// Runs of anonymous clients are not stored, so there is no queue for them.
#[tokio::test(start_paused = true)]
async fn an_anonymous_run_is_superseded() {
    let model = ScriptedProvider::new().otherwise(|_| slow("Answer"));
    let assistant = Assistant::builder(model).store(MemoryStore::new()).allow_anonymous();
    let assistant = assistant.when_busy(WhenBusy::Enqueue).build().unwrap();
    let post = async |id: &str| {
        let body = page(&[(id, "user", id)]).to_string();
        let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
        AssistantService::new(assistant.clone())
            .handle(request.body(Full::<Bytes>::from(body)).unwrap())
            .await
    };
    let first = post("u1").await;
    let second = post("u2").await;
    let (first, second) = tokio::join!(read(first), read(second));
    assert!(first.contains("\"abort\"") && second.contains("done"), "{first}{second}");
}
