//! A process that writes beside this one, and is killed. This binary starts itself, and runs only the first test then.

use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use omniassist_server::store::{Appended, Claim, Durability, InstanceId, RunId, RunStore, Writer};
use omniassist_sqlite::SqliteStore;

use super::{append, positions, text};
use crate::folder::{Folder, LEASE, begin};

/// The variable with the path of the file, for the process that is killed.
const FILE: &str = "OMNIASSIST_SQLITE_TEST_FILE";

/// Writes until it is killed, and prints the position of each segment that the store has acknowledged.
#[tokio::test]
async fn the_process_that_writes() {
    let Some(path) = env::var_os(FILE) else { return };
    let store = SqliteStore::open(path).unwrap();
    let writer = begin(&store, InstanceId::random(), "c", "Hello").await;
    let run: Vec<String> = writer.run.as_bytes().iter().map(u8::to_string).collect();
    writeln!(stdout(), "\nrun {}", run.join(" ")).unwrap();
    for pos in 2.. {
        let how = if pos % 3 == 0 { Durability::Hard } else { Durability::Soft };
        let appended = append(&store, text(writer, pos), how).await.unwrap();
        assert!(matches!(appended, Appended::Taken(_)));
        writeln!(stdout(), "taken {pos}").unwrap();
    }
}

/// Starts a process, kills it after some acknowledgements, and returns its run and the last acknowledged position. After
/// each one, `beside` is called.
async fn write_and_die(path: &Path, mut beside: impl AsyncFnMut(u32)) -> (RunId, u32) {
    let this = env::current_exe().unwrap();
    let mut child = Command::new(this)
        .args(["--exact", "faults::killed::the_process_that_writes", "--nocapture"])
        .env(FILE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut run, mut last) = (None, 0);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(bytes) = line.strip_prefix("run ") {
            let bytes: Vec<u8> = bytes.split(' ').map(|byte| byte.parse().unwrap()).collect();
            run = Some(RunId::from_bytes(bytes.try_into().unwrap()));
        } else if let Some(pos) = line.strip_prefix("taken ") {
            last = pos.parse().unwrap();
            beside(last).await;
            if last == 100 {
                child.kill().unwrap();
            }
        }
    }
    child.wait().unwrap();
    (run.unwrap(), last)
}

#[tokio::test]
async fn a_killed_process_leaves_all_that_it_acknowledged() {
    let folder = Folder::new();
    let path = folder.path();
    let (run, last) = write_and_die(&path, async |_pos| ()).await;
    assert!(last >= 100);
    let log = format!("{}-wal", path.display());
    assert!(fs::metadata(log).unwrap().len() > 0, "the kill leaves a log");

    let (store, me) = (SqliteStore::open(&path).unwrap(), InstanceId::random());
    assert_eq!(store.beat(me, LEASE, 9).await.unwrap().free, [run]);
    let claimed = store.claim(run, me, Claim::IfFree).await.unwrap().unwrap();
    let found = positions(&store, claimed.writer).await;
    let head = claimed.head.head;
    assert_eq!(found, (1..=head).collect::<Vec<_>>());
    assert!(head > last, "{head} {last}: the mark of the claim follows what was acknowledged");
    let next = append(&store, text(claimed.writer, head + 1), Durability::Hard).await.unwrap();
    assert!(matches!(next, Appended::Taken(_)));
}

#[tokio::test]
async fn two_processes_write_one_file() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    let writer = begin(&store, InstanceId::random(), "d", "Hello").await;
    let (run, last) = write_and_die(store.path(), async |pos| {
        let appended = append(&store, text(writer, pos), Durability::Soft).await.unwrap();
        assert!(matches!(appended, Appended::Taken(_)));
    })
    .await;
    assert_eq!(positions(&store, writer).await, (1..=last).collect::<Vec<_>>());
    let other = Writer { run, ..writer };
    assert!(positions(&store, other).await.len() >= last as usize, "the other one may have written more");
}
