//! The cost of many tools: their registration, the start of a run, and a search.

use std::error::Error;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use omniassist_core::{Limits, RunRequest};
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::tool::{StateMap, Tools};
use omniassist_server::{Assistant, RunContext, Tool, ToolError};
use tokio::runtime::Builder;

const COUNTS: [usize; 4] = [10, 1_000, 5_000, 10_000];

/// The number of runs, and of searches, of which the median counts.
const ROUNDS: usize = 101;

const VERBS: [&str; 10] =
    ["list", "get", "create", "update", "delete", "archive", "export", "approve", "assign", "search"];

const NOUNS: [&str; 20] = [
    "invoice",
    "order",
    "customer",
    "ticket",
    "shipment",
    "project",
    "repository",
    "branch",
    "webhook",
    "budget",
    "meeting",
    "device",
    "release",
    "secret",
    "deployment",
    "license",
    "dashboard",
    "incident",
    "backup",
    "survey",
];

const QUERIES: [&str; 5] = [
    "give customer 7 her money back for the order of the last week",
    "which invoices of the sales region are not paid yet",
    "add Anna to the project in region 12",
    "delete the old backup",
    "show me all open incidents and who is responsible for them",
];

fn tool(index: usize) -> Tool {
    let verb = VERBS.get(index % 10).copied().unwrap_or_default();
    let noun = NOUNS.get(index / 10 % 20).copied().unwrap_or_default();
    let area = index / 200;
    let about = format!(
        "Works on each {noun} of region {area}: {verb}. It needs the permission {noun}:{verb}. The answer is divided into \
         pieces, of which each has at most one hundred entries. Requests in quick succession are refused for a minute."
    );
    Tool::new(format!("{verb}_{noun}_region{area}"), about, async || Ok::<_, ToolError>("done"))
}

/// Returns the median time.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
}

/// Returns the median time of a run whose model answers with one word, in microseconds.
fn run(count: usize, is_conditional: bool) -> Result<f64, Box<dyn Error>> {
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let seen = |tool: Tool| if is_conditional { tool.visible_to(|_: &RunContext| true) } else { tool };
    let tools = (0..count).map(tool).map(seen);
    let assistant = tools.fold(Assistant::builder(model), |builder, tool| builder.tool(tool)).build()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        runtime.block_on(assistant.run(RunRequest::prompt("Hello")).text())?;
        times.push(start.elapsed());
    }
    Ok(median(times))
}

/// Prints the times for numbers of tools.
pub(crate) fn print() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout();
    writeln!(
        out,
        "{:>8} {:>16} {:>12} {:>20} {:>14} {:>12}",
        "tools", "register (µs)", "run (µs)", "run, visible_to (µs)", "index (ms)", "search (µs)"
    )?;
    for count in COUNTS {
        let registry = Tools::new(StateMap::new(), Limits::default());
        let tools: Vec<Tool> = (0..count).map(tool).collect();
        let start = Instant::now();
        for tool in tools {
            registry.register(tool)?;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
        let each = start.elapsed().as_secs_f64() * 1e6 / count as f64;
        let snapshot = registry.snapshot();
        let start = Instant::now();
        let found = snapshot.search("order").len();
        let first = start.elapsed().as_secs_f64() * 1e3;
        let mut times = Vec::with_capacity(ROUNDS);
        for query in QUERIES.iter().cycle().take(ROUNDS) {
            let start = Instant::now();
            if snapshot.search(query).is_empty() && found > 0 && count >= 1_000 {
                return Err(format!("nothing is found for {query:?}").into());
            }
            times.push(start.elapsed());
        }
        let (run, conditional, search) = (run(count, false)?, run(count, true)?, median(times));
        writeln!(
            out,
            "{count:>8} {each:>16.1} {run:>12.0} {conditional:>20.0} {first:>14.1} {search:>12.0}"
        )?;
    }
    Ok(())
}
