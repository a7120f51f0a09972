//! `disconnects`: the time from a client's disconnect to the end of its run.
//!
//! The provider, the server and the client run in one process, so that they share a clock. They use real sockets.

mod phase;
mod provider;
mod run;

use std::error::Error;
use std::net::TcpListener;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::hosts::Adapter;
use super::options::Options;
use super::table::say;
use phase::Phase;
use provider::Seen;
use run::{Left, PATIENCE, Stage};

/// A time longer than the provider's `retry-after`.
const REPEAT: Duration = Duration::from_millis(2500);

/// Measures the named adapters, or all adapters if none is named.
///
/// # Errors
///
/// Fails if a run outlives its client by ten seconds, or if a request reaches the provider after a run has ended.
pub(super) fn print(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let options = Options::read(arguments, &["--runs"])?;
    let (adapters, runs) = (Adapter::named(&options.names)?, options.number("--runs", 200));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    say(&format!(
        "\nFrom the client's close, {runs} runs each, in ms: p50 / p99 / most\n\n\
         | adapter | phase | provider's connection closed | tool's token fired | run ended |\n|---|---|---|---|---|"
    ))?;
    let mut failures = Vec::new();
    for adapter in adapters {
        runtime.block_on(async {
            let mut stage = Stage::new().await?;
            let listener = TcpListener::bind(("127.0.0.1", 0))?;
            let address = listener.local_addr()?;
            let assistant = stage.assistant()?;
            // The thread serves until the process ends.
            std::thread::spawn(move || adapter.serve(listener, assistant).map_err(|error| error.to_string()));
            for phase in Phase::ALL {
                let mut left = Vec::new();
                for number in 0..runs {
                    match stage.leave(address, phase).await {
                        Ok(times) => left.push(times),
                        Err(error) => {
                            failures.push(format!(
                                "{}, {}, run {number}: {error}",
                                adapter.name(),
                                phase.name()
                            ));
                        }
                    }
                }
                failures.extend(
                    asked_again(&mut stage, phase)
                        .await
                        .map(|error| format!("{}, {}: {error}", adapter.name(), phase.name())),
                );
                say(&row(adapter, phase, &left))?;
            }
            Ok::<_, Box<dyn Error>>(())
        })?;
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
}

/// Returns an error if the provider received a request after the runs had ended. A request that was under way when its
/// client left is accepted if its connection was closed.
async fn asked_again(stage: &mut Stage, phase: Phase) -> Option<String> {
    sleep(REPEAT).await;
    let mut open = 0_usize;
    while let Ok(seen) = stage.seen.try_recv() {
        match seen {
            Seen::Asked { again: true } if phase == Phase::Steps => open += 1,
            Seen::Asked { .. } => return Some("the provider was asked after the run had ended".to_owned()),
            Seen::Gone { .. } => open = open.saturating_sub(1),
        }
    }
    for _ in 0..open {
        if !matches!(timeout(PATIENCE, stage.seen.recv()).await, Ok(Some(Seen::Gone { .. }))) {
            return Some("the provider's connection stayed open".to_owned());
        }
    }
    None
}

fn row(adapter: Adapter, phase: Phase, left: &[Left]) -> String {
    let column = |time: fn(&Left) -> Option<Duration>| {
        let mut times: Vec<Duration> = left.iter().filter_map(time).collect();
        times.sort_unstable();
        let at = |percent: usize| {
            let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
            times.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1000.0)
        };
        match times.len() {
            0 => "–".to_owned(),
            all if all == left.len() => format!("{:.2} / {:.2} / {:.2}", at(50), at(99), at(100)),
            some => format!("{:.2} / {:.2} / {:.2} ({some} of {})", at(50), at(99), at(100), left.len()),
        }
    };
    let columns = [column(|left| left.closed), column(|left| left.fired), column(|left| Some(left.ended))];
    format!("| {} | {} | {} |", adapter.name(), phase.name(), columns.join(" | "))
}
