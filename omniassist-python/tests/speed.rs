//! The time of a program on a warm worker, which is printed and not asserted.

use std::time::{Duration, Instant};

use omniassist_python::{Code, CodeOutcome, CodeRunner, Python, PythonError, Session};
use omniassist_server::tool::Tools;

use crate::setup::{python, registry, result};

/// A runner without an interpreter, which shows the time of everything else.
struct Two;

impl CodeRunner for Two {
    async fn run(&self, _: &str, _: &Session) -> Result<CodeOutcome, PythonError> {
        Ok(CodeOutcome::finished(2.into()))
    }
}

/// Returns the sorted times of 500 calls.
async fn times(tools: &Tools) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..500 {
        let begun = Instant::now();
        assert_eq!(result(tools, "1 + 1").await, 2);
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    times
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warm_run_is_measured() {
    let begun = Instant::now();
    let tools = registry(python(Code::new()).await);
    let start = begun.elapsed();
    let (warm, empty) =
        (times(&tools).await, times(&registry(Python::pool(Two).tool("python").unwrap())).await);
    println!("start {start:?}; warm run: median {:?}, p90 {:?} (goal: 150 µs)", warm[250], warm[450]);
    println!("without an interpreter: median {:?}, p90 {:?}", empty[250], empty[450]);
}
