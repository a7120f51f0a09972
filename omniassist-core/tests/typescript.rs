//! Tests of the TypeScript declarations: types, names and hostile text.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use omniassist_core::dialect::ai_sdk;
use omniassist_core::typescript::{ActionDeclaration, ComponentDeclaration};
use omniassist_core::{Limits, ToolSpec, typescript};
use proptest::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

fn tool(name: &str, schema: Value) -> Arc<ToolSpec> {
    Arc::new(ToolSpec::new(name, "", schema))
}

/// Returns the declarations for a tool `t` with this schema: its input type, followed by its definitions.
fn declared(schema: Value) -> String {
    let text = typescript::declarations(&[tool("t", schema)]);
    let from = text.find("export type TInput =").expect("the input type");
    let to = text.find("\n/** The arguments of each tool. */").expect("the end of the tools");
    text[from..to].strip_prefix("export type TInput =").unwrap().trim().to_owned()
}

fn property(schema: &Value) -> String {
    let text = declared(json!({"type": "object", "properties": {"p": schema}, "required": ["p"]}));
    text.strip_prefix("{\n  p:").unwrap().strip_suffix(";\n};").unwrap().trim_start_matches(' ').to_owned()
}

#[test]
fn schemas_become_types() {
    let cases = [
        (json!({"type": "string"}), "string"),
        (json!({"type": "string", "format": "date-time", "pattern": "^2"}), "string"),
        (json!({"type": "integer", "format": "uint32", "minimum": 0}), "number"),
        (json!({"type": "number"}), "number"),
        (json!({"type": "boolean"}), "boolean"),
        (json!({"type": "null"}), "null"),
        (json!({"type": ["string", "null"]}), "string | null"),
        (json!({"type": ["integer", "number"]}), "number"),
        (json!({"type": "novelty"}), "unknown"),
        (json!(true), "unknown"),
        (json!(false), "never"),
        (json!({}), "unknown"),
        (json!({"const": "a\"b"}), r#""a\"b""#),
        (
            json!({"enum": ["a", 1, -2.5, null, true, ["x"], {"k": "v"}]}),
            r#""a" | 1 | -2.5 | null | true | ["x"] | { k: "v" }"#,
        ),
        (json!({"enum": []}), "never"),
        (json!({"type": "array"}), "unknown[]"),
        (json!({"type": "array", "items": {"type": "string"}}), "string[]"),
        (json!({"items": {"type": ["string", "null"]}}), "(string | null)[]"),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "maxItems": 2}),
            "[string, number]",
        ),
        (
            json!({"prefixItems": [{"type": "string"}, {}], "minItems": 1, "items": false}),
            "[string, unknown?]",
        ),
        (json!({"prefixItems": [{"type": "string"}], "minItems": 1}), "[string, ...unknown[]]"),
        (
            json!({"items": [{"type": ["string", "null"]}], "additionalItems": {"type": "number"}}),
            "[(string | null)?, ...number[]]",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "string", "format": "uri"}, {"type": "null"}]}),
            "string | null",
        ),
        (json!({"oneOf": [{"const": 1}, {}]}), "unknown"),
        (
            json!({"allOf": [{"type": ["string", "null"]}, {"enum": ["a", null]}]}),
            r#"(string | null) & ("a" | null)"#,
        ),
        (json!({"type": "string", "anyOf": []}), "string"),
        (json!({"type": "object"}), "{ [key: string]: unknown }"),
        (json!({"additionalProperties": {"type": ["number", "null"]}}), "{ [key: string]: number | null }"),
        (json!({"type": "object", "additionalProperties": false}), "{ [key: string]: never }"),
        (
            json!({"type": "object", "patternProperties": {"^\\d+$": {"type": "string"}}, "additionalProperties": false}),
            "{ [key: string]: string }",
        ),
        (json!({"type": "object", "required": ["a"]}), "{\n    a: unknown;\n  }"),
        (
            json!({"properties": {"a": {"type": "number"}}, "additionalProperties": {"type": "string"}}),
            "{\n    a?: number;\n    [key: string]: unknown;\n  }",
        ),
        (
            json!({"type": "object", "properties": {"a": {}}, "required": ["a"], "anyOf": [{"required": ["b"]}, {"type": "object"}]}),
            "{\n    a: unknown;\n  } & ({\n    b: unknown;\n  } | { [key: string]: unknown })",
        ),
        (
            json!({"oneOf": [{"const": "a", "description": "First."}, {"const": "b"}]}),
            "\n    /** First. */\n    | \"a\"\n    | \"b\"",
        ),
        (json!({"$ref": "https://example.com/schema.json"}), "unknown"),
        (json!({"$ref": "#/$defs/missing"}), "unknown"),
    ];
    for (schema, expected) in cases {
        assert_eq!(property(&schema), expected, "{schema}");
    }
}

