//! An answer that comes without a post of its chat, such as from a link in a mail.

use std::sync::Arc;

use http::Extensions;
use omniassist_core::{Error, Text};

use super::answer_signal::answer_signal;
use crate::engine::Assistant;
use crate::engine::stores::Stores;
use crate::engine::stores::answers::Answer;
use crate::engine::stores::refused;
use crate::store::{Claim, RunHead, RunState, Scope, Signal, Signalled, Which};

/// The fate of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    /// It is durable. The run is in this state now.
    Taken(RunState),
    /// The question has another answer.
    Before,
    /// The run does not wait for it.
    Late,
}

impl Assistant {
    /// Answers a question of a run, and continues the run if it was the last one.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the run cannot be continued.
    pub(crate) async fn answer_call(
        &self,
        scope: &Scope,
        head: &RunHead,
        call: &str,
        answer: &Answer,
        extensions: Extensions,
    ) -> Result<Answered, Error> {
        let Some(stores) = self.stores() else { return Ok(Answered::Late) };
        self.begin_lease(stores).await?;
        let signal = answer_signal(Text::from(call), answer, None, scope.owner());
        let signal = signal.map_err(|error| refused::by_store(&error))?;
        self.send_answer(stores, head, &signal, extensions).await
    }

    /// Sends a run the signal of an answer, and continues the run if it was the last one. Nobody watches the run.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the run cannot be continued.
    pub(super) async fn send_answer(
        &self,
        stores: &Arc<Stores>,
        head: &RunHead,
        signal: &Signal,
        extensions: Extensions,
    ) -> Result<Answered, Error> {
        let scope = &head.scope;
        match stores.runs.signal(scope, head.run, signal).await.map_err(|error| refused::by_store(&error))? {
            Signalled::Taken => {}
            Signalled::Repeats(_) => return Ok(Answered::Before),
            Signalled::Late | Signalled::Gone => return Ok(Answered::Late),
        }
        if let Some(view) = self.take_over(stores, head.run, Claim::IfFree, extensions, None).await? {
            view.detach();
        }
        let head = self.find_run(scope, Which::Run(head.run)).await?;
        Ok(head.map_or(Answered::Late, |head| Answered::Taken(head.state)))
    }
}
