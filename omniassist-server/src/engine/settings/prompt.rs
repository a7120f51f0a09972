use std::fmt;
use std::future::{Future, ready};

use omniassist_core::Text;

use super::hook::RunHook;
use crate::{BoxError, RunContext};

/// A type that can serve as a system prompt: text, a closure over the run's context, or an async function that takes the
/// context by value.
///
/// `Kind` distinguishes the three, and is inferred.
///
/// ```
/// use omniassist_server::{Assistant, RunContext};
/// # use omniassist_server::testing::ScriptedProvider;
/// # fn provider() -> ScriptedProvider { ScriptedProvider::new() }
///
/// Assistant::builder(provider()).system_prompt("You help.").build()?;
/// Assistant::builder(provider())
///     .system_prompt(|run: &RunContext| format!("You help {}.", run.principal()))
///     .build()?;
///
/// async fn from_database(run: RunContext) -> Result<String, std::io::Error> {
///     Ok(format!("You help {}.", run.principal()))
/// }
/// Assistant::builder(provider()).system_prompt(from_database).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this is not a system prompt",
    label = "expected text, `|run: &RunContext| …`, or an async fn taking `RunContext` by value",
    note = "write the closure's parameter with its type: `|run: &RunContext| format!(…)`"
)]
pub trait IntoSystemPrompt<Kind> {
    #[doc(hidden)]
    fn into_system_prompt(self) -> Prompt;
}

/// A stored system prompt; see [`IntoSystemPrompt`].
pub struct Prompt(pub(in crate::engine) RunHook<Text>);

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prompt")
    }
}

/// The kinds of [`IntoSystemPrompt`], for inference only.
pub mod prompt_kind {
    /// Text.
    #[derive(Debug)]
    pub enum Value {}
    /// A closure over the run's context.
    #[derive(Debug)]
    pub enum Sync {}
    /// An async function over the run's context.
    #[derive(Debug)]
    pub enum Async {}
}

impl<T: Into<Text>> IntoSystemPrompt<prompt_kind::Value> for T {
    fn into_system_prompt(self) -> Prompt {
        let text = self.into();
        Prompt(RunHook::new(move |_| ready(Ok::<_, BoxError>(text.clone()))))
    }
}

impl<F, T> IntoSystemPrompt<(prompt_kind::Sync, T)> for F
where
    F: Fn(&RunContext) -> T + Send + Sync + 'static,
    T: PromptText,
{
    fn into_system_prompt(self) -> Prompt {
        Prompt(RunHook::new(move |run| ready(self(&run).into_prompt_text())))
    }
}

impl<F, Fut> IntoSystemPrompt<(prompt_kind::Async, Fut)> for F
where
    F: Fn(RunContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: PromptText> + Send + 'static,
{
    fn into_system_prompt(self) -> Prompt {
        Prompt(RunHook::new(move |run| {
            let prompt = self(run);
            async move { prompt.await.into_prompt_text() }
        }))
    }
}

/// A result of a system prompt's function: text, or a `Result` of text.
pub trait PromptText {
    #[doc(hidden)]
    fn into_prompt_text(self) -> Result<Text, BoxError>;
}

impl PromptText for String {
    fn into_prompt_text(self) -> Result<Text, BoxError> {
        Ok(self.into())
    }
}

impl PromptText for &'static str {
    fn into_prompt_text(self) -> Result<Text, BoxError> {
        Ok(Text::from_static(self))
    }
}

impl PromptText for Text {
    fn into_prompt_text(self) -> Result<Text, BoxError> {
        Ok(self)
    }
}

impl<T: PromptText, E: Into<BoxError>> PromptText for Result<T, E> {
    fn into_prompt_text(self) -> Result<Text, BoxError> {
        self.map_err(Into::into)?.into_prompt_text()
    }
}
