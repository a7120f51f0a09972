use omniassist_server::core::run::{Gate, ToolCatalog};
use omniassist_server::core::{JsonText, ToolSide};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Bench, no_tools};
use omniassist_server::Principal;
use omniassist_server::tool::{Approval, Args, Tool, ToolError, Tools};

#[derive(Deserialize, JsonSchema)]
struct Ticket {
    title: String,
    priority: Priority,
    #[serde(default)]
    lines: Vec<Line>,
    #[expect(dead_code, reason = "only the schema counts")]
    contact: Option<Contact>,
}

#[derive(Deserialize, JsonSchema)]
struct Contact {
    #[expect(dead_code, reason = "only the schema counts")]
    mail: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Priority {
    Low,
    High,
}

#[derive(Deserialize, JsonSchema)]
struct Line {
    quantity: u8,
}

async fn create(Args(ticket): Args<Ticket>) -> Result<String, ToolError> {
    let _ = (ticket.priority, ticket.lines.iter().map(|line| line.quantity).max());
    Ok(ticket.title)
}

fn check(arguments: &str) -> Result<(), String> {
    let snapshot = Bench::new().tools(Tool::new("create", "d", create)).snapshot();
    let arguments = JsonText::parse(arguments.to_owned()).unwrap();
    snapshot.check("create", &arguments).map_err(|text| text.to_string())
}

#[test]
fn an_error_names_the_place_and_the_problem() {
    let head = "The arguments do not fit the tool's schema: ";
    for (arguments, expected) in [
        (r#"{"title":"a","priority":"low","lines":[{"quantity":1}]}"#, ""),
        (r#"{"title":1,"priority":"low"}"#, "at `/title`: 1 is not of type \"string\""),
        (r#"{"title":"a"}"#, "at the root: \"priority\" is a required property"),
        (r#"{"title":"a","priority":"x"}"#, "at `/priority`: \"x\" is not one of \"low\" or \"high\""),
        (
            r#"{"title":"a","priority":"low","lines":[{"quantity":1},{"quantity":256}]}"#,
            "at `/lines/1/quantity`: 256 is greater than the maximum of 255",
        ),
        ("[]", "at the root: [] is not of type \"object\""),
        (
            r#"{"title":1,"priority":"x"}"#,
            "at `/priority`: \"x\" is not one of \"low\" or \"high\"; at `/title`: 1 is not of type \"string\"",
        ),
        (
            r#"{"title":"a","priority":"low","contact":{"mail":7}}"#,
            "at `/contact/mail`: 7 is not of type \"string\"",
        ),
        (r#"{"title":"a","priority":"low","contact":{}}"#, "at `/contact`: \"mail\" is a required property"),
        (
            r#"{"title":"a","priority":"low","contact":7}"#,
            "at `/contact`: 7 is not of types \"object\", \"null\"",
        ),
    ] {
        let expected = if expected.is_empty() { Ok(()) } else { Err(format!("{head}{expected}")) };
        assert_eq!(check(arguments), expected, "{arguments}");
    }
}

/// An enum whose variants have comments: each is a schema of its own.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Colour {
    /// Like a tomato.
    Red,
    /// Like a pine.
    DarkGreen,
    Blue,
}

#[derive(Deserialize, JsonSchema)]
struct Paint {
    #[expect(dead_code, reason = "only the schema counts")]
    colour: Option<Colour>,
}

#[test]
fn an_error_lists_all_values_of_an_enum_with_comments() {
    let paint = |Args(_): Args<Paint>| std::future::ready(Ok::<_, ToolError>(()));
    let tools = Bench::new().tools(Tool::new("paint", "d", paint));
    let arguments = JsonText::parse(r#"{"colour":"DarkGreen"}"#).unwrap();
    let text = tools.snapshot().check("paint", &arguments).unwrap_err();
    let choices = r#"at `/colour`: "DarkGreen" is not one of "blue", "red" or "dark_green""#;
    assert_eq!(text.as_str(), format!("The arguments do not fit the tool's schema: {choices}"));
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    count: u8,
    id: u64,
}

async fn count(Args(count): Args<Count>) -> Result<(u8, u64), ToolError> {
    Ok((count.count, count.id))
}

#[tokio::test]
async fn a_whole_number_with_a_fraction_of_zero_is_an_integer() {
    for (arguments, expected) in [
        (r#"{"count":3.0,"id":7}"#, "[3,7]"),
        (r#"{"count":3,"id":1e2}"#, "[3,100]"),
        (r#"{"count":3,"id":9007199254740993}"#, "[3,9007199254740993]"),
    ] {
        let output = Bench::new().call(Tool::new("count", "d", count), arguments).await.unwrap();
        assert_eq!(output, expected, "{arguments}");
    }
    // The form of JavaScript would have another id.
    let arguments = r#"{"count":3.0,"id":9007199254740993}"#;
    let error = Bench::new().call(Tool::new("count", "d", count), arguments).await.unwrap_err();
    assert!(error.text().contains("expected u8"), "{error}");
}

#[test]
fn a_policy_and_a_summary_read_such_a_number_too() {
    let tool = Tool::new("count", "d", count)
        .summary(|count: &Count| format!("{} times", count.count))
        .requires_approval(Approval::when(|count: &Count, _: &Principal| count.count > 5));
    let snapshot = Bench::new().tools(tool).snapshot();
    let gate = |arguments: &str| {
        ToolCatalog::gate(&snapshot, "count", &JsonText::parse(arguments.to_owned()).unwrap())
    };
    assert!(matches!(gate(r#"{"count":5.0,"id":7}"#), Gate::Open));
    let Gate::Approval { message, .. } = gate(r#"{"count":6.0,"id":7}"#) else { panic!("it runs") };
    assert_eq!(message.as_deref(), Some("count: 6 times"));
}

#[test]
fn an_error_is_short_and_omits_long_values() {
    let long = "é".repeat(10_000);
    let text = check(&json!({"title": {"text": long}, "priority": "low"}).to_string()).unwrap_err();
    assert!(text.len() < 200 && text.contains("at `/title`: value is not of type \"string\""), "{text}");

    let keys: serde_json::Map<_, _> = (0..100).map(|n| (format!("key{n}"), json!(1))).collect();
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = Tool::front_end_with_schema("t", "d", schema);
    let arguments = JsonText::from_value(&keys.into());
    let text = Bench::new().tools(tool).snapshot().check("t", &arguments).unwrap_err();
    assert!(text.len() <= 500 && text.ends_with('…'), "{text}");
}

#[test]
fn arguments_with_too_many_levels_are_refused() {
    let schema = json!({"type": "object", "properties": {"a": {}}});
    let tools = Bench::new().tools(Tool::front_end_with_schema("t", "d", schema));
    let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    let check = |text: String| tools.snapshot().check("t", &JsonText::parse(text).unwrap());
    assert!(check(deep(100)).is_ok());
    // `JsonText` refuses text with more levels than the parser reads.
    assert!(JsonText::parse(deep(200)).is_err() || check(deep(200)).is_err());
}

#[test]
fn only_exact_names_are_found() {
    let snapshot = Bench::new().tools(Tool::new("create", "d", create)).snapshot();
    for (name, shown) in
        [("", " (\"\")"), ("Create", ""), ("create ", " (\"create \")"), ("__proto__", ""), ("toString", "")]
    {
        assert!(snapshot.get(name).is_none() && snapshot.side(name).is_none(), "{name}");
        let error = snapshot.check(name, &JsonText::EMPTY_OBJECT).unwrap_err();
        assert_eq!(error, *format!("There is no tool of this name{shown}. The tools are: create."));
    }
    assert_eq!(snapshot.side("create"), Some(ToolSide::Server));
}

#[test]
fn a_pattern_is_matched_in_linear_time() {
    let schema = |pattern: &str| json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}});
    let plain = Tool::front_end_with_schema("t", "d", schema("^(a+)+$"));
    let check = |text: &str| {
        let arguments = JsonText::from_value(&json!({"a": text}));
        Bench::new().tools(plain.clone()).snapshot().check("t", &arguments)
    };
    assert!(check("aaa").is_ok() && check("aab").is_err());

    // A pattern that needs backtracking is refused.
    let tools = no_tools();
    let error = tools.register(Tool::front_end_with_schema("t", "d", schema("^(?=a)"))).unwrap_err();
    let text = "at `properties.a`: the pattern \"^(?=a)\" cannot be used";
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn a_call_of_an_unknown_tool_is_answered_with_the_names_of_the_tools() {
    let tools = Bench::new().tools(Tool::new("create", "d", create));
    let refusal =
        |tools: &Tools| tools.snapshot().check("refund", &JsonText::EMPTY_OBJECT).unwrap_err().to_string();
    tools.register(Tool::new("list", "d", async || Ok::<_, ToolError>(()))).unwrap();
    assert_eq!(refusal(&tools), "There is no tool of this name. The tools are: create, list.");
    for number in 0..200 {
        let tool = Tool::new(format!("tool_{number:03}"), "d", async || Ok::<_, ToolError>(()));
        tools.register(tool).unwrap();
    }
    let text = refusal(&tools);
    assert!(text.len() < 1_100 && text.ends_with(" more."), "{text}");

    let none = no_tools();
    assert_eq!(refusal(&none), "There is no tool of this name, and there are no other tools.");
}
