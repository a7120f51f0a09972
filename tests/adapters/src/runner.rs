//! Runs every case over every transport, several at a time, and prints the results.

use std::collections::BTreeMap;
use std::panic;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::corpus;
use crate::table::{CASES, CaseFuture};
use crate::transport::Transport;

/// The number of cases that run at the same time. They mostly wait.
const AT_ONCE: usize = 8;

/// The time limit of a case.
const LONGEST: Duration = Duration::from_secs(180);

tokio::task_local! {
    /// The name of the case in this task, for the message of a panic.
    static RUNNING: String;
}

/// The reason of a failed case; `None` if it passed.
type Failure = Option<String>;

/// The results of a case over each transport; `None` if it was not selected.
type Outcomes = [Option<Failure>; Transport::ALL.len()];

pub(crate) fn main(arguments: &[String]) -> ExitCode {
    let words: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        for name in names() {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let of_panics = panic::take_hook();
    panic::set_hook(Box::new(move |told| {
        let _ = RUNNING.try_with(|running| eprintln!("in {running}:"));
        of_panics(told);
    }));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let started = Instant::now();
    let results = runtime.block_on(run(&words));
    // Tasks that cases have left behind are dropped.
    runtime.shutdown_background();
    report(&results, started.elapsed())
}

fn names() -> Vec<String> {
    let cases = CASES.iter().map(|case| case.name.to_owned());
    let mut names: Vec<_> = cases.chain(corpus::entries().iter().map(|entry| entry.name())).collect();
    names.sort_unstable();
    names
}

/// Returns `true` if a case is selected: all words are in its name or its transport's.
fn is_wanted(words: &[&str], name: &str, transport: Transport) -> bool {
    let full = format!("{name} {transport}");
    words.iter().all(|word| full.contains(word))
}

async fn run(words: &[&str]) -> BTreeMap<String, Outcomes> {
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    let mut spawn = |name: String, transport: Transport, case: CaseFuture| {
        let permits = Arc::clone(&permits);
        running.spawn(async move {
            let _permit = permits.acquire_owned().await.unwrap();
            let running = format!("{name} over {transport}");
            let task = tokio::spawn(RUNNING.scope(running, timeout(LONGEST, case)));
            let failure = match task.await {
                Ok(Ok(())) => None,
                Ok(Err(_)) => Some("the case takes too long".to_owned()),
                Err(failed) => Some(words_of(failed)),
            };
            (name, transport, failure)
        });
    };
    for case in CASES {
        for transport in Transport::ALL {
            if is_wanted(words, case.name, transport) {
                spawn(case.name.to_owned(), transport, (case.run)(transport));
            }
        }
    }
    for entry in corpus::entries() {
        for transport in Transport::ALL {
            if is_wanted(words, &entry.name(), transport) {
                spawn(entry.name(), transport, Box::pin(entry.clone().compare(transport)));
            }
        }
    }
    let mut results: BTreeMap<String, Outcomes> = BTreeMap::new();
    while let Some(done) = running.join_next().await {
        let (name, transport, failure) = done.unwrap();
        results.entry(name).or_default()[transport as usize] = Some(failure);
    }
    results
}

fn words_of(failed: tokio::task::JoinError) -> String {
    let Ok(payload) = failed.try_into_panic() else { return "the case was aborted".to_owned() };
    let words = payload.downcast_ref::<String>().cloned();
    words.or_else(|| payload.downcast_ref::<&str>().map(|words| (*words).to_owned())).unwrap_or_default()
}

fn report(results: &BTreeMap<String, Outcomes>, took: Duration) -> ExitCode {
    let width = results.keys().map(String::len).max().unwrap_or_default();
    print!("{:width$}", "");
    for transport in Transport::ALL {
        print!("  {transport:<11}");
    }
    println!();
    let mut failures = Vec::new();
    let mut counts = [0; Transport::ALL.len()];
    for (name, outcomes) in results {
        print!("{name:width$}");
        for (transport, outcome) in Transport::ALL.into_iter().zip(outcomes) {
            let mark = match outcome {
                None => "-",
                Some(None) => "ok",
                Some(Some(words)) => {
                    failures.push(format!("{name} over {transport}: {words}"));
                    "FAILED"
                }
            };
            counts[transport as usize] += usize::from(matches!(outcome, Some(None)));
            print!("  {mark:<11}");
        }
        println!();
    }
    print!("{:width$}", format!("passed, of {}", results.len()));
    for count in counts {
        print!("  {count:<11}");
    }
    println!("\n");
    for failure in &failures {
        println!("{failure}");
    }
    let comparisons = results.keys().filter(|name| name.starts_with(corpus::PREFIX)).count();
    println!(
        "{} cases and {comparisons} comparisons of bytes over {} transports in {:.1} s; {} failed",
        results.len() - comparisons,
        Transport::ALL.len(),
        took.as_secs_f64(),
        failures.len()
    );
    if results.is_empty() {
        println!("no case has such a name");
    }
    if failures.is_empty() && !results.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
