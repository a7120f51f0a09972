//! Tests of lists of loaded agents, and of requests that load none.

use super::*;
use crate::tools::log::logged;

const LISTS: [&str; 4] = ["/agents", "/manifest.json", "/v1/models", "/copilotkit/info"];

fn sales() -> Value {
    json!({ "id": "sales", "description": "Sells." })
}

fn with_clerk(table: &Table) -> Assistant {
    let clerk = Agent::new("clerk", "Looks things up.");
    Assistant::builder(answering()).agent(clerk).agents(catalog(table.clone())).build().unwrap()
}

/// Lists have the agents of code while the loader fails, and those that it has listed before.
#[tokio::test(start_paused = true)]
async fn lists_stay_while_the_loader_fails() {
    let table = Table::of([("sales", sales())]);
    let assistant = with_clerk(&table);
    table.fail(true);
    for (is_down, has_sales) in [(true, false), (false, true), (true, true)] {
        table.fail(is_down);
        tokio::time::advance(TTL).await;
        for path in LISTS {
            let listed = get(&assistant, "ada", path).await.to_string();
            assert!(listed.contains("clerk"), "{path}: {listed}");
            assert_eq!(listed.contains("sales"), has_sales, "{path}: {listed}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_loader_is_logged_once() {
    let table = Table::of([("sales", sales())]);
    let assistant = with_clerk(&table);
    let log = logged(async {
        for _ in 0..2 {
            table.fail(true);
            for name in ["sales", "unknown", "other"] {
                get(&assistant, "ada", "/agents").await;
                assert_eq!(run(&assistant, "ada", name).await.0, StatusCode::SERVICE_UNAVAILABLE);
            }
            table.fail(false);
            tokio::time::advance(Duration::from_secs(2)).await;
            assert_eq!(run(&assistant, "ada", "nobody").await.0, StatusCode::NOT_FOUND);
        }
    })
    .await;
    assert_eq!(log.matches("the table is down").count(), 2, "{log}");
}

#[tokio::test]
async fn a_request_of_no_route_or_method_loads_no_agent() {
    let table = Table::of([("sales", sales())]);
    let assistant = with_clerk(&table);
    for (method, path, status) in [
        (Method::POST, "/agents/sales/nothing/here", StatusCode::NOT_FOUND),
        (Method::GET, "/agents/sales", StatusCode::METHOD_NOT_ALLOWED),
        (Method::GET, "/api/run/sales", StatusCode::METHOD_NOT_ALLOWED),
        (Method::POST, "/agents/sales/manifest.json", StatusCode::METHOD_NOT_ALLOWED),
        // Not a request for a WebSocket.
        (Method::GET, "/ws?agent=sales", StatusCode::UPGRADE_REQUIRED),
    ] {
        for user in ["ada", "bob"] {
            assert_eq!(send(&assistant, user, method.clone(), path, None).await.0, status, "{path}");
        }
    }
    assert_eq!(table.loads(), 0);
    assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::OK);
    assert_eq!(table.loads(), 1);
}
