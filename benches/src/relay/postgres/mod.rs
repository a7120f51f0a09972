//! `postgres`: stored runs in a PostgreSQL that this program starts.

mod database;
mod elsewhere;
mod live;
mod notify;
mod writes;

use std::error::Error;

use super::options::Options;
use super::report::Line;
use super::table::say;
use database::Database;

/// The measurements, which all run if none is named.
const ALL: [&str; 4] = ["live", "elsewhere", "writes", "notify"];

/// Runs the named measurements, and prints a line for each figure.
pub(super) fn print(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let options = Options::read(arguments, &["--seconds"])?;
    if let Some(unknown) = options.names.iter().find(|name| !ALL.contains(name)) {
        return Err(format!("{unknown}: there are {ALL:?}").into());
    }
    let seconds = u64::try_from(options.number("--seconds", 10))?;
    let database = Database::start()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    say("| figure | without a store | with PostgreSQL | difference | bound | |\n|---|---|---|---|---|---|")?;
    for name in ALL.iter().filter(|name| options.names.is_empty() || options.names.contains(name)) {
        let lines: Vec<Line> = runtime.block_on(async {
            match *name {
                "live" => live::measure(&database, seconds).await,
                "elsewhere" => elsewhere::measure(&database).await,
                "writes" => writes::measure(&database, seconds).await,
                _ => notify::measure(&database, seconds).await,
            }
        })?;
        for line in lines {
            say(&line.to_string())?;
        }
    }
    Ok(())
}
