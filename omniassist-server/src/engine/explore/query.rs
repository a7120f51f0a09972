use std::pin::Pin;

use omniassist_core::Text;

/// A question of an agent to its user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserQuery {
    /// The agent.
    pub agent_id: Text,
    /// The id of the question.
    pub query_id: Text,
    /// The question.
    pub prompt: Text,
}

/// Answers the questions of agents in process, in place of the frame `user-query`. Questions about calls of tools stay frames.
///
/// Closures that take a [`UserQuery`] and return a future of the answer are handlers. The future is dropped if the agent ends,
/// or after [`Explore::answer_timeout`](crate::agents::Explore::answer_timeout).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot answer the questions of agents",
    label = "not a handler of questions",
    note = "a handler is a closure or function `async fn(UserQuery) -> Text` or `-> String` whose future is `Send`"
)]
pub trait QueryUser: Send + Sync + 'static {
    /// Returns the user's answer.
    fn query(&self, query: UserQuery) -> Pin<Box<dyn Future<Output = Text> + Send>>;
}

impl<F, A> QueryUser for F
where
    F: Fn(UserQuery) -> A + Send + Sync + 'static,
    A: Future<Output: Into<Text>> + Send + 'static,
{
    fn query(&self, query: UserQuery) -> Pin<Box<dyn Future<Output = Text> + Send>> {
        let answer = self(query);
        Box::pin(async move { answer.await.into() })
    }
}