#[test]
fn property_names_are_quoted_where_needed() {
    let names = [
        ("plain", "plain"),
        ("$dollar_1", "$dollar_1"),
        ("new", "new"),
        ("kebab-case", r#""kebab-case""#),
        ("1st", r#""1st""#),
        ("", r#""""#),
        ("größe", r#""größe""#),
        ("a\"b\\", r#""a\"b\\""#),
        ("a\u{2028}b\u{202e}\n", r#""a\u2028b\u202e\n""#),
        ("a\u{61c}\u{200b}\u{e0041}", r#""a\u061c\u200b\udb40\udc41""#),
    ];
    for (name, expected) in names {
        let text = declared(json!({"type": "object", "properties": {name: {}}}));
        assert_eq!(text, format!("{{\n  {expected}?: unknown;\n}};"));
    }
}

#[test]
fn descriptions_become_comments() {
    let schema = json!({"type": "object", "description": "not shown: the tool's own stands there", "properties": {
        "a": {"description": " One line. "},
        "b": {"description": "Two\r\n\r\nlines\u{7}*\u{0}/ and */"},
        "c": {"description": " \n "},
    }});
    let expected = "{
  /** One line. */
  a?: unknown;
  /**
   * Two
   *
   * lines*\\/ and *\\/
   */
  b?: unknown;
  c?: unknown;
};";
    assert_eq!(declared(schema), expected);
}

#[test]
fn definitions_become_types() {
    let schema = json!({
        "type": "object",
        "properties": {"one": {"$ref": "#/$defs/some~1thing"}, "more": {"items": {"$ref": "#/$defs/some~1thing"}}},
        "$defs": {
            "some/thing": {"description": "A thing.", "anyOf": [{"$ref": "#/$defs/a%20b"}, {"type": "null"}]},
            "a b": {"type": "object", "properties": {"self": {"$ref": "#/$defs/a%20b"}, "root": {"$ref": "#"}}},
            "unused": {},
        },
    });
    let expected = "{
  more?: TSomeThing[];
  one?: TSomeThing;
};

/** A thing. */
export type TSomeThing = TAB | null;

export type TAB = {
  root?: TInput;
  self?: TAB;
};";
    assert_eq!(declared(schema), expected);
}

#[test]
fn recursive_and_deep_definitions_become_unknown() {
    let loops = json!({
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/a"}, "q": {"$ref": "#/$defs/c"}},
        "$defs": {
            "a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "string"}]},
            "b": {"allOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]},
            "c": {"$ref": "#/$defs/c"},
        },
    });
    let text = declared(loops);
    assert!(text.contains("export type TA = unknown;"), "{text}");
    assert!(text.contains("export type TC = unknown;"), "{text}");

    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "array", "items": deep});
    }
    assert_eq!(property(&deep), format!("unknown{}", "[]".repeat(64)));
}

#[test]
fn every_tool_has_its_own_type_and_name() {
    let empty = json!({"type": "object"});
    let refers = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/StatusInput"}}, "$defs": {"StatusInput": {}}});
    let tools = [
        Arc::new(ToolSpec::new("order-status", "", empty.clone()).front_end()),
        tool("order_status", empty.clone()),
        tool("order", refers),
        tool("orderStatus", empty.clone()),
        tool("2nd", empty.clone()),
        tool("chat", empty),
    ];
    let text = typescript::declarations(&tools);
    let expected = r#"export type ToolInputs = {
  "2nd": Tool2ndInput;
  chat: ChatInput;
  order: OrderInput;
  "order-status": OrderStatusInput;
  orderStatus: OrderStatusInput2;
  order_status: OrderStatusInput3;
};

/** All tools. */
export type ToolName = "2nd" | "chat" | "order" | "order-status" | "orderStatus" | "order_status";

/** The tools that the server runs. */
export type ServerToolName = "2nd" | "chat" | "order" | "orderStatus" | "order_status";

/** The tools that the client runs. */
export type FrontEndToolName = "order-status";
"#;
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("  \"order-status\": { input: OrderStatusInput; output: unknown };\n"), "{text}");
    assert!(text.contains("export type OrderStatusInput4 = unknown;\n"), "{text}");

    let mut names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("export type ")).collect();
    names.iter_mut().for_each(|name| *name = name.split(' ').next().unwrap());
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "no name may be declared twice");

    let mut reversed = tools;
    reversed.reverse();
    assert_eq!(typescript::declarations(&reversed), text);
}

