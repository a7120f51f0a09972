use std::sync::Arc;

use omniassist_server::core::run::{Gate, ToolCatalog};
use omniassist_server::core::{ErrorCode, JsonText, Limits, ToolSide, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Bench, no_tools};
use omniassist_server::tool::{Args, State, StateMap, Tool, ToolError, Tools};

fn ping(name: &str) -> Tool {
    Tool::new(name, "Whether it answers", async || Ok::<_, ToolError>("pong"))
}

fn refusal(tool: Tool) -> String {
    let tools = no_tools();
    let error = tools.register(tool).unwrap_err();
    assert!(error.is_invalid_tool());
    assert!(tools.snapshot().is_empty(), "a refused tool must not be registered");
    error.to_string()
}

#[derive(Deserialize, JsonSchema)]
struct Number {
    #[expect(dead_code, reason = "only the schema counts")]
    n: u8,
}

#[test]
fn names_and_descriptions_are_checked() {
    for name in ["", "a b", "größe", "a.b", &"n".repeat(65)] {
        assert!(refusal(ping(name)).contains("1 to 64 letters"), "{name}");
    }
    for name in ["__proto__", "constructor", "toString"] {
        assert!(refusal(ping(name)).contains("JavaScript"), "{name}");
    }
    no_tools().register(ping("Constructor")).unwrap();
    no_tools().register(ping(&"n".repeat(64))).unwrap();
    let silent = Tool::new("t", " \n", async || Ok::<_, ToolError>(1));
    assert!(refusal(silent).contains("has no description"));
}

#[test]
fn a_name_can_be_registered_once() {
    let tools = no_tools();
    tools.register(ping("a")).unwrap();
    let error = tools.register(ping("a")).unwrap_err();
    assert_eq!(error.to_string(), "tool `a`: a tool of this name is already registered");
    assert!(tools.unregister("a"));
    assert!(!tools.unregister("a"));
    tools.register(ping("a")).unwrap();
}

#[test]
fn an_error_for_missing_state_names_the_tool_and_the_type() {
    #[derive(Clone)]
    struct Db;
    async fn tool(_: State<String>, _: State<Db>) -> Result<(), ToolError> {
        Ok(())
    }
    let mut state = StateMap::new();
    state.insert(String::new());
    let error =
        Tools::new(state.clone(), Limits::default()).register(Tool::new("lookup", "d", tool)).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("tool `lookup`: it takes `State<"), "{text}");
    assert!(text.contains("::Db>`, and there is none"), "{text}");

    state.insert(Db);
    Tools::new(state, Limits::default()).register(Tool::new("lookup", "d", tool)).unwrap();
}

#[test]
fn two_args_are_refused() {
    async fn tool(_: Args<Number>, _: Args<Number>) -> Result<(), ToolError> {
        Ok(())
    }
    assert!(refusal(Tool::new("t", "d", tool)).contains("more than one `Args`"));
}

#[test]
fn examples_must_fit_the_schema() {
    let tool = || Tool::front_end::<Number>("t", "d").example("good", json!({"n": 255}));
    no_tools().register(tool()).unwrap();
    let text = refusal(tool().example("bad", json!({"n": 256})));
    assert!(text.starts_with("tool `t`: example 2: ") && text.contains("at `/n`"), "{text}");
}

#[test]
fn settings_reach_the_spec() {
    let tools = no_tools();
    tools.register(Tool::front_end::<Number>("t", "d").title("T").example("one", json!({"n": 1}))).unwrap();
    let spec = Arc::clone(&tools.snapshot().specs()[0]);
    assert_eq!(spec.side, ToolSide::FrontEnd);
    assert_eq!(spec.title.as_ref().unwrap(), "T");
    assert_eq!(spec.examples[0].request, "one");
}

#[test]
fn a_snapshot_never_changes() {
    let tools = no_tools();
    tools.register(ping("old")).unwrap();
    let held: Vec<_> = (0..50).map(|_| tools.snapshot()).collect();

    tools.register(ping("new")).unwrap();
    tools.unregister("old");

    for snapshot in &held {
        assert!(snapshot.get("new").is_none() && snapshot.get("old").is_some());
        assert_eq!(snapshot.specs().len(), 1);
        assert!(snapshot.check("new", &JsonText::EMPTY_OBJECT).is_err());
    }
    let next = tools.snapshot();
    assert!(next.get("new").is_some() && next.get("old").is_none());
    assert_eq!(tools.names(), ["new"]);
}

#[test]
fn registrations_from_many_threads_are_all_kept() {
    let tools = no_tools();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let tools = &tools;
            scope.spawn(move || {
                for n in 0..8 {
                    tools.register(ping(&format!("t{thread}_{n}"))).unwrap();
                }
            });
        }
    });
    assert_eq!(tools.snapshot().len(), 64);
}

