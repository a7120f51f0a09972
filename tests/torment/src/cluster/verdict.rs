//! The judgement of one run, from what a client, the ledger and the store have of it.

use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;

use super::client::Client;
use super::http::Ask;
use super::log;
use crate::{agents, answers, ledger, verdict};

/// The events that are shown after each request of a client whose run has failed.
const SHOWN: usize = 3;

/// Returns the violations of a run that has ended.
pub(crate) async fn violations(client: &Client) -> Vec<String> {
    let mut found: Vec<String> = client.refused.iter().map(|refused| format!("refused: {refused}")).collect();
    let effects = ledger::take(&client.fleet.ledger, &client.name);
    // The servers die meanwhile.
    let (mut read, mut tries) = (read(client).await, 0);
    while read.is_err() && tries < 100 {
        sleep(Duration::from_millis(200)).await;
        (read, tries) = (self::read(client).await, tries + 1);
    }
    let Ok((events, messages)) = read else { return vec!["the run cannot be read".to_owned()] };
    log::check(&client.accepted, &events, &mut found);
    let calls = verdict::calls(&messages);
    let is_given_up = client.state == "interrupted";
    verdict::check_effects(&agents::by_agents(client.shape, &effects).1, &calls, is_given_up, &mut found);
    agents::check(client.shape, &messages, &effects, client.accepted.iter(), is_given_up, &mut found);
    if !is_given_up {
        if client.state != "finished" {
            found.push(format!("the run is {}", client.state));
        }
        answers::check(client.shape, &messages, &mut found);
        verdict::check_calls(client.shape, &calls, &mut found);
    }
    if !found.is_empty() {
        let kinds: Vec<_> = client.accepted.iter().map(|event| event["type"].as_str()).collect();
        let asked = client.asked.iter().map(|(had, cursor)| {
            let next: Vec<_> = kinds.iter().skip(*had).take(SHOWN).flatten().collect();
            format!("after {had} events at {cursor:?}: {next:?}")
        });
        found.push(format!("the client has asked {:#?}", asked.collect::<Vec<_>>()));
        found.push(format!("effects {effects:?}, stored {}", Value::from(messages)));
    }
    found
}

/// Returns the log of the run and the stored messages.
async fn read(client: &Client) -> std::io::Result<(Vec<Value>, Vec<Value>)> {
    let log = client.log().await?;
    let ask = Ask::get(&client.name, format!("/threads/{}/messages", client.name));
    let (status, mut body) = ask.json(client.fleet.next()).await?;
    match body["messages"].take() {
        Value::Array(messages) if status.is_success() => Ok((log, messages)),
        _ => Err(std::io::Error::other(status.to_string())),
    }
}
