//! The time of a program on a warm worker, which is printed and not asserted.

use std::time::Instant;

use omniassist_python::Code;

use crate::setup::{python, registry, result};

#[tokio::test(flavor = "multi_thread")]
async fn a_warm_run_is_measured() {
    let begun = Instant::now();
    let tools = registry(python(Code::new()).await);
    let start = begun.elapsed();
    let mut times = Vec::new();
    for _ in 0..500 {
        let begun = Instant::now();
        assert_eq!(result(&tools, "1 + 1").await, 2);
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    println!("start {start:?}; warm run: median {:?}, p90 {:?} (goal: 150 µs)", times[250], times[450]);
}
