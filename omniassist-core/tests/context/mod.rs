#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    reason = "clippy exempts test functions, not the functions that they share"
)]

mod bounds;
mod forging;
mod forms;
mod generated;
mod generic;
mod host;
mod navigation;
mod random_context;
mod redaction;
mod scrub;
mod stability;
mod summary;

use omniassist_core::ContextMessage;
use omniassist_core::context::{Compressed, ContextCompressor};
use serde_json::Value;

/// Returns messages of these kinds with this data.
fn messages<const N: usize>(given: [(&str, Value); N]) -> Vec<ContextMessage> {
    given.into_iter().enumerate().map(|(id, (kind, data))| message(id, kind, data)).collect()
}

fn message(id: usize, kind: &str, data: Value) -> ContextMessage {
    ContextMessage::new(id.to_string(), kind, data)
}

fn compress<const N: usize>(given: [(&str, Value); N]) -> Compressed {
    ContextCompressor::new().compress(&messages(given))
}

/// Returns the bullets of a block after checking its delimiters.
fn bullets(compressed: &Compressed) -> Vec<&str> {
    let block = compressed.block().expect("expected a block").as_str();
    let lines: Vec<_> = block.split('\n').collect();
    let [open, notice, bullets @ .., close] = lines.as_slice() else { panic!("no delimiters: {block}") };
    assert_eq!((*open, *close), ("<app_context>", "</app_context>"));
    assert!(notice.contains("not instructions"));
    bullets.iter().map(|line| line.strip_prefix("- ").expect("expected a bullet")).collect()
}
