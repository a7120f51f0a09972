use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use futures_util::TryStreamExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;
use tokio_postgres::{AsyncMessage, Client, Row};

use crate::failure::Failure;
use crate::values::Value;

/// The payloads of notifications. The channel ends with the connection.
pub(crate) type Notifications = UnboundedReceiver<String>;

/// The request to end the statement of a connection.
type Cancel = Box<dyn FnOnce() -> CancelFuture + Send + Sync>;

type CancelFuture = Pin<Box<dyn Future<Output = Result<(), tokio_postgres::Error>> + Send>>;

/// A connection, whose input and output are a task.
pub(crate) struct Connection {
    client: Client,
    task: AbortHandle,
    cancel: Cancel,
    /// The reason for the end of the connection, if the database or the network ended it.
    end: Arc<OnceLock<Arc<tokio_postgres::Error>>>,
}

impl Connection {
    pub(super) fn start<S, T>(
        client: Client,
        connection: tokio_postgres::Connection<S, T>,
        cancel: Cancel,
    ) -> (Self, Notifications)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, notifications) = unbounded_channel();
        let end = Arc::default();
        let task = tokio::spawn(run(connection, sender, Arc::clone(&end))).abort_handle();
        (Self { client, task, cancel, end }, notifications)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Executes statements without parameters. They are sent with the first poll.
    pub(crate) async fn execute(&self, sql: &str) -> Result<(), Failure> {
        self.client.batch_execute(sql).await.map_err(|error| self.failure(error))
    }

    /// Returns the rows of a statement, which is sent with the first poll.
    pub(crate) async fn query(&self, sql: &str, values: Vec<Value<'_>>) -> Result<Vec<Row>, Failure> {
        let rows = async { self.client.query_typed_raw(sql, values).await?.try_collect().await };
        rows.await.map_err(|error| self.failure(error))
    }

    /// Adds the reason for the end of the connection to an error that only says that it has ended.
    fn failure(&self, error: tokio_postgres::Error) -> Failure {
        match self.end.get() {
            Some(end) if error.is_closed() => Failure::Ended(Arc::clone(end)),
            _ => Failure::Postgres(error),
        }
    }

    /// Cuts the connection, and ends its statement: a server goes on with the statement of a client that is gone.
    pub(super) fn cut(self) {
        if !self.client.is_closed()
            && let Ok(runtime) = Handle::try_current()
        {
            // Without an answer, the statement ends by itself.
            runtime.spawn((self.cancel)());
        }
        self.task.abort();
    }
}

async fn run<S, T>(
    mut connection: tokio_postgres::Connection<S, T>,
    notifications: UnboundedSender<String>,
    end: Arc<OnceLock<Arc<tokio_postgres::Error>>>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
        match message {
            Ok(AsyncMessage::Notification(notification)) => {
                // Most connections have no reader of notifications, and get none.
                let _ = notifications.send(notification.payload().to_owned());
            }
            Ok(AsyncMessage::Notice(notice)) => tracing::debug!(%notice, "the database sent a notice"),
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "a connection to the database has ended");
                // Nothing else sets it.
                let _ = end.set(Arc::new(error));
                return;
            }
        }
    }
}