#[test]
fn the_unions_are_never_without_tools() {
    let text = typescript::declarations(&[]);
    for line in [
        "export type ToolName = never;",
        "export type FrontEndToolName = never;",
        "export type ServerToolName = never;",
        "export type AssistantTools = {};",
        "export type RunRequestBody = {",
        "export type ErrorBody = {",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}");
    }
}

#[test]
fn the_request_reader_checks_every_declared_field() {
    let text = typescript::declarations(&[]);
    let body = text.split_once("export type RunRequestBody = {\n").unwrap().1.split_once("};").unwrap().0;
    let fields = body.lines().filter(|line| !line.trim().starts_with("/**")).map(|line| {
        let name = line.trim().split(':').next().unwrap();
        name.trim_end_matches('?').to_owned()
    });
    let mut count = 0;
    for field in fields {
        let mut body = json!({"messages": [{"id": "m", "role": "user", "content": "Hi"}]});
        let read = |body: &Value| ai_sdk::read_request(body.to_string().into(), &Limits::default());
        assert!(read(&body).is_ok());
        body[&field] = json!(5);
        assert_eq!(read(&body).expect_err(&field).path(), Some(field.as_str()));
        count += 1;
    }
    assert_eq!(count, 8);
}

#[test]
fn components_have_types_of_their_own() {
    let object = |field: &str| json!({"type": "object", "properties": {field: {"type": "string"}}});
    let (props, state, server, answer) = (object("title"), object("note"), object("paid"), object("day"));
    let tools = [tool("ui_tea-card", object("title")), tool("ui_pick", object("days"))];
    let components = [
        ComponentDeclaration::new("tea-card", "ui_tea-card", &props)
            .state(Some(&state))
            .server_state(Some(&server))
            .actions([ActionDeclaration::new("check-out", &props), ActionDeclaration::new("add", &state)]),
        ComponentDeclaration::new("pick", "ui_pick", &props).output(Some(&answer)),
        ComponentDeclaration::new("pick", "ui_pick", &answer),
    ];
    let text = typescript::declarations_with(&tools, &components);
    let expected = r#"export interface OmniComponents {
  pick: {
    props: PickProps;
    state: { [key: string]: never };
    server: undefined;
    output: PickOutput;
    actions: {};
  };
  "tea-card": {
    props: TeaCardProps;
    state: TeaCardState;
    server: TeaCardServer;
    output: UiRendered;
    actions: { add: TeaCardAddPayload; "check-out": TeaCardCheckOutPayload };
  };
}
"#;
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("export type TeaCardServer = {\n  paid?: string;\n};\n"), "{text}");
    assert!(text.contains("  ui_pick: { input: UiPickInput; output: PickOutput };\n"), "{text}");
    assert!(text.contains("  \"ui_tea-card\": { input: UiTeaCardInput; output: UiRendered };\n"), "{text}");
    let [card, pick, other] = components;
    assert_eq!(typescript::declarations_with(&tools, &[pick, other, card]), text);
}

