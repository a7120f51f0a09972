//! Token budgets in a file, which several processes share.

use std::time::Duration;

use futures_util::future::join_all;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::Usage;
use omniassist_server::http::AssistantService;
use omniassist_server::store::{Retention, RunStore};
use omniassist_server::testing::store::budgets::{self, BudgetFactory};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::throttle::{Grant, Reservation, Spent, TokenBudget};
use omniassist_server::{Assistant, Principal};
use omniassist_sqlite::{SqliteStore, SqliteTokenBudget};
use rusqlite::Connection;
use serde_json::json;

use crate::folder::Folder;

const LIFETIME: Duration = Duration::from_secs(600);

fn reservation(id: &str, lifetime: Duration) -> Reservation {
    Reservation::new(Principal::new("ada"), id, lifetime)
}

async fn reserve(budget: &SqliteTokenBudget, id: &str, least: u64, most: u64) -> Result<u64, Duration> {
    match budget.reserve(&reservation(id, LIFETIME), least..=most).await.unwrap() {
        Grant::Tokens(tokens) => Ok(tokens),
        Grant::Exceeded { retry_after } => Err(retry_after),
        _ => panic!("an unknown answer"),
    }
}

async fn settle(budget: &SqliteTokenBudget, id: &str, tokens: u64) {
    let mut usage = Usage::default();
    usage.input_tokens = Some(tokens);
    budget.settle(&reservation(id, LIFETIME), &Spent::new(usage, false)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_share_a_budget() {
    budgets::all(&Folder::new()).await;
}

#[tokio::test]
async fn earlier_days_are_forgotten() {
    let folder = Folder::new();
    let [budget, _] = folder.create(100).await;
    settle(&budget, "a", 99).await;
    folder.advance(&budget, Duration::from_secs(24 * 60 * 60)).await;
    settle(&budget, "b", 1).await;
    let connection = Connection::open(folder.last()).unwrap();
    let days: u32 = connection.query_row("select count(*) from budget", [], |row| row.get(0)).unwrap();
    assert_eq!(days, 1);
}

#[tokio::test]
async fn a_killed_process_has_spent_what_it_had_reserved() {
    let folder = Folder::new();
    let [killed, next] = folder.create(100).await;
    let of_killed = reservation("killed", Duration::ZERO);
    assert_eq!(killed.reserve(&of_killed, 60..=60).await.unwrap(), Grant::Tokens(60));
    drop(killed);
    assert!(reserve(&next, "a", 41, 64).await.unwrap_err() > Duration::from_secs(1), "they are spent");
    assert_eq!(reserve(&next, "a", 40, 64).await, Ok(40));
}

#[tokio::test]
async fn budgets_of_earlier_days_are_swept() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    let budget = store.token_budget(100);
    for id in ["a", "b"] {
        reserve(&budget, id, 1, 10).await.unwrap();
    }
    settle(&budget, "a", 1).await;
    assert_eq!(store.sweep(&Retention::default(), 9).await.unwrap().usage, 0);
    let connection = Connection::open(store.path()).unwrap();
    connection
        .execute_batch("update budget set day = day - 1; update reservation set expires_at = 1;")
        .unwrap();
    assert_eq!(store.sweep(&Retention::default(), 9).await.unwrap().usage, 2);
}

async fn post(assistant: &Assistant, chat: usize) -> (StatusCode, Option<u64>, String) {
    let message = json!({ "id": "m1", "role": "user", "content": "Hello" });
    let body = json!({ "id": chat.to_string(), "message": message }).to_string();
    let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    let request = request.body(Full::<bytes::Bytes>::from(body)).unwrap();
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let delay =
        response.headers().get(header::RETRY_AFTER).map(|delay| delay.to_str().unwrap().parse().unwrap());
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, delay, String::from_utf8(body.into()).unwrap())
}

/// Returns two servers on one file, which ask the same model.
fn servers(folder: &Folder, model: &ScriptedProvider, tokens: u64) -> [Assistant; 2] {
    let path = folder.path();
    [(); 2].map(|()| {
        let store = SqliteStore::open(&path).unwrap();
        let builder = Assistant::builder(model.clone()).token_budget(store.token_budget(tokens));
        builder.store(store).build().unwrap()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_posts_share_a_budget() {
    let folder = Folder::new();
    let model = ScriptedProvider::new()
        .otherwise(|_| text("Hello").then(Turn::delay(Duration::from_millis(500))).then(Turn::usage(90, 10)));
    // A run reserves 64 tokens before it begins.
    let servers = servers(&folder, &model, 128);
    let answers = join_all((0..8).zip(servers.iter().cycle()).map(|(chat, server)| post(server, chat))).await;
    let refused = answers.iter().filter(|(status, ..)| *status == StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.count(), 6, "{answers:?}");
    assert_eq!(model.payloads().len(), 2);
    for (status, delay, body) in &answers {
        if *status == StatusCode::TOO_MANY_REQUESTS {
            assert_eq!(*delay, Some(1), "another run may give its tokens back");
            assert!(body.contains("token_budget_exceeded"), "{body}");
        }
    }
    // Both answers together have exceeded the budget, and the next one is refused for the day.
    let (status, delay, _) = post(&servers[0], 9).await;
    assert_eq!((status, model.payloads().len()), (StatusCode::TOO_MANY_REQUESTS, 2));
    assert!(delay.unwrap() > 1, "{delay:?}");
}
