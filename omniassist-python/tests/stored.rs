//! Programs of stored runs, whose servers are killed. Each server is a process of its own on the same SQLite file.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, future};

use http::{Method, Request};
use http_body_util::BodyExt;
use omniassist_python::Python;
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Approval, Assistant, Principal};
use omniassist_sqlite::SqliteStore;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::setup::pool;
use crate::suspended::{CODE, effect, lines};

/// Names the folder of a server that is killed.
const FOLDER: &str = "OMNIASSIST_TEST_STORED";

/// Names what the server that is killed does.
const ACT: &str = "OMNIASSIST_TEST_STORED_ACT";

/// Returns a server on the file of a folder, whose model runs the program once. A payment of a server that `hangs` has its
/// effect and no end.
async fn server(folder: &Path, hangs: bool) -> Assistant {
    let effects = folder.join("effects");
    let pay = effect("pay", effects.clone(), hangs).requires_approval(Approval::always());
    let python = Python::pool(pool(1).await).functions([effect("effect", effects, false), pay]);
    let model = ScriptedProvider::new().otherwise(|payload| {
        let has_called = format!("{:?}", payload.transcript).contains("\"python\"");
        if has_called { text("Done.") } else { call("python", json!({ "code": CODE })) }
    });
    let store = SqliteStore::open(folder.join("chats.db")).unwrap();
    Assistant::builder(model).tool(python.tool("python").unwrap()).store(store).build().unwrap()
}

async fn send(server: &Assistant, method: Method, path: &str, body: &Value) -> String {
    let mut request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let response = AssistantService::new(server.clone()).handle(request.body(body).unwrap()).await;
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.into()).unwrap();
    assert!(status.is_success(), "{path}: {status} {body}");
    body
}

async fn get(server: &Assistant, path: &str) -> Value {
    serde_json::from_str(&send(server, Method::GET, path, &Value::Null).await).unwrap()
}

/// Returns the parts of the answer, as a page that reloads gets them.
async fn reload(server: &Assistant) -> String {
    get(server, "/threads/c/messages").await["messages"].to_string()
}

/// Returns the run of a folder when it does not work.
async fn at_rest(server: &Assistant, folder: &Path) -> Value {
    let path = format!("/runs/{}", fs::read_to_string(folder.join("run")).unwrap());
    let began = Instant::now();
    loop {
        let run = get(server, &path).await;
        if run["state"] != "running" {
            return run;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{run}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Answers the one call that waits.
async fn answer(server: &Assistant, folder: &Path, approved: bool) {
    let run = at_rest(server, folder).await;
    let [open] = &run["obligations"].as_array().unwrap()[..] else { panic!("{run}") };
    let (id, call) = (run["id"].as_str().unwrap(), open["callId"].as_str().unwrap());
    let path = format!("/runs/{id}/obligations/{call}");
    send(server, Method::POST, &path, &json!({ "approved": approved })).await;
}

/// Is the server that is killed, if its folder is named.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else { return };
    let server = server(&folder, true).await;
    if env::var(ACT).unwrap() == "asks" {
        let parts = json!([{ "type": "text", "text": "Pay" }]);
        let body = json!({ "id": "c", "message": { "id": "q", "role": "user", "parts": parts } });
        send(&server, Method::POST, "/", &body).await;
        let threads = get(&server, "/threads").await;
        let run = threads["threads"][0]["run"]["id"].as_str().unwrap();
        fs::write(folder.join("part"), run).unwrap();
        fs::rename(folder.join("part"), folder.join("run")).unwrap();
    } else {
        answer(&server, &folder, true).await;
    }
    future::pending::<()>().await;
}

fn start(folder: &Path, act: &str) -> Child {
    let mut server = Command::new(env::current_exe().unwrap());
    server.args(["--exact", "stored::a_server_that_is_killed"]).stdout(Stdio::null());
    server.env(FOLDER, folder).env(ACT, act).spawn().unwrap()
}

/// Kills a server with `SIGKILL` when this holds.
async fn kill_when(mut server: Child, holds: impl Fn() -> bool) {
    while !holds() {
        assert!(server.try_wait().unwrap().is_none(), "the server ended by itself");
        sleep(Duration::from_millis(5)).await;
    }
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Returns a folder whose server was killed while its program waits for the first approval.
async fn killed_while_it_waits() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    kill_when(start(folder.path(), "asks"), || run.exists()).await;
    assert_eq!(lines(&folder.path().join("effects")), ["\"look\""]);
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_program_that_waits_goes_on_after_its_server_was_killed() {
    let folder = killed_while_it_waits().await;
    let effects = folder.path().join("effects");
    let second = server(folder.path(), false).await;
    let page = reload(&second).await;
    assert!(page.contains("approval-requested") && page.contains(r#""input":{"cents":500}"#), "{page}");

    answer(&second, folder.path(), true).await;
    let run = at_rest(&second, folder.path()).await;
    assert_eq!(run["state"], "waiting", "{run}");
    assert_eq!(lines(&effects), ["\"look\"", "500"], "what was done is not repeated");
    drop(second);

    let third = server(folder.path(), false).await;
    answer(&third, folder.path(), false).await;
    let run = at_rest(&third, folder.path()).await;
    assert_eq!(run["state"], "finished", "{run}");
    assert_eq!(lines(&effects), ["\"look\"", "500"]);
    let page: Value = serde_json::from_str(&reload(&third).await).unwrap();
    let parts = page[1]["parts"].as_array().unwrap();
    let python = parts.iter().find(|part| part["type"] == "tool-python").unwrap();
    assert_eq!(python["state"], "output-available", "{python}");
    let output = &python["output"];
    assert_eq!((&output["result"], &output["error"]), (&json!(["look", 500]), &Value::Null), "{output}");
    assert_eq!(output["stdout"], "looks\nThe user denied this call; it was not run.\nends\n");
    assert!(page.to_string().contains("Done."), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_under_way_is_not_repeated_after_its_server_was_killed() {
    let folder = killed_while_it_waits().await;
    let effects = folder.path().join("effects");
    kill_when(start(folder.path(), "approves"), || lines(&effects).len() == 2).await;

    let third = server(folder.path(), false).await;
    let run = at_rest(&third, folder.path()).await;
    assert_eq!(run["state"], "finished", "{run}");
    assert_eq!(lines(&effects), ["\"look\"", "500"], "at most once");
    let page = reload(&third).await;
    assert!(page.contains("It is not known whether this took effect") && page.contains("Done."), "{page}");
}