/// Returns the declarations without strings, comments and white space: the syntax that the compiler sees.
fn syntax(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                while let Some(char) = chars.next() {
                    match char {
                        '\\' => drop(chars.next()),
                        '"' => break,
                        '\n' | '\r' | '\u{2028}' | '\u{2029}' => out.push_str("BROKEN STRING"),
                        _ => {}
                    }
                }
                out.push_str("\"\"");
            }
            '/' if chars.peek() == Some(&'/') => drop(chars.by_ref().find(|char| *char == '\n')),
            '/' if chars.peek() == Some(&'*') => {
                let mut before = chars.nth(1).unwrap_or_default();
                for char in chars.by_ref() {
                    if (before, char) == ('*', '/') {
                        break;
                    }
                    before = char;
                }
            }
            char if char.is_whitespace() => {}
            char => out.push(char),
        }
    }
    out
}

fn with_text(text: &str) -> String {
    let property = format!("-{text}");
    let schema = json!({
        "type": "object",
        "description": text,
        "properties": {
            property.as_str(): {"description": text, "enum": [text, [text], {property.as_str(): text}]},
            "z": {"$ref": "#/$defs/d", "description": text},
            "é": {"oneOf": [{"const": text, "description": format!("{text}.")}, {"const": 1}]},
        },
        "required": [property],
        "$defs": {"d": {"type": "string", "description": text, "title": text}},
    });
    let name = format!("-{text}");
    let name = name.replace(|char: char| char.is_ascii_alphanumeric(), "-");
    let component = ComponentDeclaration::new(&name, &name, &schema)
        .state(Some(&schema))
        .server_state(Some(&schema))
        .output(Some(&schema))
        .actions([ActionDeclaration::new(&name, &schema)]);
    let specs = [Arc::new(ToolSpec::new(name.clone(), text, schema.clone()))];
    typescript::declarations_with(&specs, &[component])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn text_is_never_syntax(text in "(\\*/|/\\*|//|\"|\\\\|[\u{0}-\u{1f}{}<>;:'`$\u{85}\u{2028}\u{2029}\u{202e}-]|[a-z]|\\PC){0,12}") {
        prop_assert_eq!(syntax(&with_text(&text)), syntax(&with_text("x")));
    }
}

/// The urgency.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
enum Priority {
    /// Nobody waits for it.
    Low,
    High,
}

#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(dead_code, reason = "only the schema is used")]
enum Filter {
    /// All of these.
    AllOf {
        filters: Vec<Filter>,
    },
    Not(Box<Negation>),
    Equals {
        field: String,
        value: Option<f64>,
    },
    Anything,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
struct Negation {
    filter: Filter,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
enum Place {
    Nowhere,
    Named(String),
    At { x: f64, y: f64 },
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
struct Page {
    /// From 0.
    offset: Option<u32>,
    #[serde(default)]
    limit: u32,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "only the schema is used")]
struct Search {
    /// The text to find.
    ///
    /// Takes `*` and `?`.
    query: String,
    priority: Option<Priority>,
    filter: Filter,
    filter_or_none: Option<Filter>,
    places: Vec<Option<Place>>,
    by_name: HashMap<String, Vec<Priority>>,
    by_number: BTreeMap<u8, Page>,
    pair: (String, u8),
    triple: [i64; 3],
    parent: Option<Box<Search>>,
    anything: Value,
    nothing: (),
    flag: bool,
    #[serde(flatten)]
    page: Page,
    #[serde(flatten)]
    place: Place,
}

#[test]
fn schemas_of_rust_types() {
    let search = ToolSpec::new("search", "Search everything.", schema_for!(Search).to_value());
    let filter = ToolSpec::new("filter_list", "Filter the list on the page.", schema_for!(Filter).to_value());
    insta::assert_snapshot!(typescript::declarations(&[Arc::new(search), Arc::new(filter.front_end())]));
}
