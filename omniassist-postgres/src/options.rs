use std::fmt;
use std::time::Duration;

/// The settings of a [`PostgresStore`](crate::PostgresStore).
///
/// ```no_run
/// use omniassist_postgres::PostgresStore;
///
/// # async fn example() -> Result<(), omniassist_server::store::StoreError> {
/// // Through PgBouncer, whose transactions cannot receive notifications.
/// let store = PostgresStore::options()
///     .listener_url("postgres://app@db.internal:5432/app")
///     .schema("chat")
///     .connect("postgres://app@pgbouncer.internal:6432/app")
///     .await?;
/// # let _ = store;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct PostgresOptions {
    pub(crate) schema: String,
    pub(crate) writers: usize,
    pub(crate) readers: usize,
    pub(crate) listener_url: Option<String>,
    /// PEM texts.
    pub(crate) root_certificates: Vec<Vec<u8>>,
    pub(crate) connect_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) soft_writes: bool,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            schema: "omniassist".to_owned(),
            writers: 4,
            readers: 2,
            listener_url: None,
            root_certificates: Vec::new(),
            connect_timeout: Duration::from_secs(2),
            timeout: Duration::from_secs(3),
            soft_writes: true,
        }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may have a password.
        f.debug_struct("PostgresOptions")
            .field("schema", &self.schema)
            .field("writers", &self.writers)
            .field("readers", &self.readers)
            .field("connect_timeout", &self.connect_timeout)
            .field("timeout", &self.timeout)
            .field("soft_writes", &self.soft_writes)
            .finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// Sets the name of the schema with the tables. Default: `omniassist`.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// Sets the number of connections that write: one for journals and leases, and the others for transactions of runs and
    /// conversations. They are opened when they are needed. Default: 4, and at least 2.
    pub fn writers(mut self, connections: usize) -> Self {
        self.writers = connections;
        self
    }

    /// Sets the number of connections that read, opened when they are needed. Default: 2, and at least 1.
    pub fn readers(mut self, connections: usize) -> Self {
        self.readers = connections;
        self
    }

    /// Sets the URL of the connection that receives hints of other instances. A pooler such as PgBouncer in transaction mode
    /// passes no notifications, so behind one this is the URL of the database itself. A server to which its own notification
    /// does not return logs a warning, and reads the answers of other servers every 50 ms. Default: the URL of the store.
    pub fn listener_url(mut self, url: impl Into<String>) -> Self {
        self.listener_url = Some(url.into());
        self
    }

    /// Adds the certificates of this PEM text to the trusted root certificates of the system. The databases of most clouds
    /// require the certificate of their operator. The URL must demand TLS. May be called more than once. Default: none.
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates.push(pem.into());
        self
    }

    /// Sets the time for opening a connection. After it, the method that needs the connection fails with an
    /// [unavailable](omniassist_server::store::StoreError::is_unavailable) error. Default: 2 s.
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time;
        self
    }

    /// Sets the time for each method, the wait for a connection included. After it, the method fails with an
    /// [unavailable](omniassist_server::store::StoreError::is_unavailable) error. The database ends a transaction whose client
    /// is silent for this time, so that a server that hangs holds no locks. Default: 3 s, so that a lease survives one of them.
    ///
    /// The deletion of all conversations of a user takes several transactions, and each of them has this time.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Sets if text is written with `synchronous_commit = off`. Such a write does not wait for the disk, and a crash of the
    /// database loses those of the last moments: less than 600 ms with its defaults. Calls, results, questions and ends wait
    /// in any case. Default: `true`.
    pub fn soft_writes(mut self, soft: bool) -> Self {
        self.soft_writes = soft;
        self
    }
}
