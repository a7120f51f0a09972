//! The host's store of conversations, for clients that post the last message only.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use omniassist_core::message::Message;

use crate::engine::plan::{PlanParameters, Refusal};
use crate::tool::{FromRun, StateMap, ToolDescription, up_to_8_types};
use crate::{RunContext, panics};

/// A function that loads a stored conversation: an async function or closure of 0 to 8 extractors
/// ([`FromRun`]) that returns its messages, oldest first. There is nothing to implement. See
/// [`AssistantBuilder::history_loader`](crate::AssistantBuilder::history_loader).
///
/// `P` is the tuple of the extractors' types, and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot load a stored conversation",
    label = "not such a function",
    note = "write `async fn load(ChatId(chat): ChatId, …) -> Result<Vec<Message>, Refusal>`, or with `ChatMessage`",
    note = "it takes 0 to 8 extractors: `ChatId`, `Principal`, `State<T>`, `Extension<T>`, `RunContext`",
    note = "a closure needs types for its parameters, and its future must be `Send`"
)]
pub trait HistoryLoader<P>: Send + Sync + 'static {
    /// The form of the messages: [`Message`], or [`ChatMessage`](omniassist_core::message::ChatMessage) for plain text.
    type Message: Into<Message>;

    /// The return type of the function.
    type Future: Future<Output = Result<Vec<Self::Message>, Refusal>> + Send + 'static;

    /// Calls the function.
    fn call(&self, parameters: P) -> Self::Future;
}

macro_rules! impl_history_loader {
    ($($param:ident),*) => {
        #[allow(non_snake_case, reason = "a parameter's value is named after its type")]
        impl<F, Fut, M, $($param,)*> HistoryLoader<($($param,)*)> for F
        where
            F: Fn($($param),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Result<Vec<M>, Refusal>> + Send + 'static,
            M: Into<Message>,
            $($param: FromRun + 'static,)*
        {
            type Message = M;
            type Future = Fut;

            fn call(&self, ($($param,)*): ($($param,)*)) -> Fut {
                self($($param),*)
            }
        }
    };
}

up_to_8_types!(impl_history_loader);

type Loading = Pin<Box<dyn Future<Output = Result<Vec<Message>, Refusal>> + Send>>;

type StoredLoader = dyn Fn(&RunContext, &StateMap) -> Loading + Send + Sync;

/// The stored function.
pub(in crate::engine) struct LoaderHook {
    call: Box<StoredLoader>,
    describe: fn(&mut ToolDescription),
}

impl LoaderHook {
    pub(in crate::engine) fn new<P, F>(loader: F) -> Self
    where
        P: PlanParameters,
        F: HistoryLoader<P>,
    {
        let loader = Arc::new(loader);
        let call = move |run: &RunContext, state: &StateMap| -> Loading {
            let (loader, parameters) = (Arc::clone(&loader), P::from_run(run, state));
            Box::pin(async move {
                let messages = loader.call(parameters?).await?;
                Ok(messages.into_iter().map(Into::into).collect())
            })
        };
        Self { call: Box::new(call), describe: P::describe }
    }

    pub(in crate::engine) async fn load(
        &self,
        run: &RunContext,
        state: &StateMap,
    ) -> Result<Vec<Message>, Refusal> {
        let loaded = panics::catch_async("the history loader", async { (self.call)(run, state).await }).await;
        loaded.unwrap_or_else(|| Err(Refusal::internal("the history loader panicked")))
    }

    /// Returns the name of the first type of `State` that the function needs and the host did not give.
    pub(in crate::engine) fn unmet_need(&self, state: &StateMap) -> Option<&'static str> {
        let mut needs = ToolDescription::default();
        (self.describe)(&mut needs);
        needs.unmet(state)
    }
}
