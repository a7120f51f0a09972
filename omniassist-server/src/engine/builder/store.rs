use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::Extensions;

use super::AssistantBuilder;
use crate::afs::Afs;
use crate::engine::settings::RunHook;
use crate::engine::stores::Stores;
use crate::engine::{OnDisconnect, Recovery, WhenBusy};
use crate::store::{ConversationStore, Retention, RunStore};
use crate::{BoxError, Error, Result, RunContext};

impl AssistantBuilder {
    /// Stores the conversations and runs of clients. Default: none, and the client holds its conversation.
    ///
    /// A request is stored if it has a chat id and a [`Principal`](crate::Principal) that is not anonymous. Such a run goes
    /// on when its client leaves, and after a restart of the server. The client can post the last message only.
    /// `POST /completion`, `POST /object`, plain text and OpenAI's clients are not stored.
    ///
    /// ```
    /// use omniassist_server::Assistant;
    /// use omniassist_server::store::MemoryStore;
    /// # use omniassist_server::testing::ScriptedProvider;
    ///
    /// // For tests. `SqliteStore::open("assistant.db")?` of `omniassist-sqlite` keeps them in a file.
    /// let assistant = Assistant::builder(ScriptedProvider::new()).store(MemoryStore::new()).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn store<S: RunStore + ConversationStore>(mut self, store: S) -> Self {
        let store = Arc::new(store);
        self.stores.both = Some((Arc::<S>::clone(&store), store));
        self
    }

    /// Stores conversations in tables of the application, and runs in the [`store`](Self::store). Default: both in the
    /// `store`.
    ///
    /// Messages are then saved at least once, before the end of their run is stored. The message of a run that goes on or
    /// waits is built from the journal of the run, so that the next save replaces a change that the application has made to
    /// it. All other messages can be changed at any time.
    pub fn conversations(mut self, conversations: impl ConversationStore) -> Self {
        self.stores.conversations = Some(Arc::new(conversations));
        self
    }

    /// Sets the fate of a stored run whose server stopped. Default: [`Recovery::Resume`].
    pub fn recovery(mut self, recovery: Recovery) -> Self {
        self.config.recovery = recovery;
        self
    }

    /// Sets an async function that returns the extensions of a stored run that the server continues without a request:
    /// after a restart, from a queue, or when an answer arrived elsewhere. Default: the
    /// [`Principal`](crate::Principal) is the only one.
    ///
    /// Tools find in them what a middleware puts into the extensions of a request, as
    /// [`Extension<T>`](crate::tool::Extension). The context has the principal, the chat id and the stored messages. The
    /// principal cannot be replaced. If the function fails, panics or takes longer than 30 seconds, it is called again twice.
    /// The run then ends as
    /// [`Interrupted`](crate::store::RunState::Interrupted), and what it wrote is kept.
    ///
    /// ```
    /// use http::Extensions;
    /// use omniassist_server::store::MemoryStore;
    /// use omniassist_server::{Assistant, RunContext};
    /// # use omniassist_server::testing::ScriptedProvider;
    ///
    /// #[derive(Clone)]
    /// struct Account {
    ///     plan: String,
    /// }
    ///
    /// async fn account(run: RunContext) -> Result<Extensions, std::io::Error> {
    ///     // Read it from a database, by `run.principal()`.
    ///     let mut extensions = Extensions::new();
    ///     extensions.insert(Account { plan: "free".to_owned() });
    ///     Ok(extensions)
    /// }
    ///
    /// let assistant = Assistant::builder(ScriptedProvider::new())
    ///     .store(MemoryStore::new())
    ///     .recover_with(account)
    ///     .build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn recover_with<F, Fut, E>(mut self, hook: F) -> Self
    where
        F: Fn(RunContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Extensions, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        self.config.recover = Some(RunHook::new(hook));
        self
    }

    /// Sets what a client may choose for a post to a busy chat, with the header `X-Omniassist-When-Busy`: `supersede`,
    /// `reject`, `enqueue` or `discard`. Another value is refused. Default: nothing.
    ///
    /// A [`WhenBusy`] in the extensions of the request takes precedence over the header, and both over
    /// [`when_busy`](Self::when_busy). A plan cannot decide it, since it is made when the run begins.
    ///
    /// ```
    /// use omniassist_server::store::MemoryStore;
    /// use omniassist_server::{Assistant, WhenBusy};
    /// # use omniassist_server::testing::ScriptedProvider;
    ///
    /// let assistant = Assistant::builder(ScriptedProvider::new())
    ///     .store(MemoryStore::new())
    ///     .when_busy(WhenBusy::Reject)
    ///     .client_when_busy([WhenBusy::Supersede, WhenBusy::Enqueue])
    ///     .build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn client_when_busy(mut self, allowed: impl IntoIterator<Item = WhenBusy>) -> Self {
        self.config.client_when_busy = allowed.into_iter().collect();
        self
    }

    /// Returns the history of components: the given one, or that of the store.
    pub(super) fn afs_of(given: Option<Afs>, stores: Option<&Stores>) -> Afs {
        given.unwrap_or_else(|| stores.map_or_else(Afs::transcript, Stores::afs))
    }

    /// Checks that the treatments of busy chats are possible.
    pub(super) fn check_when_busy(&self) -> Result<()> {
        let config = &self.config;
        let mut wanted = config.client_when_busy.iter().chain([&config.when_busy]);
        if !wanted.any(|when_busy| when_busy.needs_store()) {
            return Ok(());
        }
        if self.stores.both.is_none() {
            return Err(Error::configuration("`WhenBusy::Enqueue` and `WhenBusy::Discard` need a `store`"));
        }
        if config.history_loader.is_some() {
            return Err(Error::configuration(
                "`WhenBusy::Enqueue` and `WhenBusy::Discard` need the conversations of a store, and no `history_loader`",
            ));
        }
        Ok(())
    }

    /// Sets the fate of a stored run whose last viewer leaves. Default: [`OnDisconnect::Continue`].
    pub fn on_disconnect(mut self, on_disconnect: OnDisconnect) -> Self {
        self.config.on_disconnect = on_disconnect;
        self
    }

    /// Sets the times for which the [`store`](Self::store) keeps things. Default: [`Retention::default`], which keeps
    /// conversations for ever.
    ///
    /// Things past their time are deleted once a minute, in small transactions. The first sweep begins with
    /// [`build`](Self::build) within a tokio runtime, otherwise with the first stored run. Conversations in
    /// [tables of the application](Self::conversations) are not deleted.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use omniassist_server::Assistant;
    /// use omniassist_server::store::{MemoryStore, Retention};
    /// # use omniassist_server::testing::ScriptedProvider;
    ///
    /// let mut retention = Retention::default();
    /// retention.conversations = Some(Duration::from_secs(90 * 24 * 60 * 60));
    /// let assistant =
    ///     Assistant::builder(ScriptedProvider::new()).store(MemoryStore::new()).retention(retention).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn retention(mut self, retention: Retention) -> Self {
        self.config.retention = retention;
        self
    }

    /// Sets the time after its end in which a stored run is replayed for a client that comes back to its chat
    /// (`GET /{chat_id}/stream`). Default: 60 s.
    ///
    /// The AI SDK's clients ask for the stream of a chat after a lost connection. An answer without content tells them that
    /// nothing is missing, so a run that ended during the loss is sent again. After the window, pages that were offline show
    /// the partial answer until they load the messages of the chat.
    pub fn resume_window(mut self, window: Duration) -> Self {
        self.config.http.resume_window = Some(window);
        self
    }
}