#[test]
fn specs_have_a_stable_order() {
    let names = |order: [&str; 3]| {
        let tools = no_tools();
        for name in order {
            tools.register(ping(name)).unwrap();
        }
        let declared = [declared("z"), declared("d")];
        let specs = tools.snapshot().with_declared(&declared).unwrap().specs();
        specs.iter().map(|spec| spec.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(["b", "a", "c"]), names(["c", "b", "a"]));
    assert_eq!(names(["b", "a", "c"]), ["a", "b", "c", "z", "d"]);
}

fn declared(name: &str) -> Arc<ToolSpec> {
    let schema = json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]});
    Arc::new(ToolSpec::new(name, "", schema))
}

#[test]
fn a_client_can_declare_tools_for_one_run() {
    let tools = no_tools();
    tools.register(ping("server")).unwrap();
    let snapshot = tools.snapshot();
    let run = snapshot.with_declared(&[declared("open")]).unwrap();

    assert_eq!(run.side("open"), Some(ToolSide::FrontEnd), "a declared tool must run in the client");
    assert_eq!(run.side("server"), Some(ToolSide::Server));
    assert!(run.check("open", &JsonText::parse("{\"n\":1}").unwrap()).is_ok());
    let error = run.check("open", &JsonText::EMPTY_OBJECT).unwrap_err();
    assert!(error.contains("\"n\" is a required property"), "{error}");
    assert_eq!(run.get("open").unwrap().spec().input_schema["type"], "object");
    assert!(snapshot.get("open").is_none() && tools.snapshot().get("open").is_none());
}

#[test]
fn declared_tools_are_checked() {
    let tools = no_tools();
    tools.register(ping("server")).unwrap();
    tools.register(Tool::front_end::<Number>("page", "the host's words")).unwrap();
    let snapshot = tools.snapshot();
    let refusal = |specs: &[Arc<ToolSpec>]| {
        let error = snapshot.with_declared(specs).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidTool);
        (error.path().unwrap().to_owned(), error.expected().unwrap().to_owned())
    };
    let (path, reason) = refusal(&[declared("a"), declared("server")]);
    assert_eq!(
        (path.as_str(), reason.as_str()),
        ("tools[1]", "`server` is the name of a tool that the server runs")
    );
    let (path, reason) = refusal(&[declared("a"), declared("b"), declared("a")]);
    assert_eq!((path.as_str(), reason.as_str()), ("tools[2]", "`a` is the name of another declared tool"));
    assert!(refusal(&[declared("a b")]).1.contains("1 to 64 letters"));
    let remote = json!({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1/x"}}});
    assert!(refusal(&[Arc::new(ToolSpec::new("a", "", remote))]).1.contains("leads out of the schema"));

    let run = snapshot.with_declared(&[declared("page")]).unwrap();
    assert_eq!(run.get("page").unwrap().spec().description, "the host's words");
    assert_eq!(run.specs().len(), 2);
}

#[test]
fn an_unsupported_pattern_of_a_declared_tool_is_not_checked() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)", "minLength": 2}}});
    let run = no_tools().snapshot().with_declared(&[Arc::new(ToolSpec::new("a", "", schema))]).unwrap();
    let check = |text: &str| run.check("a", &JsonText::from_value(&json!({"a": text})));
    assert_eq!(check("yy"), Ok(()));
    assert!(check("y").unwrap_err().contains("is shorter than 2 characters"));
}

#[test]
fn the_form_can_be_renamed() {
    let tools = no_tools();
    tools.register(Tool::request_input().rename("requestInput")).unwrap();
    let snapshot = tools.snapshot();
    assert!(snapshot.get("request_input").is_none());
    let arguments = json!({"message": "Who are you?", "schema": {"type": "object", "properties": {"name": {"type": "string"}}}});
    let arguments = JsonText::from_value(&arguments);
    assert_eq!(snapshot.check("requestInput", &arguments), Ok(()));
    let gate = ToolCatalog::gate(&snapshot, "requestInput", &arguments);
    assert!(matches!(gate, Gate::Form { .. }), "{gate:?}");
    let answer = JsonText::from_value(&json!({"name": 7}));
    let refused = ToolCatalog::check_output(&snapshot, "requestInput", &arguments, &answer).unwrap_err();
    assert!(refused.contains("at `/name`: 7 is not of type"), "{refused}");

    let other = Tool::front_end_with_schema("request_input", "d", json!({"type": "object"}));
    assert!(tools.register(other).unwrap_err().to_string().contains("name of the built-in form"));
}

#[tokio::test]
async fn a_removed_tool_stays_available_to_existing_snapshots() {
    let bench = Bench::new();
    let tools = bench.tools(ping("a"));
    let snapshot = tools.snapshot();
    tools.unregister("a");
    let outcome = tools.start(snapshot.get("a").unwrap(), bench.invocation("{}")).outcome().await;
    assert_eq!(outcome.result.unwrap().as_str(), "\"pong\"");
}
