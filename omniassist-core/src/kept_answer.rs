use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::Text;

/// The place of an answer that its provider keeps. Only the provider that made it understands it.
///
/// A [journal](crate::journal) stores it, so it contains no secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AnswerHandle {
    /// The provider that keeps the answer, with its address and its model. Other providers ignore the handle.
    pub keeper: Text,
    /// The provider's id of the answer.
    pub id: Text,
}

impl AnswerHandle {
    /// Creates a handle.
    #[must_use]
    pub fn new(keeper: impl Into<Text>, id: impl Into<Text>) -> Self {
        Self { keeper: keeper.into(), id: id.into() }
    }
}

/// The part of a request that concerns an answer which outlives its stream. A clone belongs to the same answer.
///
/// A provider that keeps answers sends [`LlmEvent::Kept`](crate::LlmEvent::Kept). It goes on with such an answer when
/// the connection is lost, so dropping the stream has to cancel it. The exception is an answer that another process
/// fetches.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct KeptAnswer {
    /// The answer to fetch in place of a new one. A provider that does not keep it makes a new one. Default: none.
    pub fetch: Option<AnswerHandle>,
    is_left: Arc<AtomicBool>,
}

impl KeptAnswer {
    /// Returns a request that fetches an answer, if there is one.
    #[must_use]
    pub fn fetching(fetch: Option<AnswerHandle>) -> Self {
        Self { fetch, ..Self::default() }
    }

    /// Leaves the answer to another process: dropping the stream no longer cancels it.
    pub fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if another process may fetch the answer.
    #[must_use]
    pub fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Relaxed)
    }
}
