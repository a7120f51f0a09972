//! Tests of how long an agent is used, and of loaders that fail.

use futures_util::future::join_all;
use http::header::RETRY_AFTER;

use super::*;

fn selling(prompt: &str) -> Value {
    json!({ "id": "sales", "description": "Sells.", "prompt": prompt })
}

async fn later(seconds: u64) {
    tokio::time::advance(Duration::from_secs(seconds)).await;
}

fn prompt(model: &ScriptedProvider) -> String {
    last_call(model).0
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_loaded_again_after_its_time() {
    let (model, table) = (answering(), Table::of([("sales", selling("Old."))]));
    let assistant = assistant_of(&model, catalog(table.clone()), &Told::default());
    run(&assistant, "ada", "sales").await;
    table.set("ada", "sales", selling("New."));
    tokio::time::advance(TTL - Duration::from_millis(1)).await;
    run(&assistant, "ada", "sales").await;
    assert_eq!((prompt(&model), table.loads()), ("Old.".into(), 1));
    tokio::time::advance(Duration::from_millis(1)).await;
    run(&assistant, "ada", "sales").await;
    assert_eq!((prompt(&model), table.loads()), ("New.".into(), 2));

    let lists = |seconds| {
        let (assistant, table) = (assistant.clone(), table.clone());
        async move {
            later(seconds).await;
            get(&assistant, "ada", "/agents").await;
            table.lists.load(Ordering::SeqCst)
        }
    };
    assert_eq!([lists(0).await, lists(29).await, lists(1).await], [1, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn each_request_loads_its_agent_with_a_time_of_zero() {
    let (model, table) = (answering(), Table::of([("sales", selling("Old."))]));
    let assistant = assistant_of(&model, catalog(table.clone()).ttl(Duration::ZERO), &Told::default());
    run(&assistant, "ada", "sales").await;
    table.set("ada", "sales", selling("New."));
    run(&assistant, "ada", "sales").await;
    assert_eq!((prompt(&model), table.loads()), ("New.".into(), 2));
}

#[tokio::test(start_paused = true)]
async fn the_last_good_version_stays_while_a_new_one_is_bad() {
    let (model, told) = (answering(), Told::default());
    let table = Table::of([("sales", selling("Good."))]);
    let assistant = assistant_of(&model, catalog(table.clone()), &told);
    run(&assistant, "ada", "sales").await;
    let bad = json!({ "id": "sales", "description": "Sells.", "tools": ["discont"] });
    for (row, reason) in [(bad, "tools[0]"), (json!("no row"), "panicked"), (json!([1]), "invalid type")] {
        table.set("ada", "sales", row);
        later(30).await;
        assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::OK);
        assert_eq!(prompt(&model), "Good.");
        let error = told.only();
        assert!(error.contains(reason), "{error}");
    }
    table.set("ada", "sales", selling("Better."));
    later(29).await;
    run(&assistant, "ada", "sales").await;
    assert_eq!(prompt(&model), "Good.");
    later(1).await;
    run(&assistant, "ada", "sales").await;
    assert_eq!(prompt(&model), "Better.");

    // The agent of a user who may not use it any more is not kept.
    table.rows.lock().unwrap().clear();
    later(30).await;
    assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::NOT_FOUND);
    table.fail(true);
    assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test(start_paused = true)]
async fn without_a_good_version_the_agent_is_unavailable_for_a_second() {
    let (model, told, table) = (answering(), Told::default(), Table::of([("sales", selling("Good."))]));
    let assistant = assistant_of(&model, catalog(table.clone()), &told);
    table.fail(true);
    let mut request = Request::post("/api/run/sales").header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    let request = request.body(Full::<Bytes>::from(question().to_string())).unwrap();
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()[RETRY_AFTER], "1");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(body.windows(18).any(|bytes| bytes == b"agents_unavailable"), "{body:?}");
    assert!(!body.windows(5).any(|bytes| bytes == b"table"), "{body:?}");
    assert_eq!(told.only(), "the table is down");

    // The assistant itself does not need the loader.
    assert_eq!(send(&assistant, "ada", Method::POST, "/", Some(&question())).await.0, StatusCode::OK);

    table.fail(false);
    tokio::time::advance(Duration::from_millis(999)).await;
    assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::SERVICE_UNAVAILABLE);
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::OK);
    assert_eq!(table.loads(), 2);
}

