//! Tests of the example as a process, with the demo in place of a model.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;

struct Started {
    process: Child,
    url: String,
}

impl Started {
    fn new() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_openapi"));
        command.env("OMNIASSIST_PROVIDER", "demo").env("PORT", "0").stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect("it prints its address").to_owned();
        Self { process, url }
    }

    /// Posts a question, and returns the stream of the answer.
    async fn ask(&self, question: &str) -> String {
        let body = json!({ "messages": [{ "id": "m1", "role": "user", "content": question }] });
        let answer = reqwest::Client::new().post(format!("{}/assistant", self.url)).json(&body).send().await;
        answer.unwrap().error_for_status().unwrap().text().await.unwrap()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn the_assistant_reads_from_the_service_and_asks_before_it_writes() {
    let started = Started::new();
    let stock = started.ask("Show the stock of the article lamp").await;
    assert!(stock.contains("warehouse_getStock") && stock.contains(r#""pieces":42"#), "{stock}");
    let order = started.ask("Order 3 pieces of the article lamp").await;
    assert!(order.contains("warehouse_createOrder") && order.contains("tool-approval-request"), "{order}");
    assert!(!order.contains(r#""ordered""#), "{order}");
    let manifest = reqwest::get(format!("{}/assistant/manifest.json", started.url)).await.unwrap();
    assert!(!manifest.text().await.unwrap().contains("deleteArticle"));
}
