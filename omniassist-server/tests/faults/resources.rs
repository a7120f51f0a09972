//! Tests of the cost of hostile and degenerate answers: memory as the peak of a separate process, work as
//! processor time.
//!
//! Each test runs itself again as a child process, so that the peak (`VmHWM`) is that of one case alone. The fake
//! provider also runs in the child. Its share is a few copies of its replies.

use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use omniassist_server::core::Limits;
use omniassist_server::testing::Reply;
use serde_json::json;

use super::ask::{Api, Told, ask_with, limits};
use crate::openai::streams::{chat, delta, finish, tool};

const MIB: u64 = 1 << 20;
const CHILD: &str = "OMNIASSIST_TEST_MEASURED";

/// The cost of a case.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// Growth of the process's peak memory, in bytes.
    peak: u64,
    took: Duration,
    /// Processor time.
    worked: Duration,
}

/// Runs the test `name` once more in a child process, and returns the costs that the child measured. In the child, it
/// does the work and returns `None`.
fn in_a_process_of_its_own(name: &str, work: impl FnOnce() -> Vec<Cost>) -> Option<Vec<Cost>> {
    if std::env::var_os(CHILD).is_some() {
        for Cost { peak, took, worked } in work() {
            println!("cost {peak} {} {}", took.as_nanos(), worked.as_nanos());
        }
        return None;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("faults::resources::{name}"), "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{said}\n{}", String::from_utf8_lossy(&child.stderr));
    let costs = said.lines().filter_map(|line| {
        let (_, numbers) = line.split_once("cost ")?;
        let mut numbers = numbers.split(' ').map(|number| number.parse::<u64>().unwrap());
        let mut next = || numbers.next().unwrap();
        let (peak, took, worked) = (next(), Duration::from_nanos(next()), Duration::from_nanos(next()));
        Some(Cost { peak, took, worked })
    });
    Some(costs.collect())
}

/// Returns the value of a field in `/proc/self/status` in bytes.
fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Returns the processor time of this thread.
fn worked() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split_whitespace().next().unwrap().parse().unwrap())
}

/// Runs one question on this thread alone, and returns its cost.
fn measure(limits: &Limits, reply: Reply) -> (Told, Cost) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut limits = limits.clone();
    limits.max_retries = 0;
    // Resets the peak to the current use (proc(5)).
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS");
    let (start, work) = (Instant::now(), worked());
    let told = runtime.block_on(ask_with(Api::Chat, [reply], limits));
    let (took, worked) = (start.elapsed(), worked() - work);
    let peak = memory("VmHWM").saturating_sub(before);
    (told, Cost { peak, took, worked })
}

fn print(what: &str, cost: Cost) {
    eprintln!(
        "{what}: peak +{:.1} MiB, {:?}, on the processor {:?}",
        cost.peak as f64 / MIB as f64,
        cost.took,
        cost.worked
    );
}

#[test]
fn fault_13_an_endless_line_uses_no_more_memory_than_the_cap() {
    let costs = in_a_process_of_its_own("fault_13_an_endless_line_uses_no_more_memory_than_the_cap", || {
        let line = || Reply::sse("data:".to_owned() + &"x".repeat(1 << 20)).endless();
        let mut small = limits();
        small.max_sse_event_bytes /= 2;
        let (told, half) = measure(&small, line());
        assert_eq!(told.end(), "limit_exceeded");
        let (told, whole) = measure(&limits(), line());
        assert_eq!(told.end(), "limit_exceeded");
        vec![half, whole]
    });
    let Some(costs) = costs else { return };
    print("an endless line, cap of 4 MiB", costs[0]);
    print("an endless line, cap of 8 MiB", costs[1]);
    assert!(costs[1].peak < 48 * MIB, "{costs:?}");
    assert!(costs[1].worked < costs[0].worked * 4 + Duration::from_millis(100), "{costs:?}");
}

#[test]
fn fault_13_an_ignored_line_of_256_mib_costs_nothing() {
    let costs = in_a_process_of_its_own("fault_13_an_ignored_line_of_256_mib_costs_nothing", || {
        let mut limits = limits();
        limits.max_response_bytes = 256 << 20;
        limits.idle_timeout = Duration::from_secs(60);
        // A comment is discarded, so only the limit of the body applies to it.
        let (told, cost) = measure(&limits, Reply::sse(":".repeat(1 << 20)).endless());
        assert_eq!(told.end(), "limit_exceeded");
        vec![cost]
    });
    let Some(costs) = costs else { return };
    print("a comment of 256 MiB", costs[0]);
    assert!(costs[0].peak < 48 * MIB, "{costs:?}");
}

