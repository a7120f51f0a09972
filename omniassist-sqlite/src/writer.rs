//! The thread that writes, and its group commit.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;
use std::{iter, thread};

use omniassist_server::failpoint;
use omniassist_server::store::Durability;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::failure::Failure;
use crate::log::Log;

/// The limit of jobs in a transaction.
const MAX_JOBS: usize = 256;

/// The thread that writes. It finishes the jobs that it has, and ends, when this is dropped.
#[derive(Debug)]
pub(crate) struct Writer(Sender<Box<dyn Job>>);

impl Writer {
    /// Starts the thread.
    ///
    /// A write waits for this time while another process writes.
    pub(crate) fn start(connection: Connection, busy_timeout: Duration) -> std::io::Result<Self> {
        let (sender, jobs) = mpsc::channel();
        let mut log = Log::new(busy_timeout);
        let run = move || run(&connection, &jobs, &mut log);
        thread::Builder::new().name("omniassist-sqlite".to_owned()).spawn(run)?;
        Ok(Self(sender))
    }

    /// Runs a job in a transaction, which it may share with others. A job that fails has no effect, also on the others: it
    /// is run again if the transaction fails.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        how: Durability,
        work: impl Fn(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        self.send(how, work, |_| false).await
    }

    /// Runs a job as [`write`](Self::write) does, hard, and clears the log if `has_deleted` is true for its result.
    pub(crate) async fn delete<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, Failure> + Send + 'static,
        has_deleted: fn(&T) -> bool,
    ) -> Result<T, Failure> {
        self.send(Durability::Hard, work, has_deleted).await
    }

    async fn send<T: Send + 'static>(
        &self,
        how: Durability,
        work: impl Fn(&Connection) -> Result<T, Failure> + Send + 'static,
        has_deleted: fn(&T) -> bool,
    ) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        let task = Task { how, work, has_deleted, result: None, reply };
        self.0.send(Box::new(task)).map_err(|_stopped| Failure::Stopped)?;
        answer.await.unwrap_or(Err(Failure::Stopped))
    }
}

trait Job: Send {
    fn is_hard(&self) -> bool;

    /// Does the work, and returns `true` if it succeeded.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Returns `true` if the work deleted content.
    fn has_deleted(&self) -> bool;

    /// Answers, after the end of the transaction, with the error because of which it was not committed.
    fn answer(self: Box<Self>, error: Option<Arc<rusqlite::Error>>);
}

struct Task<W, T> {
    how: Durability,
    work: W,
    has_deleted: fn(&T) -> bool,
    result: Option<Result<T, Failure>>,
    reply: oneshot::Sender<Result<T, Failure>>,
}

impl<T: Send, W: Fn(&Connection) -> Result<T, Failure> + Send> Job for Task<W, T> {
    fn is_hard(&self) -> bool {
        self.how != Durability::Soft
    }

    fn run(&mut self, connection: &Connection) -> bool {
        self.result.insert((self.work)(connection)).is_ok()
    }

    fn has_deleted(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.as_ref().is_ok_and(self.has_deleted))
    }

    fn answer(self: Box<Self>, error: Option<Arc<rusqlite::Error>>) {
        let answer = match (self.result, error) {
            (Some(Err(failure)), _) => Err(failure),
            (_, Some(error)) => Err(Failure::Shared(error)),
            (result, None) => result.unwrap_or(Err(Failure::Stopped)),
        };
        // Nobody waits for an answer whose future was dropped.
        drop(self.reply.send(answer));
    }
}

