//! The compressor with random context. The same cases are read by the compressor in TypeScript.

use std::env;
use std::fs::File;
use std::io::{BufWriter, Write};

use fastrand::Rng;
use omniassist_core::ContextMessage;
use omniassist_core::context::{Compressed, ContextCompressor};
use serde_json::json;

use super::random_context::{Settings, context, settings};

/// The number of cases for the tests in `widget/`, and without them.
const CASES: [usize; 2] = [100_000, 5_000];
const SEED: u64 = 18;

/// The variable that names the file for the tests in `widget/`. Each line is a case.
const VECTORS: &str = "OMNIASSIST_CONTEXT_VECTORS";

#[test]
fn every_random_context_gives_a_closed_block() {
    let mut random = Rng::with_seed(SEED);
    let mut file = env::var_os(VECTORS).map(|path| BufWriter::new(File::create(path).unwrap()));
    let cases = CASES[usize::from(file.is_none())];
    let (mut redacted, mut over) = (0, 0);
    for _ in 0..cases {
        let context = context(&mut random);
        let settings = settings(&mut random, &context);
        let compressed = settings.compressor().compress(&context);
        assert_closed(&compressed);
        redacted += usize::from(compressed.receipt().redacted > 0);
        over += usize::from(compressed.needs_summary());
        if let Some(file) = &mut file {
            let case = json!({
                "messages": context,
                "options": settings.to_json(),
                "block": compressed.block().map_or("", |block| block.as_str()),
                "needsSummary": compressed.needs_summary(),
                "receipt": compressed.receipt(),
            });
            writeln!(file, "{case}").unwrap();
        }
    }
    assert!((cases / 4..cases * 3 / 4).contains(&redacted), "{redacted}");
    assert!((cases / 50..cases / 4).contains(&over), "{over}");
    file.map_or(Ok(()), |mut file| file.flush()).unwrap();
}

/// A block has no `<` but those of its delimiters, and its receipt counts every message.
fn assert_closed(compressed: &Compressed) {
    let receipt = compressed.receipt();
    assert_eq!(receipt.received, receipt.kept + receipt.merged + receipt.dropped);
    let Some(block) = compressed.block() else { return assert_eq!(receipt.bytes_after, 0) };
    let block = block.as_str();
    assert_eq!(block.len(), receipt.bytes_after);
    assert!(block.starts_with("<app_context>\n") && block.ends_with("\n</app_context>"));
    assert_eq!(block.matches('<').count(), 2, "{block}");
}

impl Settings {
    fn compressor(&self) -> ContextCompressor {
        ContextCompressor::new()
            .window(self.window)
            .max_bytes(self.max_bytes)
            .redact(&self.redact)
            .template("template", |message: &ContextMessage| {
                Some(message.data.get("line")?.as_str()?.to_owned())
            })
    }
}
