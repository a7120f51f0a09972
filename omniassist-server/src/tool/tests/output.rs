use std::collections::HashMap;

use omniassist_core::JsonText;
use serde::Serialize;
use serde_json::{Value, json};

use super::Bench;
use crate::tool::output::{OutputLimits, cap_text};
use crate::tool::{Tool, ToolError};

fn to_json<T: Serialize + ?Sized>(value: &T, max_bytes: usize) -> Result<JsonText, serde_json::Error> {
    crate::tool::output::to_json(value, OutputLimits::new(max_bytes, 64))
}

const NOTE: &str = "… [cut off: the output is longer than 100 bytes]";

#[test]
fn an_output_of_the_limit_is_kept_and_one_byte_more_is_cut() {
    for (fill, content_at_limit) in [("x", 98), ("é", 49), ("\"", 49), ("\n", 49), ("\u{1}", 16)] {
        let fits = fill.repeat(content_at_limit);
        let json = to_json(&fits, 100).unwrap();
        assert_eq!(json.to_str_value().unwrap(), fits, "{fill:?}");
        assert!(json.as_str().len() <= 100);

        let cut = to_json(&fill.repeat(content_at_limit + 1), 100).unwrap();
        let text = cut.to_str_value().unwrap();
        let kept = text.strip_suffix(NOTE).unwrap_or_else(|| panic!("{fill:?}: {text}"));
        assert!(!kept.is_empty() && kept.replace(fill, "").is_empty(), "{fill:?}: {kept}");
        assert!(cut.as_str().len() <= 100, "{fill:?}: {}", cut.as_str().len());
    }
}

#[test]
fn other_values_are_cut_into_a_string_of_their_json() {
    let list: Vec<u32> = (0..100).collect();
    let cut = to_json(&list, 100).unwrap();
    let text = cut.to_str_value().unwrap();
    assert!(text.starts_with("[0,1,2,3,") && text.ends_with(NOTE), "{text}");
    assert!(cut.as_str().len() <= 100);

    let words = json!({"a": "é\"é\"".repeat(40)});
    for limit in 60..140 {
        let cut = to_json(&words, limit).unwrap();
        assert!(cut.as_str().len() <= limit.max(60), "{limit}: {cut}");
        assert!(cut.to_str_value().is_some());
    }
}

#[test]
fn a_limit_below_the_notes_length_leaves_the_note() {
    let text = to_json("a long text", 1).unwrap().to_str_value().unwrap();
    assert_eq!(text, "… [cut off: the output is longer than 1 bytes]");
}

#[test]
fn texts_are_cut_between_characters() {
    let text = "é".repeat(100);
    let cut = cap_text(&text, 100);
    assert!(cut.len() <= 100 && cut.starts_with('é') && cut.ends_with(NOTE), "{cut}");
}

#[tokio::test]
async fn the_tools_own_limit_counts() {
    let tool = |n: usize| {
        Tool::new("t", "d", move || async move { Ok::<_, ToolError>("x".repeat(n)) }).max_output_bytes(100)
    };
    assert_eq!(Bench::new().call(tool(98), "{}").await.unwrap(), format!("\"{}\"", "x".repeat(98)));
    assert!(Bench::new().call(tool(99), "{}").await.unwrap().contains("cut off"));

    let mut bench = Bench::new();
    bench.limits.max_tool_output_bytes = 100;
    let tool = Tool::new("t", "d", async || Ok::<_, ToolError>("x".repeat(99)));
    assert!(bench.call(tool, "{}").await.unwrap().contains("cut off"));
}

#[tokio::test]
async fn error_texts_are_limited_too() {
    let tool =
        Tool::new("t", "d", async || Err::<(), _>(ToolError::new("x".repeat(1_000)))).max_output_bytes(100);
    let error = Bench::new().call(tool, "{}").await.unwrap_err();
    assert!(error.text().len() <= 100 && error.text().ends_with(NOTE), "{error}");
}

#[tokio::test]
async fn what_has_no_json_form_is_an_error() {
    let tool = Tool::new("t", "d", async || Ok::<_, ToolError>(HashMap::from([(vec![1_u8], 1)])));
    let error = Bench::new().call(tool, "{}").await.unwrap_err();
    assert_eq!(error.text(), "The tool's output cannot be written as JSON.");
    assert!(error.source().unwrap().to_string().contains("key must be a string"));
}

#[test]
fn an_output_never_spans_lines() {
    let raw = serde_json::value::RawValue::from_string("{\n\"a\": 1\r\n}".to_owned()).unwrap();
    assert_eq!(to_json(&raw, 100).unwrap().as_str(), r#"{"a":1}"#);
}

#[test]
fn a_string_is_cut_between_its_escapes() {
    let raw = |text: &str| serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
    for fill in ["\\ud83d\\ude00", "\\u00e9", "\\\"", "\\n", "é", "😀"] {
        let text = fill.repeat(100);
        for limit in 70..100 {
            let cut = to_json(&raw(&format!("\"{text}\"")), limit).unwrap();
            let shown = cut.to_str_value().unwrap();
            let (kept, _) = shown.split_once('…').unwrap();
            let whole: String = serde_json::from_str(&format!("\"{text}\"")).unwrap();
            assert!(whole.starts_with(kept) && !kept.is_empty(), "{fill} {limit}: {cut}");
            assert!(cut.as_str().len() <= limit, "{fill} {limit}: {cut}");
        }
    }
}

/// A value of this many levels.
fn nested(levels: usize) -> Value {
    (0..levels)
        .fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "[": inner }) })
}

#[tokio::test]
async fn an_output_too_deep_to_be_posted_back_is_a_tool_error() {
    let tool = |levels: usize| Tool::new("t", "d", move || async move { Ok::<_, ToolError>(nested(levels)) });
    // 64 levels of a request's body less those around an output.
    assert!(Bench::new().call(tool(57), "{}").await.is_ok());
    let error = Bench::new().call(tool(58), "{}").await.unwrap_err();
    assert_eq!(error.text(), "The tool's output cannot be written as JSON.");
    assert!(error.source().unwrap().to_string().contains("more than 57 levels"), "{error:?}");
}
