use super::{bullets, compress, message};
use omniassist_core::ContextMessage;
use omniassist_core::context::ContextCompressor;
use serde_json::{Value, json};

fn events(count: usize) -> Vec<ContextMessage> {
    (1..=count).map(|n| message(n, "event", json!({"n": n}))).collect()
}

#[test]
fn the_window_keeps_the_last_twenty_messages() {
    for (given, kept, dropped, first) in
        [(19, 19, 0, 1), (20, 20, 0, 1), (21, 20, 1, 2), (1_000, 20, 980, 981)]
    {
        let compressed = ContextCompressor::new().compress(&events(given));
        let receipt = compressed.receipt();
        assert_eq!((receipt.received, receipt.kept, receipt.dropped), (given, kept, dropped), "{given}");
        let lines = bullets(&compressed);
        assert_eq!(lines.first(), Some(&format!("event: n = {first}").as_str()), "{given}");
        assert_eq!(lines.last(), Some(&format!("event: n = {given}").as_str()), "{given}");
    }
}

#[test]
fn the_size_of_the_window_can_be_set() {
    let one = ContextCompressor::new().window(1).compress(&events(3));
    assert_eq!(bullets(&one), ["event: n = 3"]);
    let none = ContextCompressor::new().window(0).compress(&events(3));
    assert!(none.block().is_none());
    assert_eq!((none.receipt().dropped, none.receipt().bytes_after), (3, 0));
}

#[test]
fn no_context_gives_no_block() {
    let compressed = ContextCompressor::new().compress(&[]);
    assert!(compressed.block().is_none() && !compressed.needs_summary());
    assert_eq!(compressed.receipt().bytes_before, 0);
}

#[test]
fn a_form_shows_at_most_64_fields() {
    for (given, more) in [(63, None), (64, None), (65, Some("+1 more")), (10_000, Some("+9936 more"))] {
        let fields: serde_json::Map<_, _> =
            (0..given).map(|n| (format!("f{n:05}"), Value::from(1))).collect();
        let compressed = compress([("form", json!({"form": "big", "fields": fields}))]);
        let line = bullets(&compressed)[0].to_owned();
        assert_eq!(line.matches(" = ").count(), given.min(64));
        match more {
            Some(more) => assert!(line.ends_with(more), "{line}"),
            None => assert!(!line.contains(" more"), "{line}"),
        }
    }
}

#[test]
fn a_long_value_is_cut_at_a_character_boundary() {
    for (text, shown, cut) in [
        ("a".repeat(512), 512, None),
        ("a".repeat(513), 512, Some("… (+1 bytes)")),
        ("é".repeat(256), 512, None),
        (format!("a{}", "é".repeat(256)), 511, Some("… (+2 bytes)")),
        (format!("{}😀", "a".repeat(509)), 509, Some("… (+4 bytes)")),
    ] {
        let compressed = compress([("note", json!(text))]);
        let expected = format!("note: \"{}\"{}", &text[..shown], cut.unwrap_or_default());
        assert_eq!(bullets(&compressed), [expected]);
    }
}

#[test]
fn nested_values_are_compact_and_cut_at_the_limit() {
    let (fits, cut) = ("x".repeat(504), "x".repeat(506));
    let nulls = format!("[{}", "null,".repeat(103));
    for (value, shown) in [
        (json!([1, true]), "[1,true]".to_owned()),
        (json!({"a": fits}), format!("{{\"a\":\"{fits}\"}}")),
        (json!({"b": 1, "a": cut}), format!("{{\"a\":\"{cut}… (more)")),
        (json!(vec![Value::Null; 100_000]), format!("{}… (more)", &nulls[..512])),
    ] {
        let compressed = compress([("event", json!({"v": value}))]);
        assert_eq!(bullets(&compressed), [format!("event: v = {shown}")]);
    }
}

#[test]
fn a_long_bullet_is_cut_at_the_limit() {
    let big = "x".repeat(400);
    let compressed =
        compress([("event", json!({"a": big, "b": big, "c": big, "d": big, "e": big, "f": big}))]);
    let line = bullets(&compressed)[0].to_owned();
    let (shown, cut) = line.split_once("… (+").expect("the bullet must be cut");
    assert_eq!(shown.len(), 2048);
    // The length of `event: `, six times `k = "…"`, and five times `, `.
    let whole = 7 + 6 * (4 + 402) + 5 * 2;
    assert_eq!(cut, format!("{} bytes)", whole - 2048));
}

#[test]
fn huge_and_deep_values_are_bounded() {
    let mut deep = json!("bottom");
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let compressed = compress([
        (
            "huge",
            json!({"text": "\u{1}".repeat(1 << 20), "list": vec![json!({"k": "v"}); 1 << 16], "slashes": "//".repeat(1 << 19)}),
        ),
        ("deep", deep),
        ("signs", json!("=%//:@".repeat(1 << 17))),
        ("addresses", json!("//a:b".repeat(1 << 17))),
    ]);
    assert!(compressed.block().unwrap().as_str().len() < 4 * 2100, "{}", compressed.receipt().bytes_after);
}

#[test]
fn the_receipt_measures_bytes() {
    let given = [message(1, "note", json!("é"))];
    let compressed = ContextCompressor::new().compress(&given);
    let receipt = compressed.receipt();
    assert_eq!(receipt.bytes_before, serde_json::to_string(&given[0]).unwrap().len());
    assert_eq!(receipt.bytes_after, compressed.block().unwrap().as_str().len());
    let json = serde_json::to_value(receipt).unwrap();
    assert_eq!(
        json,
        json!({
            "received": 1, "kept": 1, "merged": 0, "dropped": 0, "redacted": 0,
            "bytesBefore": receipt.bytes_before, "bytesAfter": receipt.bytes_after,
            "summarised": false, "summaryFailed": false,
        })
    );
}
