//! The processes of workers: what they have of their host, and their end.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use futures_util::StreamExt;
use omniassist_python::{Code, MontyPool, Python};
use omniassist_server::tool::ToolUpdate;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::setup::{invocation, pool, registry, result, runtime};

/// Is set for the host that is killed.
const HOST: &str = "OMNIASSIST_TEST_HOST";

fn signal(name: &str, worker: u32) {
    let sent = Command::new("kill").args([name, &worker.to_string()]).status();
    assert!(sent.unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_has_no_file_socket_or_variable_of_its_host() {
    let folder = tempfile::tempdir().unwrap();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let database = File::create(folder.path().join("chats.db")).unwrap();
    assert!(env::vars_os().count() > 0 && socket.as_raw_fd() > 2 && database.as_raw_fd() > 2);
    let pool = pool(1).await;
    let tools = registry(Python::pool(pool.clone()).tool("python").unwrap());
    assert_eq!(result(&tools, "1").await, json!(1));
    let process = format!("/proc/{}", pool.idle_workers()[0]);
    assert_eq!(fs::read(format!("{process}/environ")).unwrap(), b"", "the environment is empty");
    for entry in fs::read_dir(format!("{process}/fd")).unwrap() {
        let descriptor = entry.unwrap().path();
        let target = fs::read_link(&descriptor).unwrap();
        println!("{}: {}", descriptor.display(), target.display());
        let is_socket = target.to_string_lossy().starts_with("socket:");
        assert!(!is_socket && !target.starts_with(folder.path()), "{}", target.display());
        let is_pipe = target.to_string_lossy().starts_with("pipe:");
        assert!(is_pipe || !descriptor.ends_with("0") && !descriptor.ends_with("1"), "{}", target.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_does_not_answer_is_replaced() {
    let pool = MontyPool::at(runtime()).workers(1).wait(Duration::from_millis(50)).start().await.unwrap();
    let limits = Code::new().time(Duration::from_millis(300));
    let tools = registry(Python::pool(pool.clone()).limits(limits).tool("python").unwrap());
    let tool = tools.snapshot().get("python").cloned().unwrap();

    signal("-STOP", pool.idle_workers()[0]);
    let began = Instant::now();
    let refused = tools.start(&tool, invocation("1")).outcome().await.result.unwrap_err();
    assert_eq!(refused.text(), "The tool failed.");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(result(&tools, "6 * 7").await, json!(42));

    let worker = pool.idle_workers()[0];
    let mut running = tools.start(&tool, invocation("print('begun')\nwhile True:\n    pass"));
    assert!(matches!(running.next().await, Some(ToolUpdate::Progress { .. })));
    signal("-STOP", worker);
    let output: Value = running.outcome().await.result.unwrap().to().unwrap();
    assert!(output["error"].as_str().unwrap().starts_with("TimeoutError"), "{output}");
    assert_eq!(result(&tools, "6 * 7").await, json!(42));
}

/// Is the host that is killed, if its variable is set.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_killed() {
    if env::var_os(HOST).is_none() {
        return;
    }
    let pool = pool(2).await;
    let workers = pool.idle_workers();
    let limits = Code::new().time(Duration::from_secs(2));
    let tools = registry(Python::pool(pool.clone()).limits(limits).tool("python").unwrap());
    let tool = tools.snapshot().get("python").cloned().unwrap();
    let running = tools.start(&tool, invocation("while True:\n    pass"));
    while pool.idle_workers().len() == 2 {
        sleep(Duration::from_millis(1)).await;
    }
    println!("workers {} {}", workers[0], workers[1]);
    running.outcome().await.result.unwrap();
}

/// Returns `true` if a process lives.
fn lives(process: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit_once(')').is_some_and(|(_, fields)| !fields.trim_start().starts_with(['Z', 'X']))
}

#[test]
fn no_worker_outlives_its_host() {
    let mut host = Command::new(env::current_exe().unwrap())
        .args(["--exact", "workers::a_host_that_is_killed", "--nocapture"])
        .env(HOST, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(host.stdout.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find_map(|line| line.split_once("workers ").map(|(_, line)| line.to_owned())).unwrap();
    let workers: Vec<_> = line.split(' ').collect();
    assert!(workers.len() == 2 && workers.iter().all(|worker| lives(worker)), "{workers:?}");
    host.kill().unwrap();
    host.wait().unwrap();
    let began = Instant::now();
    while workers.iter().any(|worker| lives(worker)) {
        assert!(began.elapsed() < Duration::from_secs(10), "{workers:?}");
        thread::sleep(Duration::from_millis(10));
    }
    println!("an idle worker and one at work ended {:?} after kill -9 of their host", began.elapsed());
}
