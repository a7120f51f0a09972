//! An answer that reaches two servers at the same time, and stops that reach a server that does not drive the run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::client::Client;
use super::fleet::Fleet;
use super::http::{Ask, Events};
use super::times::{Pace, Times};
use crate::child::question;
use crate::ledger;
use crate::shape::Shape;

const APPROVALS: usize = 50;
const STOPS: usize = 120;

/// The approvals that are under way at the same time.
const AT_ONCE: usize = 10;

/// The time for a run to get to its question, or to its end.
const PATIENCE: Duration = Duration::from_secs(20);

/// The latest end after a stop at another server: for stores with and without hints.
const SOON: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(500));

pub(crate) async fn run(fleet: Fleet) -> Vec<String> {
    let fleet = Arc::new(fleet);
    let mut found = Vec::new();
    let approvals = (0..APPROVALS).map(|number| approve_twice(&fleet, number));
    let outcomes: Vec<_> = stream::iter(approvals).buffered(AT_ONCE).collect().await;
    for (number, outcome) in outcomes.into_iter().enumerate() {
        found.extend(outcome.err().map(|fault| format!("approval {number}: {fault}")));
    }
    println!("{APPROVALS} approvals at two servers each");
    let (mut times, pace) = (Times::default(), Pace::start());
    for number in 0..STOPS {
        match stop_elsewhere(&fleet, number).await {
            Ok(time) => times.push(time),
            Err(fault) => found.push(format!("stop {number}: {fault}")),
        }
    }
    println!("{STOPS} stops at another server, until the server of the run has ended it: {times}");
    let soon = if fleet.database.has_hints() { SOON.0 } else { SOON.1 };
    let limit = pace.limit(soon);
    println!("the bound of p99 is {soon:?}; the limit of p50 is {limit:.1?} on a machine as busy as this");
    // A stop without its hint waits for the poll, as do all others then. The tail is the machine's.
    if times.at(50) > limit {
        found.push(format!("half of the stops take {:?} and more", times.at(50)));
    }
    fleet.stop().await;
    found
}

/// Sends one approval to two servers at the same time: as posts of the chat, and as answers to the question in turn.
async fn approve_twice(fleet: &Arc<Fleet>, number: usize) -> Result<(), String> {
    let name = format!("approval{number}");
    let mut client = Client::new(fleet, Shape::Approval, name.clone());
    client.step().await.map_err(|error| error.to_string())?;
    let run = client.run.clone().ok_or("no run")?;
    let read = |path: String| {
        let (name, fleet) = (name.clone(), Arc::clone(fleet));
        async move { Ask::get(&name, path).json(fleet.next()).await.map_err(|error| error.to_string()) }
    };
    let asked = read(format!("/runs/{run}")).await?.1;
    let call = asked["obligations"][0]["callId"].as_str().ok_or_else(|| format!("no question: {asked}"))?;
    if number.is_multiple_of(2) {
        let ask = Ask::post(&name, format!("/runs/{run}/obligations/{call}"), json!({ "approved": true }));
        let (one, two) = tokio::join!(ask.json(fleet.at(number)), ask.json(fleet.at(number + 1)));
        let answers = [one, two].map(|answer| answer.map_err(|error| error.to_string()));
        let [one, two] = answers;
        let (one, two) = (one?, two?);
        let mut statuses = [one.0, two.0];
        statuses.sort_unstable();
        if statuses != [StatusCode::OK, StatusCode::CONFLICT] {
            return Err(format!("the answers are {one:?} and {two:?}"));
        }
        let late = if one.0 == StatusCode::CONFLICT { one.1 } else { two.1 };
        if late["error"]["code"] != "already_answered" && late["code"] != "already_answered" {
            return Err(format!("the second answer does not tell that there is one: {late}"));
        }
    } else {
        let mut stored = read(format!("/threads/{name}/messages")).await?.1;
        let mut message = stored["messages"].as_array_mut().and_then(Vec::pop).ok_or("no message")?;
        approve(&mut message);
        let ask = Ask::post(&name, "/?ai-sdk=7".to_owned(), json!({ "id": name, "message": message }));
        let (one, two) = tokio::join!(outcome(&ask, fleet, number), outcome(&ask, fleet, number + 1));
        for seen in [one?, two?] {
            if !seen.contains("receipt-a-1") {
                return Err(format!("a client does not see the outcome: {seen}"));
            }
        }
    }
    timeout(PATIENCE, client.lead()).await.map_err(|_| "the run does not end")??;
    let effects = ledger::take(&fleet.ledger, &name);
    if effects.len() != 1 || client.state != "finished" {
        return Err(format!("the run is {}, with the effects {effects:?}", client.state));
    }
    Ok(())
}

/// Approves the calls of a message.
fn approve(message: &mut Value) {
    for part in message["parts"].as_array_mut().into_iter().flatten() {
        if part["state"] == "approval-requested" {
            part["state"] = "approval-responded".into();
            part["approval"]["approved"] = true.into();
        }
    }
}

/// Returns the events of an answer as text.
async fn outcome(ask: &Ask<'_>, fleet: &Fleet, server: usize) -> Result<String, String> {
    let response = ask.open(fleet.at(server)).await.map_err(|error| error.to_string())?;
    if response.status() != StatusCode::OK {
        return Err(format!("a post of the approval gets {}", response.status()));
    }
    let (mut events, mut seen) = (Events::of(response), String::new());
    while let Some(event) = events.next().await.map_err(|error| format!("{error} after {seen}"))? {
        seen.push_str(&event.data.to_string());
    }
    Ok(seen)
}

/// Stops a run at another server. Returns the time until its own server has shown the end.
async fn stop_elsewhere(fleet: &Arc<Fleet>, number: usize) -> Result<Duration, String> {
    let failed = |error: std::io::Error| error.to_string();
    let name = format!("stop{number}");
    let post = Ask::post(&name, "/?ai-sdk=7".to_owned(), question(&name, "m1", &Shape::Text.question(1)));
    let response = post.open(fleet.at(number)).await.map_err(failed)?;
    let mut events = Events::of(response);
    while events.next().await.map_err(failed)?.ok_or("no text")?.data["type"] != "text-delta" {}
    let reading = tokio::spawn(async move {
        while let Some(event) = events.next().await? {
            if event.data["type"] == "abort" {
                return Ok(Instant::now());
            }
        }
        Err(std::io::Error::other("the run was not aborted"))
    });
    sleep(Duration::from_millis(fastrand::u64(0..400))).await;
    let asked = Instant::now();
    let stop = Ask::post(&name, format!("/{name}/stop"), json!({}));
    let (status, stopped) = stop.json(fleet.at(number + 1)).await.map_err(failed)?;
    if status != StatusCode::OK || stopped["stopped"] != true {
        return Err(format!("{status} {stopped}"));
    }
    let ended =
        timeout(PATIENCE, reading).await.map_err(|_| "no end")?.map_err(|_| "a panic")?.map_err(failed)?;
    Ok(ended.saturating_duration_since(asked))
}
