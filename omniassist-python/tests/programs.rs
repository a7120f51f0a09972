//! The output of programs, while they run and at their end.

use futures_util::StreamExt;
use futures_util::future::join_all;
use omniassist_python::{Code, Python};
use omniassist_server::tool::ToolUpdate;
use serde_json::{Value, json};

use crate::setup::{invocation, pool, python, registry, result, run};

#[tokio::test(flavor = "multi_thread")]
async fn results_have_their_types() {
    let tools = registry(python(Code::new()).await);
    for (code, expected) in [
        ("None", json!(null)),
        ("x = 1", json!(null)),
        ("True", json!(true)),
        ("-7", json!(-7)),
        ("2**62", json!(4_611_686_018_427_387_904_i64)),
        ("2**64", json!("18446744073709551616")),
        ("1.5", json!(1.5)),
        ("float('nan')", json!("NaN")),
        ("'a' * 3", json!("aaa")),
        ("[1, 'b', None]", json!([1, "b", null])),
        ("(1, 2)", json!([1, 2])),
        ("{3}", json!([3])),
        ("{'a': {'b': [1]}, 2: 3}", json!({ "a": { "b": [1] }, "2": 3 })),
        ("import datetime\ndatetime.date(2026, 1, 2).isoformat()", json!("2026-01-02")),
        (
            "import json, math, re\n[json.loads('[1]'), math.sqrt(9), re.sub('a', 'b', 'aa')]",
            json!([[1], 3.0, "bb"]),
        ),
        ("def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\nf(15)", json!(610)),
    ] {
        assert_eq!(result(&tools, code).await, expected, "{code}");
    }
    assert_eq!(result(&tools, "10**5000").await, json!("<int of 16610 bits>"));
    let deep = result(&tools, "x = []\nfor i in range(40):\n    x = [x]\nx").await.to_string();
    assert!(deep.contains("<list>"), "{deep}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_has_a_traceback() {
    let tools = registry(python(Code::new()).await);
    let output = run(&tools, "print('before')\ndef f():\n    return 1 / 0\nf()").await;
    assert_eq!((&output["stdout"], &output["result"]), (&json!("before\n"), &Value::Null));
    assert_eq!(output["error"], "ZeroDivisionError: division by zero");
    let traceback = output["stderr"].as_str().unwrap();
    assert!(traceback.contains("Traceback") && traceback.contains("line 3"), "{traceback}");
    let output = run(&tools, "def").await;
    assert!(output["error"].as_str().unwrap().starts_with("SyntaxError"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_share_nothing() {
    let tools = registry(python(Code::new()).await);
    assert_eq!(result(&tools, "secret = 1\nsecret").await, 1);
    let output = run(&tools, "secret").await;
    assert!(output["error"].as_str().unwrap().starts_with("NameError"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn text_is_shown_before_the_end() {
    let tools = registry(python(Code::new().time(std::time::Duration::from_secs(60))).await);
    let tool = tools.snapshot().get("python").cloned().unwrap();
    let mut running = tools.start(&tool, invocation("print('begun')\nwhile True:\n    pass"));
    match running.next().await.unwrap() {
        ToolUpdate::Progress { output, .. } => {
            assert_eq!(output.to::<Value>().unwrap(), json!({ "stdout": "begun\n", "stderr": "" }));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_run_side_by_side() {
    let tools = registry(Python::pool(pool(2).await).tool("python").unwrap());
    let codes: Vec<_> = (0..40).map(|number| format!("n = {number}\nsum(range(n)) + n")).collect();
    let results = join_all(codes.iter().map(|code| result(&tools, code))).await;
    for (number, result) in results.into_iter().enumerate() {
        assert_eq!(result, number * (number + 1) / 2);
    }
}
