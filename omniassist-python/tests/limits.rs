//! The limits of time, memory and output, and the end of a call.

use std::path::Path;
use std::time::{Duration, Instant};

use omniassist_python::{Code, Python};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::setup::{invocation, pool, python, registry, result, run};

/// The bytes of one output: `stdout` and the result.
const OUTPUT: usize = 1_000;

#[tokio::test(flavor = "multi_thread")]
async fn output_ends_at_its_limit() {
    // The time is long, so that only the output ends a program.
    let tools = registry(python(Code::new().output(OUTPUT).time(Duration::from_secs(3_600))).await);
    for (code, fits) in [
        ("print('a' * 999)", true),
        ("print('a' * 1000)", false),
        ("for i in range(500):\n    print('a')", true),
        ("for i in range(501):\n    print('a')", false),
        // A string in JSON has two quotes.
        ("'a' * 998", true),
        ("'a' * 999", false),
        ("print('a' * 499)\n'b' * 498", true),
        ("print('a' * 499)\n'b' * 499", false),
        ("[1] * 499", true),
        ("[1] * 500", false),
        ("while True:\n    print('a')", false),
    ] {
        let output = timeout(Duration::from_secs(20), run(&tools, code)).await.unwrap();
        if fits {
            assert_eq!(output["error"], Value::Null, "{code}");
        } else {
            assert_eq!(output["error"], "OutputLimitError: the output has more than 1000 bytes", "{code}");
            assert_eq!(output["result"], Value::Null, "{code}");
            assert!(output["stdout"].as_str().unwrap().len() <= OUTPUT, "{code}");
        }
    }
    let output = run(&tools, "print('a' * 5000)").await;
    assert_eq!(output["stdout"].as_str().unwrap().len(), OUTPUT);
    let output = run(&tools, "raise ValueError('€' * 5000)").await;
    assert!(output["stderr"].as_str().unwrap().len() <= OUTPUT);
    assert!(output["error"].as_str().unwrap().starts_with("ValueError: €"));
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_ends_at_its_limit() {
    let tools = registry(python(Code::new().memory(8 << 20).time(Duration::from_secs(60))).await);
    // The largest string that fits: one byte more does not.
    let (mut fits, mut too_large) = (0, 9 << 20);
    while too_large - fits > 1 {
        let middle = (fits + too_large) / 2;
        let output = run(&tools, &format!("len('a' * {middle})")).await;
        if output["result"] == middle {
            fits = middle;
        } else {
            assert!(output["error"].as_str().unwrap().starts_with("MemoryError"), "{output}");
            too_large = middle;
        }
    }
    println!("the largest string of 8 MiB: {fits} bytes");
    assert!(fits > 7 << 20 && fits < 8 << 20, "{fits}");
}

#[tokio::test(flavor = "multi_thread")]
async fn time_ends_at_its_limit() {
    const LIMIT: Duration = Duration::from_millis(400);
    let tools = registry(python(Code::new().time(LIMIT)).await);
    let begun = Instant::now();
    let output = run(&tools, "while True:\n    pass").await;
    let took = begun.elapsed();
    assert!(output["error"].as_str().unwrap().starts_with("TimeoutError"), "{output}");
    println!("a loop of 400 ms ended after {took:?}");
    assert!(took >= LIMIT && took < LIMIT * 4, "{took:?}");
    assert_eq!(result(&tools, "sum(range(10000))").await, 49_995_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_a_call_kills_its_worker() {
    let pool = pool(1).await;
    let worker = pool.idle_workers()[0];
    let limits = Code::new().time(Duration::from_secs(3_600));
    let tools = registry(Python::pool(pool.clone()).limits(limits).tool("python").unwrap());
    let tool = tools.snapshot().get("python").cloned().unwrap();
    let running = tools.start(&tool, invocation("while True:\n    pass"));
    while !pool.idle_workers().is_empty() {
        sleep(Duration::from_millis(1)).await;
    }
    sleep(Duration::from_millis(50)).await;
    let begun = Instant::now();
    drop(running);
    let process = format!("/proc/{worker}");
    timeout(Duration::from_secs(10), async {
        while Path::new(&process).exists() {
            sleep(Duration::from_millis(1)).await;
        }
    })
    .await
    .unwrap();
    println!("a dropped call's worker was gone after {:?}", begun.elapsed());
    assert_eq!(result(&tools, "1 + 1").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_pool_refuses_in_time() {
    use omniassist_python::MontyPool;
    let wait = Duration::from_millis(50);
    let pool = MontyPool::at(crate::setup::runtime()).workers(1).wait(wait).start().await.unwrap();
    let limits = Code::new().time(Duration::from_secs(3_600));
    let tools = registry(Python::pool(pool.clone()).limits(limits).tool("python").unwrap());
    let tool = tools.snapshot().get("python").cloned().unwrap();
    let running = tools.start(&tool, invocation("while True:\n    pass"));
    while !pool.idle_workers().is_empty() {
        sleep(Duration::from_millis(1)).await;
    }
    let refused = tools.start(&tool, invocation("1")).outcome().await.result.unwrap_err();
    assert!(refused.text().contains("Too many programs"), "{refused}");
    drop(running);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kernel_limits_each_worker() {
    let pool = pool(1).await;
    let tools = registry(Python::pool(pool.clone()).tool("python").unwrap());
    assert_eq!(result(&tools, "1").await, json!(1));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", pool.idle_workers()[0])).unwrap();
    let soft = |name: &str| -> String {
        let rest = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        rest.split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(soft("Max address space"), ((64_u64 + 128) << 20).to_string());
    assert_eq!((soft("Max open files"), soft("Max file size")), ("16".to_owned(), "0".to_owned()));
    assert_eq!((soft("Max processes"), soft("Max core file size")), ("0".to_owned(), "0".to_owned()));
    assert_eq!(soft("Max cpu time"), "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_times_are_not_too_long() {
    use omniassist_python::MontyPool;
    let pool = MontyPool::at(crate::setup::runtime()).workers(1).wait(Duration::MAX).start().await.unwrap();
    let limits = Code::new().time(Duration::MAX).memory(usize::MAX).output(usize::MAX);
    let tools = registry(Python::pool(pool).limits(limits).tool("python").unwrap());
    assert_eq!(result(&tools, "1 + 1").await, 2);
}
