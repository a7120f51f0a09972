use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock, Weak};

use tokio::runtime::{Handle, Id};
use tokio::sync::oneshot;

use crate::{Error, Result, one_line, sync};

/// A function that makes a client with the same settings each time.
type Recipe = Box<dyn Fn() -> reqwest::ClientBuilder + Send + Sync>;

/// One pooled client for each tokio runtime that sends requests.
///
/// A connection is a task of the runtime that opened it. If several runtimes shared a pool, as actix's workers would,
/// each chunk would have to wake a thread of another runtime. A runtime that ends would also close connections that
/// other runtimes read from. The threads of one runtime share one client.
///
/// A client takes about 3 ms to make and 110 KB of memory, nearly all for the system's root certificates. It is
/// dropped with its runtime.
pub(crate) struct Clients {
    recipe: Recipe,
    /// The client of the first runtime. It is created early, so that invalid settings are refused early. It also serves
    /// a runtime whose client cannot be created, as in a process that may no longer read files.
    first: reqwest::Client,
    first_is_taken: AtomicBool,
    table: Arc<Table>,
}

/// The clients by runtime. There are as many rows as live runtimes that have sent a request.
type Table = RwLock<Vec<Row>>;

struct Row {
    runtime: Id,
    client: reqwest::Client,
    /// Ends the runtime's [`Watch`] when the row is dropped.
    _in_use: oneshot::Sender<Infallible>,
}

impl Clients {
    pub(crate) fn new(recipe: impl Fn() -> reqwest::ClientBuilder + Send + Sync + 'static) -> Result<Self> {
        let recipe: Recipe = Box::new(recipe);
        let first = make(&recipe)?;
        Ok(Self { recipe, first, first_is_taken: AtomicBool::new(false), table: Arc::default() })
    }

    /// Returns the client of this runtime. Only the first call for a runtime may block.
    pub(crate) fn of(&self, runtime: &Handle) -> reqwest::Client {
        let known = find(&sync::read(&self.table), runtime.id());
        known.unwrap_or_else(|| self.admit(runtime))
    }

    #[cold]
    fn admit(&self, runtime: &Handle) -> reqwest::Client {
        // Making a client may read files, so it happens outside of the lock.
        let client = if self.first_is_taken.swap(true, Ordering::Relaxed) {
            make(&self.recipe).unwrap_or_else(|error| {
                tracing::warn!(error = %one_line::chain(&error), "a runtime shares the connections of another");
                self.first.clone()
            })
        } else {
            self.first.clone()
        };
        let (in_use, unused) = oneshot::channel();
        let id = runtime.id();
        {
            let mut rows = sync::write(&self.table);
            // Another thread of the runtime may have added a client meanwhile.
            if let Some(client) = find(&rows, id) {
                return client;
            }
            rows.push(Row { runtime: id, client: client.clone(), _in_use: in_use });
        }
        // A runtime that is shutting down drops the task at once, which takes the lock. It must not be held here.
        let watch = Watch { table: Arc::downgrade(&self.table), runtime: id };
        runtime.spawn(async move {
            let _watch = watch;
            let _ = unused.await;
        });
        client
    }
}

/// Removes a runtime's row when the runtime ends and drops its tasks. Another runtime may get the same id later.
struct Watch {
    table: Weak<Table>,
    runtime: Id,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Some(table) = self.table.upgrade() else { return };
        let mut rows = sync::write(&table);
        let index = rows.iter().position(|row| row.runtime == self.runtime);
        let row = index.map(|index| rows.swap_remove(index));
        // A client's connections are closed outside of the lock.
        drop(rows);
        drop(row);
    }
}

fn find(rows: &[Row], runtime: Id) -> Option<reqwest::Client> {
    rows.iter().find(|row| row.runtime == runtime).map(|row| row.client.clone())
}

fn make(recipe: &Recipe) -> Result<reqwest::Client> {
    recipe().build().map_err(|error| {
        Error::configuration("the HTTP client cannot be set up").with_source(error.without_url())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn each_runtime_has_one_client_until_it_ends() {
        let (made, both) = (AtomicUsize::new(0), Barrier::new(2));
        let recipe = move || {
            let client = reqwest::Client::builder();
            if made.fetch_add(1, Ordering::Relaxed) == 0 {
                return client;
            }
            both.wait();
            // A later client cannot be built, as in a process that may no longer read files. The first one must be
            // used.
            client.user_agent("\n")
        };
        let clients = Clients::new(recipe).unwrap();
        let [early, late] = [(); 2].map(|()| Builder::new_current_thread().enable_all().build().unwrap());
        clients.of(early.handle());
        thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| clients.of(late.handle()));
            }
        });
        assert_eq!(sync::read(&clients.table).len(), 2);
        drop((early, late));
        assert_eq!(sync::read(&clients.table).len(), 0);
    }
}
