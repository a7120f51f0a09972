use std::collections::HashMap;

use omniassist_server::core::JsonText;
use serde::Serialize;
use serde_json::{Value, json};

use super::Bench;
use omniassist_server::tool::{Tool, ToolError};

/// Returns the output of a tool that returns this value and has this limit.
async fn output<T: Serialize + Clone + Send + Sync + 'static>(value: T, max_bytes: usize) -> JsonText {
    let tool = Tool::new("t", "d", move || std::future::ready(Ok::<_, ToolError>(value.clone())));
    let output = Bench::new().call(tool.max_output_bytes(max_bytes), "{}").await;
    JsonText::parse(output.unwrap()).unwrap()
}

const NOTE: &str = "… [cut off: the output is longer than 100 bytes]";

#[tokio::test]
async fn an_output_is_cut_one_byte_above_the_limit() {
    for (fill, content_at_limit) in [("x", 98), ("é", 49), ("\"", 49), ("\n", 49), ("\u{1}", 16)] {
        let fits = fill.repeat(content_at_limit);
        let json = output(fits.clone(), 100).await;
        assert_eq!(json.to_str_value().unwrap(), fits, "{fill:?}");
        assert!(json.as_str().len() <= 100);

        let cut = output(fill.repeat(content_at_limit + 1), 100).await;
        let text = cut.to_str_value().unwrap();
        let kept = text.strip_suffix(NOTE).unwrap_or_else(|| panic!("{fill:?}: {text}"));
        assert!(!kept.is_empty() && kept.replace(fill, "").is_empty(), "{fill:?}: {kept}");
        assert!(cut.as_str().len() <= 100, "{fill:?}: {}", cut.as_str().len());
    }
}

#[tokio::test]
async fn long_values_become_a_string_of_their_truncated_json() {
    let list: Vec<u32> = (0..100).collect();
    let cut = output(list, 100).await;
    let text = cut.to_str_value().unwrap();
    assert!(text.starts_with("[0,1,2,3,") && text.ends_with(NOTE), "{text}");
    assert!(cut.as_str().len() <= 100);

    let words = json!({"a": "é\"é\"".repeat(40)});
    for limit in 60..140 {
        let cut = output(words.clone(), limit).await;
        assert!(cut.as_str().len() <= limit.max(60), "{limit}: {cut}");
        assert!(cut.to_str_value().is_some());
    }
}

#[tokio::test]
async fn a_limit_below_the_length_of_the_note_keeps_the_note() {
    let text = output("a long text", 1).await.to_str_value().unwrap();
    assert_eq!(text, "… [cut off: the output is longer than 1 bytes]");
}

#[tokio::test]
async fn the_limit_of_a_tool_overrides_the_general_limit() {
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
        Tool::new("t", "d", async || Err::<(), _>(ToolError::new("é".repeat(1_000)))).max_output_bytes(100);
    let error = Bench::new().call(tool, "{}").await.unwrap_err();
    assert!(
        error.text().len() <= 100 && error.text().starts_with('é') && error.text().ends_with(NOTE),
        "{error}"
    );
}

#[tokio::test]
async fn an_output_without_a_json_form_is_an_error() {
    let tool = Tool::new("t", "d", async || Ok::<_, ToolError>(HashMap::from([(vec![1_u8], 1)])));
    let error = Bench::new().call(tool, "{}").await.unwrap_err();
    assert_eq!(error.text(), "The tool's output cannot be written as JSON.");
    assert!(error.source().unwrap().to_string().contains("key must be a string"));
}

#[tokio::test]
async fn an_output_has_one_line() {
    let raw = serde_json::value::RawValue::from_string("{\n\"a\": 1\r\n}".to_owned()).unwrap();
    assert_eq!(output(raw, 100).await.as_str(), r#"{"a":1}"#);
}

#[tokio::test]
async fn a_string_is_cut_between_its_escapes() {
    let raw = |text: &str| serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
    for fill in ["\\ud83d\\ude00", "\\u00e9", "\\\"", "\\n", "é", "😀"] {
        let text = fill.repeat(100);
        for limit in 70..100 {
            let cut = output(raw(&format!("\"{text}\"")), limit).await;
            let shown = cut.to_str_value().unwrap();
            let (kept, _) = shown.split_once('…').unwrap();
            let whole: String = serde_json::from_str(&format!("\"{text}\"")).unwrap();
            assert!(whole.starts_with(kept) && !kept.is_empty(), "{fill} {limit}: {cut}");
            assert!(cut.as_str().len() <= limit, "{fill} {limit}: {cut}");
        }
    }
}

/// Returns a value of this many levels.
fn nested(levels: usize) -> Value {
    (0..levels)
        .fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "[": inner }) })
}

#[tokio::test]
async fn an_output_with_too_many_levels_for_a_request_is_a_tool_error() {
    let tool = |levels: usize| Tool::new("t", "d", move || async move { Ok::<_, ToolError>(nested(levels)) });
    // A request body can have 64 levels, and 7 of them surround an output.
    assert!(Bench::new().call(tool(57), "{}").await.is_ok());
    let error = Bench::new().call(tool(58), "{}").await.unwrap_err();
    assert_eq!(error.text(), "The tool's output cannot be written as JSON.");
    assert!(error.source().unwrap().to_string().contains("more than 57 levels"), "{error:?}");
}
