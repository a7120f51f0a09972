//! Host tools as functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use omniassist_python::{Code, Python};
use omniassist_server::throttle::Attempt;
use omniassist_server::tool::{StateMap, Tools};
use omniassist_server::{Approval, Tool, ToolContext, ToolError};
use serde_json::{Value, json};

use crate::setup::{pool, registry, result, run};

fn schema(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn double() -> Tool {
    let schema = schema(&json!({ "number": { "type": "integer" } }), &["number"]);
    Tool::from_fn_with_schema(
        "double",
        "Doubles a number",
        schema,
        |arguments: Value, _: ToolContext| async move {
            Ok::<_, ToolError>(json!({ "doubled": arguments["number"].as_i64().unwrap_or(0) * 2 }))
        },
    )
}

fn join() -> Tool {
    let text = json!({ "type": "string" });
    let schema = schema(&json!({ "left": text, "right": text }), &["left"]);
    Tool::from_fn_with_schema(
        "join",
        "Joins texts",
        schema,
        |arguments: Value, call: ToolContext| async move {
            if arguments["left"] == "fail" {
                return Err(ToolError::new("It cannot be joined."));
            }
            Ok(format!("{}+{}+{}", arguments["left"], arguments["right"], call.run().principal().id()))
        },
    )
}

async fn with(tools: impl IntoIterator<Item = Tool>) -> Tools {
    registry(Python::pool(pool(1).await).functions(tools).tool("python").unwrap())
}

/// Returns a tool that counts its calls.
fn counted(name: &'static str) -> (Tool, Arc<AtomicU32>) {
    let count = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&count);
    let tool = Tool::new(name, "Counts", move || {
        counter.fetch_add(1, Ordering::Relaxed);
        async { Ok::<_, ToolError>("counted") }
    });
    (tool, count)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_calls_functions() {
    let tools = with([double(), join()]).await;
    assert_eq!(result(&tools, "double(number=4)['doubled'] + double(5)['doubled']").await, 18);
    assert_eq!(result(&tools, "join(left='a', right='b')").await, "\"a\"+\"b\"+ada");
    assert_eq!(result(&tools, "sum([double(i)['doubled'] for i in range(100)])").await, 9_900);
    let spec = tools.snapshot().get("python").unwrap().spec().description.to_string();
    assert!(spec.contains("- double(number: integer): Doubles a number"), "{spec}");
    assert!(spec.contains("- join(left: string, right: string = default): Joins texts"), "{spec}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_passes_the_checks_of_its_tool() {
    let (guarded, approvals) = counted("guarded");
    let (rare, rares) = counted("rare");
    let (hidden, _) = counted("hidden");
    let limited = Arc::clone(&rares);
    let tools = with([
        double(),
        join(),
        guarded.requires_approval(Approval::always()),
        rare.rate_limit(move |_: &Attempt<'_>| {
            if limited.load(Ordering::Relaxed) < 2 { Ok(()) } else { Err(Duration::from_secs(9)) }
        }),
        hidden.visible_to(|run| run.principal().id() == "eve"),
    ])
    .await;
    for (code, error) in [
        ("double(number='x')", "RuntimeError"),
        ("double(other=1)", "RuntimeError"),
        ("double()", "RuntimeError"),
        ("join('a', 'b')", "RuntimeError: Call it with keyword arguments: join(left: string"),
        ("double(4, number=5)", "RuntimeError: Call it with keyword arguments: double(number: integer)"),
        ("join(left='fail')", "RuntimeError: It cannot be joined."),
        ("guarded()", "RuntimeError: No call can be made here."),
        ("rare()\nrare()\nrare()", "RuntimeError: This tool was called too often"),
        ("hidden()", "NameError"),
        ("for i in range(2000):\n    double(i)", "RuntimeError: "),
        ("double(number='a' * 70000)", "RuntimeError: The arguments are too large."),
    ] {
        let output = run(&tools, code).await;
        assert!(output["error"].as_str().unwrap().starts_with(error), "{code}: {output}");
    }
    assert_eq!((approvals.load(Ordering::Relaxed), rares.load(Ordering::Relaxed)), (0, 2));
    let caught =
        "try:\n    guarded()\nexcept RuntimeError as error:\n    caught = 'call' in str(error)\ncaught";
    assert_eq!(result(&tools, caught).await, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn time_stands_still_during_a_function() {
    let slow = Tool::new("slow", "Sleeps", async || {
        tokio::time::sleep(Duration::from_millis(600)).await;
        Ok::<_, ToolError>(1)
    });
    let limits = Code::new().time(Duration::from_millis(200));
    let tool = Python::pool(pool(1).await).limits(limits).functions([slow]).tool("python").unwrap();
    assert_eq!(result(&registry(tool), "slow() + 1").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn state_is_given_and_bad_functions_are_refused() {
    use omniassist_server::State;
    let price = || Tool::new("price", "Price", async |State(price): State<u32>| Ok::<_, ToolError>(price));
    let pool = pool(1).await;
    let mut state = StateMap::new();
    state.insert(12_u32);
    let tool = Python::pool(pool.clone()).functions([price()]).state(state).tool("python").unwrap();
    assert_eq!(result(&registry(tool), "price()").await, 12);
    let dashed = counted("a-b").0;
    let page = Tool::front_end_with_schema("page", "Opens", json!({ "type": "object" }));
    let taken = ["fork", "class", "sum", "open"].map(|name| counted(name).0);
    for tool in [price(), dashed, page].into_iter().chain(taken) {
        let name = tool.name().to_owned();
        let error = Python::pool(pool.clone()).functions([tool]).fork("worker").tool("python").unwrap_err();
        assert!(error.is_invalid_tool(), "{name}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_integers_are_exact() {
    let expected = json!([i64::MIN, i64::MAX, u64::MAX]);
    let tool = Tool::new("ids", "Ids", move || std::future::ready(Ok::<_, ToolError>(expected.clone())));
    let tools = with([tool]).await;
    let texts = result(&tools, "[str(value) for value in ids()]").await;
    assert_eq!(texts, json!(["-9223372036854775808", "9223372036854775807", "18446744073709551615"]));
    let values = result(&tools, "[ids()[2], 2 ** 64 - 1, 2 ** 64]").await;
    assert_eq!(values, json!([u64::MAX, u64::MAX, "18446744073709551616"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_argument_without_a_json_form_is_an_exception() {
    let tools = with([join()]).await;
    for (argument, part) in [
        ("b'abc'", "bytes"),
        ("[datetime.date(2026, 1, 2)]", "date"),
        ("{'a': (1, lambda: 1)}", "value"),
        ("{(1, 2): 3}", "tuple"),
        ("float('nan')", "float that is not finite"),
    ] {
        let program = format!("import datetime\njoin(left={argument})");
        let error = run(&tools, &program).await["error"].as_str().unwrap().to_owned();
        assert!(
            error.starts_with(&format!("RuntimeError: An argument contains a {part}, ")),
            "{argument}: {error}"
        );
    }
    let date = result(&tools, "import datetime\njoin(left=str(datetime.date(2026, 1, 2)))").await;
    assert_eq!(date, "\"2026-01-02\"+null+ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_shows_how_to_pass_an_argument_whose_name_python_reserves() {
    let text = json!({ "type": "string" });
    let schema = schema(&json!({ "from": text, "X-Page": text }), &["from"]);
    let echo = |arguments: Value, _: ToolContext| std::future::ready(Ok::<_, ToolError>(arguments));
    let tools = with([Tool::from_fn_with_schema("orders", "Lists orders", schema, echo)]).await;
    let description = tools.snapshot().get("python").unwrap().spec().description.to_string();
    let call = r#"orders(**{"X-Page": string = default}, **{"from": string})"#;
    assert!(description.contains(call), "{description}");
    let output = result(&tools, r#"orders(**{"X-Page": "2"}, **{"from": "May"})"#).await;
    assert_eq!(output, json!({ "X-Page": "2", "from": "May" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_lists_what_programs_can_call() {
    let pool = pool(1).await;
    let described = |python: Python| {
        let tools = registry(python.tool("python").unwrap());
        tools.snapshot().get("python").unwrap().spec().description.to_string()
    };
    let [plain, with_function, with_agents] = [
        Python::pool(pool.clone()),
        Python::pool(pool.clone()).functions([counted("fork").0]),
        Python::pool(pool).fork("worker"),
    ]
    .map(described);
    assert!(!plain.contains("these functions"), "{plain}");
    // The name is free, because no program starts agents.
    assert!(with_function.contains("these functions") && with_function.contains("- fork(): Counts"));
    assert!(!with_function.contains("wait("), "{with_function}");
    assert!(
        with_agents.contains("these functions") && with_agents.contains("- wait(agent)"),
        "{with_agents}"
    );
}
