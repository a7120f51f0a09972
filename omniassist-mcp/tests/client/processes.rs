//! The processes of servers, which end with their host.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use omniassist_mcp::client::McpServer;
use uuid::Uuid;

use super::{Desk, open, stdio_server};

/// Holds the mark of the processes of a test.
const MARK: &str = "HOSTILE_MARK";

/// Holds the way in which a host ends.
const END: &str = "HOSTILE_END";

fn server(mark: &str) -> McpServer {
    let mut command = stdio_server::command("look,environment,orphan");
    command.env(MARK, mark);
    open(McpServer::stdio("proc", &command))
}

/// Returns the folder of each process that has a mark in its environment.
fn marked(mark: &str) -> impl Iterator<Item = PathBuf> {
    let has_mark = move |folder: &PathBuf| {
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(mark)
    };
    fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).filter(has_mark)
}

/// Returns the group of each process that lives and has a mark in its environment.
fn groups(mark: &str) -> Vec<String> {
    marked(mark).filter_map(|folder| group(&folder)).collect()
}

/// Returns the group of a process that lives.
fn group(folder: &std::path::Path) -> Option<String> {
    let status = fs::read_to_string(folder.join("stat")).ok()?;
    let fields: Vec<_> = status.rsplit_once(')')?.1.split_whitespace().collect();
    (fields[0] != "Z").then(|| fields[2].to_owned())
}

/// Returns the number of processes of a group, with the one that guards it.
fn members(of: &str) -> usize {
    let folders = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|folder| group(folder).as_deref() == Some(of)).count()
}

/// Asserts that a group ends.
fn assert_ends(of: &str) {
    let began = Instant::now();
    while members(of) > 0 {
        assert!(began.elapsed() < Duration::from_secs(5), "{} processes live", members(of));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test]
async fn a_process_has_the_path_and_the_variables_that_are_listed() {
    let desk = Desk::new([server("listed")]).ready().await;
    let result = desk.call("proc_environment").await.to_string();
    // The shell that starts the test program adds PWD and others.
    assert!(result.contains(MARK) && result.contains("PATH"), "{result}");
    for other in ["HOME", "CARGO"] {
        assert!(!result.contains(other), "{result}");
    }

    let mut command = stdio_server::command("look,environment,orphan");
    let server = McpServer::stdio("proc", command.env(MARK, "listed").env_remove("PATH"));
    let result = Desk::new([open(server)]).ready().await.call("proc_environment").await.to_string();
    assert!(result.contains(MARK) && !result.contains("PATH"), "{result}");
}

#[tokio::test]
async fn no_process_outlives_a_drop_or_a_detachment() {
    for is_dropped in [true, false] {
        let mark = Uuid::now_v7().to_string();
        let desk = Desk::new([server(&mark)]).ready().await;
        desk.call("proc_look").await;
        let groups = groups(&mark);
        assert_eq!((groups.len(), members(&groups[0])), (2, 3), "the server, its child and the guard");
        if is_dropped {
            drop(desk);
        } else {
            assert!(desk.assistant.tools().detach("proc"));
        }
        tokio::task::spawn_blocking(move || assert_ends(&groups[0])).await.unwrap();
    }
}

#[tokio::test]
async fn a_process_can_end_by_itself_after_a_detachment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("farewell");
    let mut command = stdio_server::command("look");
    command.env(stdio_server::FAREWELL, &file);
    let desk = Desk::new([open(McpServer::stdio("proc", &command))]).ready().await;
    desk.call("proc_look").await;
    assert!(desk.assistant.tools().detach("proc"));
    desk.until(|_| file.exists()).await;
}

#[tokio::test]
async fn a_process_that_was_killed_between_calls_is_started_again() {
    let mark = Uuid::now_v7().to_string();
    let mut command = stdio_server::command("look");
    command.env(MARK, &mark);
    let desk = Desk::new([open(McpServer::stdio("proc", &command))]).ready().await;
    desk.call("proc_look").await;
    let [before] = &marked(&mark).collect::<Vec<_>>()[..] else { panic!("one process has the mark") };
    let process = before.file_name().unwrap();
    // A connection that is younger is not replaced at once.
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert!(Command::new("kill").arg("-9").arg(process).status().unwrap().success());
    // A call that is sent before the end is noticed may have reached the server.
    let first = desk.call("proc_look").await.to_string();
    assert!(first.contains("look ran") || first.contains("it may or may not have acted"), "{first}");
    let began = Instant::now();
    let result = desk.call("proc_look").await.to_string();
    assert!(result.contains("look ran"), "{result}");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    println!("the call after kill -9 of a process took {:?}", began.elapsed());
    let [after] = &marked(&mark).collect::<Vec<_>>()[..] else { panic!("one process has the mark") };
    assert_ne!(before, after);
}

/// Is not a test: a host that another test has started.
#[test]
fn host() {
    let Ok(end) = std::env::var(END) else { return };
    let mark = std::env::var(MARK).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let desk = Desk::new([server(&mark)]).ready().await;
        desk.call("proc_look").await;
        println!("ready");
        match end.as_str() {
            "panic" => panic!("the host panics"),
            "exit" => std::process::exit(0),
            _ => std::future::pending::<()>().await,
        }
    });
}

#[test]
fn no_process_outlives_its_host() {
    for end in ["panic", "exit", "kill"] {
        let mark = format!("server-{}", Uuid::now_v7());
        let mut host = Command::new(std::env::current_exe().unwrap())
            .args(["client::processes::host", "--exact", "--nocapture"])
            .envs([(MARK, mark.as_str()), (END, end)])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(host.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("ready")));
        if end == "kill" {
            let host_group = group(std::path::Path::new(&format!("/proc/{}", host.id()))).unwrap();
            let of_servers = groups(&mark).into_iter().find(|group| *group != host_group).unwrap();
            assert_eq!(members(&of_servers), 3);
            host.kill().unwrap();
            host.wait().unwrap();
            let began = Instant::now();
            assert_ends(&of_servers);
            println!("the processes ended {:?} after kill -9 of their host", began.elapsed());
        } else {
            host.wait().unwrap();
        }
        let began = Instant::now();
        while !groups(&mark).is_empty() {
            assert!(began.elapsed() < Duration::from_secs(5), "{end}: {:?}", groups(&mark));
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
