//! `store`: the cost of a stored run beside one without a store, and the bounds for it.

mod commits;
mod file;
mod measures;
mod server;
mod timed;

pub(super) use server::serve;
#[cfg(feature = "postgres")]
pub(super) use timed::commits as commit_times;

use std::error::Error;

use super::options::Options;
use super::report::Line;
use super::table::say;

/// The measurements, which all run if none is named.
const ALL: [&str; 7] = ["tokens", "first", "resume", "rows", "commits", "size", "replay"];

/// Runs the named measurements, and prints a line for each figure.
pub(super) fn print(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let options = Options::read(arguments, &["--repeat"])?;
    if let Some(unknown) = options.names.iter().find(|name| !ALL.contains(name)) {
        return Err(format!("{unknown}: there are {ALL:?}").into());
    }
    let repeat = options.number("--repeat", 3);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    say("| figure | without a store | with SQLite | difference | bound | |\n|---|---|---|---|---|---|")?;
    for name in ALL.iter().filter(|name| options.names.is_empty() || options.names.contains(name)) {
        let lines: Vec<Line> = runtime.block_on(async {
            match *name {
                "tokens" => measures::tokens(repeat).await,
                "first" => measures::first(repeat).await,
                "resume" => measures::resume().await,
                "rows" => measures::rows().await,
                "commits" => commits::measure().await,
                "size" => measures::size().await,
                _ => measures::replay().await,
            }
        })?;
        for line in lines {
            say(&line.to_string())?;
        }
    }
    Ok(())
}
