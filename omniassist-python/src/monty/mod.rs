//! The pool of workers.

#[cfg(target_os = "linux")]
mod os_limits;
mod program;
mod runtime;
mod value;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use monty_pool::{Pool, PoolConfig, PoolError, ReplConfig};
use tokio::time::timeout;

use crate::{CodeOutcome, CodeRunner, PythonError, Session};

/// The time that a worker has, beyond that of its program, to stop the program itself.
const GRACE: Duration = Duration::from_millis(200);

/// The longest time that a program waits for a worker.
const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of programs after which a worker is replaced, in case it leaks memory.
const PROGRAMS_OF_A_WORKER: u32 = 1_000;

/// Processes of the Monty interpreter, which run programs. Cloning gives another handle to the same workers.
///
/// A worker has an empty environment, and runs one program at a time. A program that exceeds its time or its memory, or ends
/// its interpreter, costs one worker, which is replaced. Dropping the last handle kills the workers. They belong to the tokio
/// runtime that started them.
///
/// # Limits of the operating system
///
/// On Linux, each worker also has limits of the kernel (`prlimit`). They hold even if the interpreter is broken:
///
/// - Memory: the address space of [`Code::memory`](crate::Code::memory) and 128 MiB.
/// - Processor time: what [`Code::time`](crate::Code::time) allows, and up to 2 s more. A worker whose host was killed
///   therefore ends too.
/// - It cannot write files, open more than a few of them, or dump its memory. If the server does not run as root, a worker
///   cannot start threads or processes either.
///
/// Other systems have the limits of the interpreter and of the pool only. Text that a worker itself writes to standard error,
/// such as the message of its panic, appears in that of the server. If that is a file on Linux, the text is lost, and the
/// signal `SIGXFSZ` ends the worker.
///
/// A worker inherits the descriptors of the server that are not closed by `exec`. Those that Rust and SQLite open are closed.
#[derive(Clone)]
pub struct MontyPool {
    pool: Arc<Pool>,
    wait: Duration,
}

/// The settings of a [`MontyPool`].
#[derive(Debug, Clone)]
#[must_use = "no worker runs until the pool is started"]
pub struct MontyPoolBuilder {
    path: PathBuf,
    workers: usize,
    wait: Duration,
}

impl MontyPool {
    /// Creates the settings of a pool. `path` is that of the program `monty` of the PyPI package `pydantic-monty-runtime`.
    pub fn at(path: impl Into<PathBuf>) -> MontyPoolBuilder {
        MontyPoolBuilder { path: path.into(), workers: 2, wait: Duration::from_secs(10) }
    }

    /// Returns the process ids of the workers that run no program at present.
    #[must_use]
    pub fn idle_workers(&self) -> Vec<u32> {
        self.pool.idle_worker_pids()
    }
}

impl MontyPoolBuilder {
    /// Sets the number of workers, which is also the number of programs that run at the same time. Each needs 10 MB while it
    /// is idle. Default: 2.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Sets the time that a program waits for a free worker. Default: 10 s; at most a day.
    pub fn wait(mut self, time: Duration) -> Self {
        self.wait = time.min(MAX_WAIT);
        self
    }

    /// Checks the runtime and starts the workers.
    ///
    /// # Errors
    ///
    /// Returns an error with the command that installs the runtime if there is none at the path, or if its version is not the
    /// one that this crate needs. Returns an error if a worker cannot be started.
    pub async fn start(self) -> Result<MontyPool, PythonError> {
        let Self { path, workers, wait } = self;
        runtime::check(&path).await?;
        let mut config = PoolConfig::subprocess(path);
        (config.min_processes, config.max_processes) = (workers, workers);
        config.checkout_timeout = Some(wait);
        config.duration_limit_grace = Some(GRACE);
        config.max_checkouts_per_worker = Some(PROGRAMS_OF_A_WORKER);
        let pool = Pool::new(config).await.map_err(PythonError::worker)?;
        // A worker answers its first request when it is warm.
        let mut warm = Vec::new();
        for _ in 0..workers {
            warm.push(pool.checkout(&ReplConfig::default()).await.map_err(PythonError::worker)?);
        }
        for worker in warm {
            worker.finish().await.map_err(PythonError::worker)?;
        }
        Ok(MontyPool { pool: Arc::new(pool), wait })
    }
}

impl CodeRunner for MontyPool {
    async fn run(&self, code: &str, session: &Session) -> Result<CodeOutcome, PythonError> {
        let config = program::config(session.limits());
        let worker = match timeout(self.wait + program::READY, self.pool.checkout(&config)).await {
            Ok(Ok(worker)) => worker,
            Ok(Err(PoolError::Exhausted)) => return Err(PythonError::busy(self.wait)),
            Ok(Err(error)) => return Err(PythonError::worker(error)),
            Err(elapsed) => return Err(PythonError::worker(elapsed)),
        };
        #[cfg(target_os = "linux")]
        if let Some(pid) = worker.pid() {
            os_limits::set(pid, session.limits()).map_err(PythonError::worker)?;
        }
        program::run(worker, code, session).await
    }
}

impl fmt::Debug for MontyPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MontyPool").field("wait", &self.wait).finish_non_exhaustive()
    }
}