#[test]
fn fault_13_data_lines_without_a_blank_line_use_no_more_memory_than_the_cap() {
    let costs = in_a_process_of_its_own(
        "fault_13_data_lines_without_a_blank_line_use_no_more_memory_than_the_cap",
        || {
            let (told, cost) = measure(&limits(), Reply::sse("data: 0123456789\n".repeat(1 << 14)).endless());
            assert_eq!(told.end(), "limit_exceeded");
            vec![cost]
        },
    );
    let Some(costs) = costs else { return };
    print("endless data lines, cap of 8 MiB", costs[0]);
    assert!(costs[0].peak < 48 * MIB, "{costs:?}");
}

#[test]
fn fault_16_a_gzip_bomb_uses_no_more_memory_than_the_cap() {
    let costs = in_a_process_of_its_own("fault_16_a_gzip_bomb_uses_no_more_memory_than_the_cap", || {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let line = ":".repeat((1 << 20) - 1) + "\n";
        for _ in 0..256 {
            encoder.write_all(line.as_bytes()).unwrap();
        }
        let bomb = encoder.finish().unwrap();
        assert!(bomb.len() * 1_000 < 256 << 20, "{} bytes", bomb.len());
        let (told, comments) = measure(&limits(), Reply::sse(bomb).header("content-encoding", "gzip"));
        assert_eq!(told.end(), "limit_exceeded", "256 MiB from 256 KiB, cap of 64 MiB");

        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(b"data:").unwrap();
        for _ in 0..256 {
            encoder.write_all(&[b'x'; 1 << 20]).unwrap();
        }
        let line = encoder.finish().unwrap();
        let (told, line) = measure(&limits(), Reply::sse(line).header("content-encoding", "gzip"));
        assert_eq!(told.end(), "limit_exceeded", "one line of 256 MiB, cap of 8 MiB");
        vec![comments, line]
    });
    let Some(costs) = costs else { return };
    print("a gzip bomb of 1000:1, comments", costs[0]);
    print("a gzip bomb of 1000:1, one line", costs[1]);
    assert!(costs.iter().all(|cost| cost.peak < 64 * MIB), "{costs:?}");
}

/// Returns a call whose arguments arrive one character at a time. It is cut, so that no tool runs.
fn characters(number: usize) -> Vec<u8> {
    let head =
        tool(json!({"index": 0, "id": "c", "function": {"name": "weather", "arguments": "{\"city\":\""}}));
    let mut body = chat(&[delta(json!({"role": "assistant"})), head]);
    let one = chat(&[tool(json!({"index": 0, "function": {"arguments": "x"}}))]);
    body.extend_from_slice(&one.repeat(number));
    body.extend_from_slice(&chat(&[finish("length")]));
    body
}

#[test]
fn fault_14_a_hundred_thousand_one_character_deltas_cost_twice_fifty_thousand() {
    let name = "fault_14_a_hundred_thousand_one_character_deltas_cost_twice_fifty_thousand";
    let mut patient = limits();
    // A loaded machine may read 100,000 deltas for longer than 10 s.
    patient.first_byte_timeout = Some(Duration::from_secs(60));
    patient.idle_timeout = Duration::from_secs(60);
    let costs = in_a_process_of_its_own(name, || {
        let mut costs = Vec::new();
        // The first run includes the cost of the setup.
        for number in [1_000, 50_000, 100_000, 50_000, 100_000] {
            let body = characters(number);
            let (told, cost) = measure(&patient, Reply::sse(body));
            assert_eq!((told.end().as_str(), told.ran.len()), ("Length", 0));
            assert!(told.events.len() > number);
            costs.push(cost);
        }
        costs
    });
    let Some(costs) = costs else { return };
    print("50,000 deltas of one character", costs[1]);
    print("100,000 deltas of one character", costs[2]);
    // Most of the memory belongs to the list of events in this test, whose texts keep the buffers of the reads: a page for each
    // delta where each one is read alone.
    assert!(costs[2].peak < 512 * MIB, "{costs:?}");
    let half = costs[1].worked.min(costs[3].worked);
    let whole = costs[2].worked.min(costs[4].worked);
    assert!(whole < half * 3, "not linear: {half:?} {whole:?}");
}
