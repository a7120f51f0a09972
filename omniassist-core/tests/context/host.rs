//! Tests of the context of the host in addition to the context of a client.

use omniassist_core::ContextMessage;
use omniassist_core::context::ContextCompressor;
use serde_json::json;

use super::{bullets, message};

fn flags(count: usize) -> Vec<ContextMessage> {
    (0..count).map(|id| message(id, "flag", json!({ "id": id }))).collect()
}

fn notes(count: usize) -> Vec<ContextMessage> {
    (0..count).map(|id| message(id, "note", json!({ "id": id }))).collect()
}

#[test]
fn a_client_cannot_displace_the_hosts_context() {
    let compressed = ContextCompressor::new().compress_with_host(&flags(2), &notes(25));
    let bullets = bullets(&compressed);
    assert_eq!(bullets[..2], ["flag: id = 0", "flag: id = 1"]);
    assert_eq!((bullets.len(), bullets[2]), (22, "note: id = 5"));
    let receipt = compressed.receipt();
    assert_eq!((receipt.received, receipt.kept, receipt.merged, receipt.dropped), (27, 22, 0, 5));
}

#[test]
fn the_host_has_a_separate_window() {
    for (given, kept) in [(20, 20), (21, 20)] {
        let compressed = ContextCompressor::new().compress_with_host(&flags(given), &notes(20));
        assert_eq!(bullets(&compressed).len(), kept + 20, "{given}");
    }
    let compressed = ContextCompressor::new().host_window(1).compress_with_host(&flags(3), &[]);
    assert_eq!(bullets(&compressed), ["flag: id = 2"]);
}

#[test]
fn messages_of_a_client_are_not_merged_with_the_hosts() {
    let plan = |name: &str| message(0, "form", json!({"form": "plan", "fields": {"name": name}}));
    let compressed = ContextCompressor::new().compress_with_host(&[plan("free")], &[plan("enterprise")]);
    assert_eq!(bullets(&compressed), [r#"Form plan: name = "free""#, r#"Form plan: name = "enterprise""#]);
}

#[test]
fn a_summary_keeps_the_hosts_bullets() {
    let client: Vec<_> =
        (0..20).map(|id| message(id, "note", json!({"id": id, "x": "x".repeat(400)}))).collect();
    let compressed = ContextCompressor::new().compress_with_host(&flags(1), &client);
    let request = compressed.summary_request().unwrap();
    assert!(!request.block().as_str().contains("flag"), "a summariser must not receive the host's context");
    let summarised = compressed.with_summary("The user shops.");
    let block = summarised.block().unwrap().as_str();
    assert!(block.contains("\n- flag: id = 0\nSummary:\nThe user shops.\n</app_context>"), "{block}");
    assert_eq!(summarised.receipt().bytes_after, block.len());
}

#[test]
fn the_hosts_context_alone_needs_no_summary() {
    let host: Vec<_> =
        (0..20).map(|id| message(id, "note", json!({"id": id, "x": "x".repeat(400)}))).collect();
    let compressed = ContextCompressor::new().compress_with_host(&host, &flags(1));
    assert!(compressed.receipt().bytes_after > 4096 && !compressed.needs_summary());
}
