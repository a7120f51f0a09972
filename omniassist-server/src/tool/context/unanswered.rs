use super::tool_context::ToolContext;
use crate::CancellationToken;

/// The token of a run that waits for its user in this process, among its extensions.
#[derive(Clone)]
pub(crate) struct Unanswered(pub(crate) CancellationToken);

impl ToolContext {
    /// Returns a token that is cancelled when the run has ended, so that a question of this call to the user gets no answer any
    /// more. A tool that holds something for the answer releases it then.
    ///
    /// `None` for a run whose state the client or a store has while it waits: it can go on at any time, and on any server. The
    /// agents of a [tree](crate::agents) have a token.
    #[must_use]
    pub fn unanswered(&self) -> Option<CancellationToken> {
        self.run().extensions().get::<Unanswered>().map(|Unanswered(token)| token.clone())
    }
}
