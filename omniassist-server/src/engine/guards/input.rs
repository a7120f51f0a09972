use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_util::future::try_join_all;
use omniassist_core::LlmEvent;

use crate::engine::plan::Refusal;
use crate::provider::LlmStream;
use crate::{Error, Result, RunContext, one_line, panics};

/// The number of the model's events that are buffered for the guards. Further ones stay with the provider.
const MAX_WAITING: usize = 64;

type Check = Pin<Box<dyn Future<Output = Result<(), Refusal>> + Send>>;

/// A check of a run's input, beside its first model call.
#[derive(Clone)]
pub(in crate::engine) struct InputGuard(Arc<dyn Fn(RunContext) -> Check + Send + Sync>);

impl InputGuard {
    pub(in crate::engine) fn new<F, Fut, E>(guard: F) -> Self
    where
        F: Fn(RunContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Refusal>,
    {
        Self(Arc::new(move |run| {
            let check = guard(run);
            Box::pin(async move { check.await.map_err(Into::into) })
        }))
    }

    async fn check(self, run: RunContext) -> Result<()> {
        let id = run.run_id().clone();
        let checked = panics::catch_async("an input guard", async move { self.0(run).await }).await;
        let Err(refusal) = checked.unwrap_or_else(|| Err(Refusal::internal("an input guard panicked")))
        else {
            return Ok(());
        };
        Err(match refusal.source() {
            None => Error::refused(refusal.code(), refusal.message().clone()),
            Some(source) => {
                let error = one_line::chain(source);
                tracing::error!(run_id = id.as_str(), %error, "an input guard failed");
                Error::configuration("an input guard failed")
            }
        })
    }
}

/// The stream of an answer that is withheld until the input is checked. The provider is called at the same time. A refusal
/// closes the connection to it.
pub(super) struct GuardedStream {
    checks: Option<Pin<Box<dyn Future<Output = Result<()>> + Send>>>,
    answer: Option<LlmStream>,
    waiting: VecDeque<Option<Result<LlmEvent>>>,
}

impl GuardedStream {
    pub(super) fn new(answer: LlmStream, guards: &[InputGuard], run: &RunContext) -> Self {
        let checks: Vec<_> = guards.iter().map(|guard| guard.clone().check(run.clone())).collect();
        let checks = async move { try_join_all(checks).await.map(drop) };
        Self { checks: Some(Box::pin(checks)), answer: Some(answer), waiting: VecDeque::new() }
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<LlmEvent>>> {
        let Some(answer) = &mut self.answer else { return Poll::Ready(None) };
        let event = ready!(answer.as_mut().poll_next(cx));
        if event.is_none() {
            self.answer = None;
        }
        Poll::Ready(event)
    }
}

impl Stream for GuardedStream {
    type Item = Result<LlmEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let Some(checks) = &mut this.checks {
            match checks.as_mut().poll(cx) {
                Poll::Ready(Ok(())) => this.checks = None,
                Poll::Ready(Err(error)) => {
                    (this.checks, this.answer) = (None, None);
                    // The tokens that the provider has counted cost money.
                    let is_counted = |event: &Option<Result<LlmEvent>>| {
                        matches!(event, Some(Ok(LlmEvent::Start { .. } | LlmEvent::Usage(_))))
                    };
                    this.waiting.retain(is_counted);
                    this.waiting.push_back(Some(Err(error)));
                }
                Poll::Pending => {
                    while this.answer.is_some() && this.waiting.len() < MAX_WAITING {
                        let event = ready!(this.poll_answer(cx));
                        this.waiting.push_back(event);
                    }
                    return Poll::Pending;
                }
            }
        }
        match this.waiting.pop_front() {
            Some(event) => Poll::Ready(event),
            None => this.poll_answer(cx),
        }
    }
}