fn run(connection: &Connection, jobs: &Receiver<Box<dyn Job>>, log: &mut Log) {
    let mut is_hard = None;
    loop {
        let first = match log.retry_in() {
            None => jobs.recv().map_err(RecvTimeoutError::from),
            Some(time) => jobs.recv_timeout(time),
        };
        match first {
            Ok(first) => {
                let batch = iter::once(first).chain(jobs.try_iter().take(MAX_JOBS - 1)).collect();
                failpoint::hit("writer.gathered");
                commit(connection, batch, &mut is_hard, log);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return log.clear_at_end(connection),
        }
        log.clear_if_due(connection);
    }
}

/// Commits jobs together, and each one alone if that fails, so that a job fails by its own fault only.
///
/// Savepoints would undo the work of a job that fails, but every page that is changed after one is copied first. There
/// are savepoints therefore only if a job of the transaction has failed without them.
fn commit(connection: &Connection, mut batch: Vec<Box<dyn Job>>, is_hard: &mut Option<bool>, log: &mut Log) {
    failpoint::hit("writer.start");
    let mut savepoints = false;
    let committed = loop {
        if let Err(error) = begin(connection, &batch, is_hard) {
            return answer(batch, Some(error));
        }
        let committed = perform(connection, &mut batch, savepoints);
        if !connection.is_autocommit() {
            drop(connection.execute_batch("rollback"));
        }
        match committed {
            Ok(false) if !savepoints && batch.len() > 1 => savepoints = true,
            committed => break committed,
        }
    };
    match committed {
        Ok(true) => {
            if batch.iter().any(|job| job.has_deleted()) {
                log.clear(connection);
            }
            answer(batch, None);
        }
        _ if batch.len() > 1 => {
            for job in batch {
                commit(connection, vec![job], is_hard, log);
            }
        }
        // The job has an error of its own.
        Ok(false) => answer(batch, None),
        Err(error) => answer(batch, Some(error)),
    }
}

fn answer(batch: Vec<Box<dyn Job>>, error: Option<rusqlite::Error>) {
    let error = error.map(Arc::new);
    for job in batch {
        job.answer(error.clone());
        failpoint::hit("writer.answered");
    }
}

fn begin(
    connection: &Connection,
    batch: &[Box<dyn Job>],
    is_hard: &mut Option<bool>,
) -> rusqlite::Result<()> {
    let hard = batch.iter().any(|job| job.is_hard());
    if *is_hard != Some(hard) {
        // It cannot be changed within a transaction.
        let mode = if hard { "pragma synchronous = full" } else { "pragma synchronous = normal" };
        connection.execute_batch(mode)?;
        *is_hard = Some(hard);
    }
    execute(connection, "begin immediate")
}

/// Runs jobs and commits. Returns `false` if a job failed that has no savepoint, or such that SQLite undid the transaction.
fn perform(connection: &Connection, batch: &mut [Box<dyn Job>], savepoints: bool) -> rusqlite::Result<bool> {
    failpoint::hit("writer.begun");
    for job in batch {
        if savepoints {
            execute(connection, "savepoint job")?;
        }
        if !job.run(connection) {
            if !savepoints || connection.is_autocommit() {
                return Ok(false);
            }
            execute(connection, "rollback to job")?;
        }
        failpoint::hit("writer.performed");
        if savepoints {
            execute(connection, "release job")?;
        }
    }
    failpoint::hit("writer.commit");
    execute(connection, "commit")?;
    failpoint::hit("writer.committed");
    Ok(true)
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use omniassist_server::store::{Durability, StoreError};
    use rusqlite::Connection;

    use super::Writer;
    use crate::failure::Failure;

    /// A row with which a transaction cannot be committed.
    const ORPHAN: &[u8] = b"orphan";

    /// Starts a writer of a database with a limit of pages.
    fn start(folder: &tempfile::TempDir) -> Writer {
        let connection = Connection::open(folder.path().join("a.db")).unwrap();
        let sql = "pragma max_page_count = 100; pragma foreign_keys = on; create table parent (id integer primary key);
             create table item (data blob unique, parent references parent deferrable initially deferred)";
        connection.execute_batch(sql).unwrap();
        Writer::start(connection, Duration::ZERO).unwrap()
    }

    async fn insert(writer: &Writer, data: Vec<u8>) -> Result<usize, Failure> {
        let work = move |connection: &Connection| {
            let parent = (data == ORPHAN).then_some(1);
            Ok(connection.execute("insert into item (data, parent) values (?1, ?2)", (&data, parent))?)
        };
        writer.write(Durability::Soft, work).await
    }

    async fn count(writer: &Writer) -> i64 {
        let count = |connection: &Connection| {
            Ok(connection.query_row("select count(*) from item", [], |row| row.get(0))?)
        };
        writer.write(Durability::Soft, count).await.unwrap()
    }

    /// Inserts three rows in one transaction.
    async fn insert_together(writer: &Writer, rows: [Vec<u8>; 3]) -> [Result<usize, Failure>; 3] {
        let (go, wait) = mpsc::channel::<()>();
        let blocked = writer.write(Durability::Hard, move |_| Ok(wait.recv().is_ok()));
        let [a, b, c] = rows.map(|data| insert(writer, data));
        // The blocked job may be part of the transaction, and then runs again.
        let (_, a, b, c, ()) = tokio::join!(blocked, a, b, c, async { drop(go) });
        [a, b, c]
    }

    #[tokio::test]
    async fn a_failed_job_does_not_affect_those_of_its_commit() {
        let folder = tempfile::tempdir().unwrap();
        let writer = start(&folder);
        let [first, second, third] = insert_together(&writer, [vec![1], vec![1], vec![2]]).await;
        assert!(first.is_ok() && third.is_ok());
        assert!(matches!(second, Err(Failure::Sqlite(_))));
        assert_eq!(count(&writer).await, 2);
    }

    #[tokio::test]
    async fn a_job_with_which_a_commit_fails_does_not_affect_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let writer = start(&folder);
        let [first, second, third] = insert_together(&writer, [vec![1], ORPHAN.into(), vec![2]]).await;
        assert!(first.is_ok() && third.is_ok());
        assert!(matches!(second, Err(Failure::Shared(_))));
        assert_eq!(count(&writer).await, 2);
    }

    #[tokio::test]
    async fn a_full_database_is_told_and_usable_again() {
        let folder = tempfile::tempdir().unwrap();
        let writer = start(&folder);
        let [first, second, third] = insert_together(&writer, [vec![1], vec![2; 1 << 20], vec![3]]).await;
        assert!(StoreError::from(second.unwrap_err()).is_full());
        assert!(first.is_ok() && third.is_ok());
        assert_eq!(count(&writer).await, 2);
    }
}
