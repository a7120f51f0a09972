use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::Shared;
use omniassist_core::Text;
use omniassist_core::message::{ChatMessage, Message};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use super::RunReport;
use super::pending::{Pending, PendingChats};
use crate::{BoxError, Principal, RunContext, one_line, panics};

/// A run that has ended, with its messages. See
/// [`AssistantBuilder::on_finish`](crate::AssistantBuilder::on_finish).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FinishedRun {
    /// The identity of the run, its outcome, usage, cost and context.
    pub report: RunReport,
    /// The assistant's message. It holds what was written before a failure, a stop or a disconnect, and has no parts if
    /// nothing was. A continued message includes its earlier parts. The parts carry the seals that a client got, so a
    /// stored message can be posted again.
    pub message: Message,
    /// The run. Its messages are verified, and have no seals.
    pub context: RunContext,
    /// The posted messages with their seals; `None` for a run of the host.
    posted: Option<Arc<[Message]>>,
}

impl FinishedRun {
    pub(crate) fn new(
        report: RunReport,
        message: Message,
        posted: Option<Arc<[Message]>>,
        context: RunContext,
    ) -> Self {
        Self { report, message, context, posted }
    }

    /// Returns the conversation after the run: the posted messages, and the assistant's message unless it has no parts.
    /// A continued message replaces the posted one. Messages that a
    /// [history loader](crate::AssistantBuilder::history_loader) gave are included.
    ///
    /// The messages are verified: a result that no seal proves is an error. They keep their seals, so they can be stored
    /// as JSON, and loaded or posted again.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        let posted = self.posted.as_deref().unwrap_or_else(|| self.context.messages());
        let mut messages = posted.to_vec();
        if self.message.parts.is_empty() {
            return messages;
        }
        messages.pop_if(|last| last.id == self.message.id);
        messages.push(self.message.clone());
        messages
    }

    /// Returns the [messages](Self::messages) as plain text: id, role and text. Other parts, such as tool calls, are left
    /// out.
    #[must_use]
    pub fn chat_messages(&self) -> Vec<ChatMessage> {
        let plain = |message: Message| {
            let content = Text::from(message.text());
            ChatMessage { id: message.id, role: message.role, content }
        };
        self.messages().into_iter().map(plain).collect()
    }
}

/// Completes when the end of a stored run is durable, and with an error if this server has not ended the run.
pub(crate) type Settled = Shared<oneshot::Receiver<()>>;

type HookFuture = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>;
type Hook = Arc<dyn Fn(FinishedRun) -> HookFuture + Send + Sync>;

/// The functions of the host that receive finished runs.
#[derive(Default)]
pub(crate) struct FinishHooks {
    hooks: Vec<Hook>,
    tasks: TaskTracker,
    /// Set if a history loader waits for the calls of a chat.
    chats: Option<PendingChats>,
}

impl FinishHooks {
    pub(crate) fn add<F, Fut, E>(&mut self, hook: F)
    where
        F: Fn(FinishedRun) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<BoxError>,
    {
        self.hooks.push(Arc::new(move |run| {
            let result = hook(run);
            Box::pin(async move { result.await.map_err(Into::into) })
        }));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Keeps a record of the calls of each chat, for [`saved`](Self::saved).
    pub(crate) fn track_chats(&mut self) {
        self.chats.get_or_insert_default();
    }

    /// Waits until no hook is running for this chat.
    pub(crate) async fn saved(&self, principal: &Principal, chat_id: &Text) {
        if let Some(chats) = &self.chats {
            chats.settled(principal, chat_id).await;
        }
    }

    /// Calls each hook in a task of this runtime, once a stored run is settled.
    pub(crate) fn call(&self, run: &FinishedRun, runtime: Option<&Handle>, settled: Option<&Settled>) {
        for hook in &self.hooks {
            let pending = self.chats.as_ref().zip(run.context.chat_id());
            let pending = pending.map(|(chats, chat_id)| chats.begin(run.context.principal(), chat_id));
            let run_id = run.report.run.run_id.clone();
            let call = Call { hook: Arc::clone(hook), run_id, is_over: false, _pending: pending };
            if let Some(runtime) = runtime {
                runtime.spawn(self.tasks.track_future(call.run(run.clone(), settled.cloned())));
            }
        }
    }

    /// Waits until no hook is running.
    pub(crate) async fn idle(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// One call of a hook. It logs an error if it is dropped before its end.
struct Call {
    hook: Hook,
    run_id: Text,
    is_over: bool,
    _pending: Option<Pending>,
}

impl Call {
    async fn run(mut self, run: FinishedRun, settled: Option<Settled>) {
        if let Some(settled) = settled
            && settled.await.is_err()
        {
            self.is_over = true;
            return;
        }
        let called =
            panics::catch_async("the function of `on_finish`", async { (self.hook)(run).await }).await;
        self.is_over = true;
        if let Some(Err(error)) = called {
            let error = one_line::chain(&*error);
            tracing::error!(run_id = self.run_id.as_str(), %error, "the function of `on_finish` failed");
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.is_over {
            let run_id = self.run_id.as_str();
            tracing::error!(
                run_id,
                "the function of `on_finish` did not complete: there is no tokio runtime"
            );
        }
    }
}
