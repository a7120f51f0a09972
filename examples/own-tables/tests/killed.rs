//! A server that is killed after it has saved an answer in the tables, and before it has stored the end of the run.

use std::future::pending;
use std::io::{BufRead as _, BufReader, Write as _, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, thread};

use http_body_util::BodyExt as _;
use omniassist_axum::http::AssistantService;
use omniassist_axum::store::{
    Change, Conversation, ConversationStore, Delete, Deleted, Listing, Page, RunState, RunStore as _, Saved,
    Scope, StoreFuture, Which, Window,
};
use omniassist_axum::testing::{ScriptedProvider, Turn, call, text};
use omniassist_axum::tool::{Tool, ToolError};
use omniassist_axum::{Approval, Assistant, Principal, SqliteStore};
use own_tables::OwnTables;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// The variable with the folder of the databases, for the process that is killed.
const FOLDER: &str = "OWN_TABLES_FOLDER";

/// The line that the process writes when it can be killed.
const SAVED: &str = "the answer is saved";

/// Tables of a server that does nothing more after it has saved the last text, `end`.
struct Last(OwnTables);

impl ConversationStore for Last {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        self.0.load(scope, chat, window)
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        Box::pin(async move {
            let saved = self.0.save(scope, chat, change).await?;
            let ends = |body: &[u8]| String::from_utf8_lossy(body).contains(r#""text":"end""#);
            if change.messages.iter().any(|message| ends(&message.body)) {
                writeln!(stdout(), "{SAVED}").expect("the parent reads");
                pending::<()>().await;
            }
            Ok(saved)
        })
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        self.0.list(scope, page)
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        self.0.delete(scope, what)
    }
}

fn runs(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder.join("runs.db")).expect("the file of the runs")
}

fn desk(folder: &Path) -> OwnTables {
    OwnTables::open(folder.join("desk.db")).expect("the tables")
}

/// Returns a server whose tool waits for an approval.
fn server(folder: &Path, desk: impl ConversationStore, model: ScriptedProvider) -> Assistant {
    let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("done") });
    let builder = Assistant::builder(model).tool(refund.requires_approval(Approval::always()));
    builder.store(runs(folder)).conversations(desk).build().expect("an assistant")
}

async fn post(assistant: &Assistant, body: &Value) {
    let request = http::Request::post("/").header("content-type", "application/json");
    let request = request.extension(Principal::new("ann")).body(body.to_string()).expect("a request");
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    assert_eq!(response.status(), http::StatusCode::OK);
    response.into_body().collect().await.expect("an answer");
}

fn question(chat: &str, text: &str) -> Value {
    json!({"id": chat, "message": {"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]}})
}

/// Returns the messages of the chat in the tables.
async fn messages(folder: &Path) -> Vec<Value> {
    let stored = desk(folder).load(&Scope::new("ann"), "c", &Window::default()).await;
    let messages = stored.expect("the tables are there").expect("a conversation").messages;
    messages.iter().map(|message| serde_json::from_slice(&message.body).expect("JSON")).collect()
}

fn said(message: &Value) -> String {
    let parts = message["parts"].as_array().expect("parts");
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

async fn state(folder: &Path) -> RunState {
    let run = runs(folder).find(&Scope::new("ann"), Which::Chat("c")).await;
    run.expect("the file is there").expect("a run").state
}

#[test]
fn the_text_of_a_killed_server_is_not_doubled() {
    if let Some(folder) = env::var_os(FOLDER) {
        return approve_and_never_end(Path::new(&folder));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let runtime = || Runtime::new().expect("a runtime");

    runtime().block_on(async {
        let model = ScriptedProvider::new().turn(Turn::text("A moment. ").then(call("refund", json!({}))));
        let assistant = server(folder, desk(folder), model);
        post(&assistant, &question("c", "Refund it")).await;
        assistant.shutdown().await;
        assert_eq!(state(folder).await, RunState::Waiting);
    });

    let mut killed = Command::new(env::current_exe().expect("this program"))
        .args(["--exact", "killed::the_text_of_a_killed_server_is_not_doubled", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut output = BufReader::new(killed.stdout.take().expect("its output")).lines().map_while(Result::ok);
    let mut before = Vec::new();
    let is_saved = output.any(|line| {
        let is_it = line.contains(SAVED);
        before.push(line);
        is_it
    });
    killed.kill().expect("it was started");
    killed.wait().expect("it ends");
    assert!(is_saved, "{before:?}");

    runtime().block_on(async {
        assert_eq!(
            messages(folder).await.iter().map(said).collect::<Vec<_>>(),
            ["Refund it", "A moment. First end"]
        );
        assert_eq!(state(folder).await, RunState::Running);
        let assistant = server(folder, desk(folder), ScriptedProvider::new().otherwise(|_| text("Second")));
        post(&assistant, &question("other", "Hello")).await;
        while state(folder).await == RunState::Running {
            thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(state(folder).await, RunState::Finished);
        assert_eq!(
            messages(folder).await.iter().map(said).collect::<Vec<_>>(),
            ["Refund it", "A moment. Second"]
        );
    });
}

/// Approves in a process of its own, which is killed.
fn approve_and_never_end(folder: &Path) {
    Runtime::new().expect("a runtime").block_on(async {
        let mut answer = messages(folder).await.pop().expect("an answer");
        for part in answer.get_mut("parts").and_then(Value::as_array_mut).expect("parts") {
            if part.get("state").is_some_and(|state| state == "approval-requested") {
                part.as_object_mut().expect("a part").insert("state".to_owned(), "approval-responded".into());
                let approval = part.get_mut("approval").and_then(Value::as_object_mut).expect("an approval");
                approval.insert("approved".to_owned(), true.into());
            }
        }
        let model = Turn::text("First ").then(Turn::delay(Duration::from_millis(500))).then(text("end"));
        let assistant = server(folder, Last(desk(folder)), ScriptedProvider::new().turn(model));
        post(&assistant, &json!({"id": "c", "message": answer})).await;
    });
}
