//! Streams for the official clients to read: every chunk that there is, and random answers with what becomes of them.
//!
//! They are files, one JSON value a line, in the folder that `OMNIASSIST_STREAMS` names (without it, in one of cargo's).
//! `cargo xtask test clients` has them written and read: `strict.test.mjs` checks the chunks against the clients' own
//! schemas, `answers.test.mjs`, `completions.test.mjs` and `ag-ui-runs.test.mjs` have the clients put the answers
//! together.

mod answers;
mod catalogue;
mod chunks;
mod completions;

use std::io::Write;
use std::path::PathBuf;

pub(crate) fn write(name: &str, lines: &[String]) {
    let folder = std::env::var_os("OMNIASSIST_STREAMS")
        .map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streams"), PathBuf::from);
    std::fs::create_dir_all(&folder).unwrap();
    let mut file = std::io::BufWriter::new(std::fs::File::create(folder.join(name)).unwrap());
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
    file.into_inner().unwrap();
}
