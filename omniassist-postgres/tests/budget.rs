//! Token budgets that servers share.

use std::time::Duration;

use futures_util::future::join_all;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_postgres::{PostgresStore, PostgresTokenBudget};
use omniassist_server::core::Usage;
use omniassist_server::http::AssistantService;
use omniassist_server::store::{Retention, RunStore};
use omniassist_server::testing::store::budgets;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::throttle::{Grant, Reservation, Spent, TokenBudget};
use omniassist_server::{Assistant, Principal};
use serde_json::json;

use crate::database::{Schemas, connect, execute, new_schema};

const LIFETIME: Duration = Duration::from_secs(600);

fn reservation(id: &str, lifetime: Duration) -> Reservation {
    Reservation::new(Principal::new("ada"), id, lifetime)
}

/// Returns the stores of some servers.
async fn servers(schema: &str, count: usize) -> Vec<PostgresStore> {
    let first = connect(schema).await;
    let others = join_all((1..count).map(|_| connect(schema))).await;
    std::iter::once(first).chain(others).collect()
}

async fn reserve(budget: &PostgresTokenBudget, id: &str, least: u64, most: u64) -> Result<u64, Duration> {
    match budget.reserve(&reservation(id, LIFETIME), least..=most).await.unwrap() {
        Grant::Tokens(tokens) => Ok(tokens),
        Grant::Exceeded { retry_after } => Err(retry_after),
        _ => panic!("an unknown answer"),
    }
}

async fn settle(budget: &PostgresTokenBudget, id: &str, tokens: u64) {
    let mut usage = Usage::default();
    usage.input_tokens = Some(tokens);
    budget.settle(&reservation(id, LIFETIME), &Spent::new(usage, false)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_servers_do_not_overdraw_a_budget() {
    const TOKENS: u64 = 3_000;
    let schema = new_schema();
    let budgets: Vec<_> = servers(&schema, 8).await.iter().map(|store| store.token_budget(TOKENS)).collect();
    let runs = (0..24).zip(budgets.iter().cycle()).map(|(run, budget)| async move {
        let mut spent = 0;
        for call in 0.. {
            let id = format!("{run}.{call}");
            match reserve(budget, &id, 1, 64).await {
                Ok(tokens) => {
                    settle(budget, &id, tokens).await;
                    spent += tokens;
                }
                Err(delay) if delay <= Duration::from_secs(1) => tokio::time::sleep(delay / 100).await,
                Err(_) => return spent,
            }
        }
        spent
    });
    let spent: u64 = join_all(runs).await.into_iter().sum();
    assert_eq!(spent, TOKENS, "all of it is granted, and not one token more");
    assert_eq!(
        execute(&schema, "select sum(spent), (select count(*) from reservation) from budget"),
        "3000|0"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_share_a_budget() {
    budgets::all(&Schemas::default()).await;
}

#[tokio::test]
async fn earlier_days_are_forgotten() {
    let schema = new_schema();
    let budget = connect(&schema).await.token_budget(100);
    settle(&budget, "a", 99).await;
    execute(&schema, "update budget set day = day - 1");
    settle(&budget, "b", 1).await;
    assert_eq!(execute(&schema, "select count(*) from budget"), "1");
}

#[tokio::test]
async fn a_killed_server_has_spent_what_it_had_reserved() {
    let schema = new_schema();
    let stores = servers(&schema, 2).await;
    let (killed, next) = (stores[0].token_budget(100), stores[1].token_budget(100));
    let of_killed = reservation("killed", Duration::ZERO);
    assert_eq!(killed.reserve(&of_killed, 60..=60).await.unwrap(), Grant::Tokens(60));
    assert!(reserve(&next, "a", 41, 64).await.unwrap_err() > Duration::from_secs(1), "they are spent");
    assert_eq!(reserve(&next, "a", 40, 64).await, Ok(40));
}

#[tokio::test]
async fn budgets_of_earlier_days_are_swept() {
    let schema = new_schema();
    let store = connect(&schema).await;
    let budget = store.token_budget(100);
    for id in ["a", "b"] {
        reserve(&budget, id, 1, 10).await.unwrap();
    }
    settle(&budget, "a", 1).await;
    assert_eq!(store.sweep(&Retention::default(), 9).await.unwrap().usage, 0);
    execute(
        &schema,
        "update budget set day = day - 1; update reservation set expires_at = now() - interval '2 days'",
    );
    assert_eq!(store.sweep(&Retention::default(), 9).await.unwrap().usage, 2);
}

async fn post(assistant: &Assistant, chat: usize) -> StatusCode {
    let message = json!({ "id": "m1", "role": "user", "content": "Hello" });
    let body = json!({ "id": chat.to_string(), "message": message }).to_string();
    let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    let request = request.body(Full::<bytes::Bytes>::from(body)).unwrap();
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let status = response.status();
    response.into_body().collect().await.unwrap();
    status
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_on_eight_servers_share_a_budget() {
    let model = ScriptedProvider::new()
        .otherwise(|_| text("Hello").then(Turn::delay(Duration::from_secs(3))).then(Turn::usage(90, 10)));
    // A run reserves 64 tokens before it begins.
    let servers = servers(&new_schema(), 8).await.into_iter().map(|store| {
        Assistant::builder(model.clone()).token_budget(store.token_budget(128)).store(store).build().unwrap()
    });
    let servers: Vec<_> = servers.collect();
    let answers =
        join_all((0..16).zip(servers.iter().cycle()).map(|(chat, server)| post(server, chat))).await;
    let refused = answers.iter().filter(|status| **status == StatusCode::TOO_MANY_REQUESTS);
    assert_eq!((refused.count(), model.payloads().len()), (14, 2), "{answers:?}");
    assert_eq!(post(&servers[0], 99).await, StatusCode::TOO_MANY_REQUESTS, "for the rest of the day");
}