/// While the loader fails, names that it was never asked for push no agent out that it returned before.
#[tokio::test(start_paused = true)]
async fn unknown_names_take_no_place_of_known_agents() {
    let (model, table) = (answering(), Table::of([("sales", selling("Good."))]));
    let assistant = assistant_of(&model, catalog(table.clone()), &Told::default());
    run(&assistant, "ada", "sales").await;
    table.fail(true);
    later(30).await;
    for name in 0..1025 {
        let ada = Principal::new("ada");
        let error = assistant.agent_for(&format!("unknown{name}"), &ada).await.unwrap_err();
        assert!(error.is_unavailable());
        tokio::time::advance(Duration::from_micros(1)).await;
    }
    assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_loader_may_take_five_seconds() {
    for (millis, status) in [(4_999, StatusCode::OK), (5_001, StatusCode::SERVICE_UNAVAILABLE)] {
        let told = Told::default();
        let mut table = Table::of([("sales", selling("Good."))]);
        table.delay = Duration::from_millis(millis);
        let assistant = assistant_of(&answering(), catalog(table), &told);
        assert_eq!(run(&assistant, "ada", "sales").await.0, status);
        if status != StatusCode::OK {
            assert!(told.only().contains("too long"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn requests_at_the_same_time_load_an_agent_once() {
    let mut table = Table::of([("sales", selling("Good."))]);
    table.delay = Duration::from_millis(50);
    let assistant = assistant_of(&answering(), catalog(table.clone()), &Told::default());
    let all = |user, agent| join_all((0..20).map(|_| run(&assistant, user, agent)).collect::<Vec<_>>());
    let statuses = |answers: Vec<(StatusCode, String)>| {
        let mut statuses: Vec<_> = answers.into_iter().map(|(status, _)| status.as_u16()).collect();
        statuses.dedup();
        statuses
    };
    // Four runs of one user at the same time are the limit.
    let answers = all("ada", "sales").await;
    assert!(answers.iter().any(|(status, _)| *status == StatusCode::OK));
    assert_eq!(table.loads(), 1);
    assert_eq!(statuses(all("bob", "sales").await), [404]);
    assert_eq!(table.loads(), 2);
    table.fail(true);
    assert_eq!(statuses(all("eve", "sales").await), [503]);
    assert_eq!(table.loads(), 3);
    // The last good version serves all while the loader fails.
    later(30).await;
    let answers = all("ada", "sales").await;
    assert!(answers.iter().all(|(status, _)| *status != StatusCode::SERVICE_UNAVAILABLE));
    assert_eq!(table.loads(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_leaves_does_not_keep_others_from_the_agent() {
    let mut table = Table::of([("sales", selling("Good."))]);
    table.delay = Duration::from_millis(50);
    let assistant = assistant_of(&answering(), catalog(table.clone()), &Told::default());
    let first = {
        let assistant = assistant.clone();
        tokio::spawn(async move { run(&assistant, "ada", "sales").await })
    };
    tokio::time::sleep(Duration::from_millis(10)).await;
    let second = {
        let assistant = assistant.clone();
        tokio::spawn(async move { run(&assistant, "ada", "sales").await })
    };
    tokio::time::sleep(Duration::from_millis(10)).await;
    first.abort();
    assert_eq!(second.await.unwrap().0, StatusCode::OK);
    assert_eq!(table.loads(), 2);
}

/// A run keeps the version of the agent that it began with.
#[tokio::test(start_paused = true)]
async fn a_run_keeps_the_version_that_it_began_with() {
    let old = json!({ "id": "sales", "description": "Sells.", "prompt": "Old.", "tools": ["change"], "delegates": ["stock"] });
    let new = json!({ "id": "sales", "description": "Sells.", "prompt": "New.", "tools": ["count"] });
    let stock = |prompt: &str| json!({ "id": "stock", "description": "Counts.", "prompt": prompt, "provider": "small" });
    let table = Table::of([("sales", old), ("stock", stock("Old stock."))]);
    let changed = table.clone();
    let change = Tool::new("change", "Changes the agent", move || {
        let (table, new) = (changed.clone(), new.clone());
        async move {
            table.set("ada", "sales", new);
            table.set(
                "ada",
                "stock",
                json!({ "id": "stock", "description": "Counts.", "prompt": "New stock." }),
            );
            tokio::time::advance(TTL).await;
            Ok::<_, ToolError>("changed")
        }
    });
    let (model, small) = (ScriptedProvider::new(), answering());
    let model = model.turn(call("change", json!({}))).turn(call("stock", json!({ "task": "Count" })));
    let model = model.turn(text("Done.")).turn(text("New answer."));
    let catalog = catalog(table).tool(change).provider("small", small.clone());
    let assistant = assistant_of(&model, catalog, &Told::default());
    run(&assistant, "ada", "sales").await;
    let tools = vec!["change".to_owned(), "stock".to_owned()];
    assert_eq!(last_call(&model), ("Old.".into(), None, tools));
    assert_eq!((model.payloads().len(), last_call(&small).0), (3, "Old stock.".into()));
    run(&assistant, "ada", "sales").await;
    assert_eq!(last_call(&model), ("New.".into(), None, vec!["count".into()]));
}

/// A run whose prompt waits does not get the prompt of another version.
#[tokio::test(start_paused = true)]
async fn the_preparation_of_a_run_has_its_version() {
    let (model, table) = (answering(), Table::of([("sales", selling("Old."))]));
    let changed = table.clone();
    let assistant = Assistant::builder(model.clone())
        .agents(catalog(table))
        .prepare(move |_: &mut omniassist_server::RunPlan| {
            let table = changed.clone();
            async move {
                table.set("ada", "sales", selling("New."));
                tokio::time::advance(TTL).await;
                Ok::<(), omniassist_server::Refusal>(())
            }
        })
        .build();
    let assistant = assistant.unwrap();
    run(&assistant, "ada", "sales").await;
    assert_eq!(prompt(&model), "Old.");
    run(&assistant, "ada", "sales").await;
    assert_eq!(prompt(&model), "New.");
}

/// Versions that are replaced are freed, although their agents ask each other and hand off.
#[tokio::test(start_paused = true)]
async fn replaced_versions_are_freed() {
    let ring = |prompt: &str| {
        json!({
            "id": "sales", "description": "Sells.",
            "nodes": [
                { "id": "sales", "type": "agent", "data": { "prompt": prompt } },
                { "id": "stock", "type": "agent", "data": { "description": "Counts." } },
            ],
            "edges": [
                { "source": "sales", "target": "stock" }, { "source": "stock", "target": "sales" },
                { "source": "stock", "target": "sales", "data": { "kind": "handoff" } },
            ],
        })
    };
    let table = Table::of([("sales", ring("Old."))]);
    let assistant = assistant_of(&answering(), catalog(table.clone()), &Told::default());
    let sales = assistant.agent_for("sales", &Principal::new("ada")).await.unwrap().unwrap();
    // A tool of this version, which is freed with it.
    let marker = Arc::new(());
    let of_tool = Arc::clone(&marker);
    let probe = Tool::new("probe", "Holds a marker", move || {
        let _ = &of_tool;
        async { Ok::<_, ToolError>("held") }
    });
    sales.tools().register(probe).unwrap();
    drop(sales);
    run(&assistant, "ada", "sales").await;
    assert_eq!(Arc::strong_count(&marker), 2);
    table.set("ada", "sales", ring("New."));
    later(31).await;
    run(&assistant, "ada", "sales").await;
    assert_eq!(Arc::strong_count(&marker), 1);
}
