//! Programs that attack their host. After each, the host is healthy and the next program is right.

use std::future::ready;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use omniassist_python::{Code, Python};
use omniassist_server::tool::Tools;
use omniassist_server::{Tool, ToolContext, ToolError};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::setup::{invocation, pool, registry, result, run};

const TIME: Duration = Duration::from_millis(300);

/// Bytes by which the memory of this process may grow during an attack.
const GROWTH: u64 = 200 << 20;

async fn attacked() -> Tools {
    let limits = Code::new().time(TIME).memory(32 << 20).output(8 << 10);
    registry(Python::pool(pool(1).await).limits(limits).tool("python").unwrap())
}

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

/// Runs an attack, which must end with an error of this kind within some seconds.
async fn attack(tools: &Tools, name: &str, code: &str, kinds: &[&str]) {
    let (before, begun) = (resident(), Instant::now());
    let output = timeout(Duration::from_secs(20), run(tools, code)).await.unwrap();
    let took = begun.elapsed();
    let error = output["error"].as_str().unwrap_or_else(|| panic!("{name} succeeded: {output}"));
    println!("{name}: {took:?}: {error:.100}");
    assert!(kinds.iter().any(|kind| error.starts_with(kind)), "{name}: {error}");
    assert!(output.to_string().len() < 40_000, "{name}");
    assert!(resident().saturating_sub(before) < GROWTH, "{name}");
    assert_eq!(result(tools, "sum([1, 2, 3]) * 7").await, 42, "after {name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_on_resources_end() {
    let tools = attacked().await;
    // A slow machine may reach the limit of time first.
    let limits = ["TimeoutError", "MemoryError"];
    for (name, code) in [
        ("a large integer", "10**10**7"),
        ("integers", "x = 3\nwhile True:\n    x = x * x"),
        ("a large string", "'a' * 10**9"),
        ("a growing list", "x = []\nwhile True:\n    x.append('a' * 1000)"),
        ("a doubling list", "x = [0]\nwhile True:\n    x = x + x"),
        ("a loop", "while True:\n    pass"),
        (
            "a loop that catches",
            "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        ),
        ("a generator", "sum(i for i in range(10**12))"),
        ("a sort", "sorted(range(10**9))"),
    ] {
        attack(&tools, name, code, &limits).await;
    }
    // The interpreter limits the digits of an integer as text.
    let kinds = ["TimeoutError", "MemoryError", "ValueError"];
    attack(&tools, "an integer as text", "str(7 ** 2000000)", &kinds).await;
    let asks = "while True:\n    try:\n        no_such_name\n    except BaseException:\n        pass";
    attack(&tools, "endless questions", asks, &["RuntimeError"]).await;
    attack(&tools, "recursion", "def f():\n    return f()\nf()", &["RecursionError"]).await;
    let nested = format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000));
    attack(
        &tools,
        "nested brackets",
        &nested,
        &["SyntaxError", "SystemError", "RecursionError", "MemoryError"],
    )
    .await;
    let deep = "x = []\nfor i in range(200000):\n    x = [x]\nx == x\nrepr(x)\nraise ValueError('end')";
    attack(&tools, "a deep list", deep, &["ValueError", "RecursionError", "SystemError", "TimeoutError"])
        .await;
    let regex = "import re\nre.match('(a+)+$', 'a' * 40 + 'b')\nre.match('(a|aa)+$', 'a' * 60 + 'b')\nraise ValueError('end')";
    attack(&tools, "a regex", regex, &["ValueError", "TimeoutError", "RuntimeError", "re."]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_on_output_end() {
    let tools = attacked().await;
    for (name, code) in [
        ("a flood", "while True:\n    print('a' * 1000)"),
        ("a flood of lines", "while True:\n    print()"),
        ("a flood at once", "print('a' * 20_000_000)"),
        ("a gigabyte at once", "print('a' * 2**30)"),
        ("a gigabyte in parts", "for i in range(2**20):\n    print('a' * 1024)"),
        ("a large result", "'a' * 20_000_000"),
        ("a large list as result", "[0] * 500000"),
        ("large integers as result", "[10**3000] * 1000"),
        ("a huge dict as result", "{str(i): i for i in range(20000)}"),
    ] {
        // The kernel ends a worker that needs too much memory to send its result.
        let ends = ["OutputLimitError", "MemoryError", "TimeoutError", "SystemError"];
        attack(&tools, name, code, &ends).await;
    }
    attack(&tools, "a large error", "raise ValueError('a' * 2_000_000)", &["ValueError"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_by_calls_and_values_end() {
    let calls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls);
    let schema = json!({ "type": "object", "properties": { "value": {} } });
    let take = Tool::from_fn_with_schema("take", "Takes a value", schema, move |_: Value, _: ToolContext| {
        counter.fetch_add(1, Ordering::Relaxed);
        ready(Ok::<_, ToolError>(1))
    });
    let limits = Code::new().time(TIME).memory(32 << 20).output(8 << 10);
    let tool = Python::pool(pool(1).await).limits(limits).functions([take]).tool("python").unwrap();
    let tools = registry(tool);
    let many = "for i in range(10000):\n    try:\n        take(value=i)\n    except Exception:\n        pass";
    attack(&tools, "10,000 calls", many, &["RuntimeError"]).await;
    assert!(calls.swap(0, Ordering::Relaxed) <= 1_000);
    for (name, code) in [
        ("a huge argument", "take(value='a' * 10_000_000)"),
        ("a huge list as argument", "take(value=[1] * 100000)"),
        ("many arguments", "take(*([1] * 100000))"),
        ("many names", "take(**{str(i): i for i in range(10000)})"),
    ] {
        attack(&tools, name, code, &["RuntimeError", "MemoryError", "TimeoutError", "SystemError"]).await;
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0, "no such call reached the function");
    // Values that JSON has no form for, and deep ones, have some end, and no effect on the next program.
    for (name, code) in [
        ("a deep result", "x = []\nfor i in range(10000):\n    x = [x]\nx"),
        ("a deep argument", "x = []\nfor i in range(10000):\n    x = [x]\ntake(value=x)"),
        ("a deep dict", "x = {}\nfor i in range(10000):\n    x = {'a': x}\nx"),
        ("a list in itself", "x = []\nx.append(x)\nx"),
        ("a half of a character", "'\\ud800'"),
        ("a half of a character by its number", "chr(0xd800)"),
        ("a half of a character that is printed", "print('\\ud800' + 'a')"),
        ("a NUL", "print('\\x00' * 100)\n'\\x00'"),
    ] {
        let output = timeout(Duration::from_secs(20), run(&tools, code)).await.unwrap();
        println!("{name}: {:.100}", output.to_string());
        assert!(output.to_string().len() < 40_000, "{name}");
        assert_eq!(result(&tools, "sum([1, 2, 3]) * 7").await, 42, "after {name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_on_the_system_find_nothing() {
    let tools = attacked().await;
    let denied = [
        "PermissionError",
        "ModuleNotFoundError",
        "ImportError",
        "NameError",
        "AttributeError",
        "RuntimeError: 'os.",
    ];
    for (name, code) in [
        ("a file", "open('/etc/passwd').read()"),
        ("a file that is written", "open('/tmp/omniassist-attack', 'w').write('x')"),
        ("a path", "from pathlib import Path\nPath('/etc/passwd').read_text()"),
        ("a folder", "import os\nos.listdir('/')"),
        ("the environment", "import os\nos.environ['PATH']"),
        ("a variable", "import os\nos.getenv('PATH').upper()"),
        ("a socket", "import socket\nsocket.create_connection(('127.0.0.1', 80))"),
        ("a request", "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')"),
        ("a fork bomb", "import os\nwhile True:\n    os.fork()"),
        ("a process", "import subprocess\nsubprocess.run(['sh'])"),
        ("a shell", "import os\nos.system('sh')"),
        ("an abort", "import os\nos.abort()"),
        ("a signal", "import os\nos.kill(os.getpid(), 9)"),
        ("foreign code", "import ctypes\nctypes.string_at(0)"),
        ("an import by name", "__import__('os').system('sh')"),
        ("an evaluation", "eval('1 + ')"),
        ("a class walk", "().__class__.__bases__[0].__subclasses__()"),
        ("an unknown function", "no_such_function()"),
    ] {
        attack(&tools, name, code, &denied).await;
    }
    assert!(!std::path::Path::new("/tmp/omniassist-attack").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_worker_is_replaced() {
    let pool = pool(1).await;
    let limits = Code::new().time(Duration::from_secs(3_600));
    let tools = registry(Python::pool(pool.clone()).limits(limits).tool("python").unwrap());
    // Idle, then at work.
    let kill = |worker: u32| {
        let killed = Command::new("kill").args(["-9", &worker.to_string()]).status();
        assert!(killed.unwrap().success());
    };
    kill(pool.idle_workers()[0]);
    sleep(Duration::from_millis(100)).await;
    assert_eq!(result(&tools, "6 * 7").await, 42);
    let worker = pool.idle_workers()[0];
    let tool = tools.snapshot().get("python").cloned().unwrap();
    let running = tools.start(&tool, invocation("while True:\n    pass"));
    while !pool.idle_workers().is_empty() {
        sleep(Duration::from_millis(1)).await;
    }
    sleep(Duration::from_millis(50)).await;
    kill(worker);
    let output: Value = running.outcome().await.result.unwrap().to().unwrap();
    assert_eq!(output["error"], "SystemError: the program ended its interpreter (signal: 9 (SIGKILL))");
    assert_eq!(result(&tools, "6 * 7").await, json!(42));
}
