//! Streams for the official clients: all chunks, and random answers with the expected result.
//!
//! They are files with one JSON value per line, in the folder `OMNIASSIST_STREAMS`, by default one of cargo's. `cargo
//! xtask test clients` writes and reads them: `strict.test.mjs` checks the chunks against the clients' own schemas.
//! `answers.test.mjs`, `replays.test.mjs`, `completions.test.mjs` and `ag-ui-runs.test.mjs` let the clients assemble the
//! answers.

mod answers;
pub(crate) mod catalogue;
mod chunks;
mod completions;
mod replays;

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
