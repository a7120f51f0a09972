//! The settings of guards, of hooks around tools and of layers around the provider.

use std::future::Future;
use std::sync::Arc;

use omniassist_core::JsonText;
use omniassist_core::filter::OutputFilter;

use super::AssistantBuilder;
use crate::RunContext;
use crate::engine::guards::InputGuard;
use crate::engine::plan::Refusal;
use crate::provider::{Layer, Layered};
use crate::tool::{IntoToolError, ToolContext, ToolDecision, ToolError, ToolHooks};

impl AssistantBuilder {
    /// Adds a filter of the text that the model writes, reasoning included: [`Pii`](omniassist_core::filter::Pii), a
    /// [`WordList`](omniassist_core::filter::WordList), or the host's own. Default: none.
    ///
    /// Text is sent after the filter has decided about it; see [`filter`](omniassist_core::filter) for the bounds. The
    /// client, seals, spans and the model's next request get the filtered text. Filters are applied in the order in
    /// which they were added. A filter can end the run with the code `output_refused` and its sentence. A filter that
    /// panics ends it with `internal`.
    ///
    /// Only text and reasoning are filtered. The arguments of tools, their outputs, progress and data, sources, files and
    /// the data of [`RunContext::data`](crate::RunContext::data) are not: see [`before_tool`](Self::before_tool) and
    /// [`after_tool`](Self::after_tool) for arguments and outputs.
    ///
    /// ```
    /// use omniassist_server::Assistant;
    /// use omniassist_server::core::RunRequest;
    /// use omniassist_server::core::filter::{Pii, WordList};
    /// use omniassist_server::testing::{ScriptedProvider, Turn};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedProvider::new().turn(Turn::text("Bluebird: ask ada@example.org."));
    /// let assistant = Assistant::builder(model)
    ///     .output_filter(Pii::new())
    ///     .output_filter(WordList::new(["Bluebird"]).replacement("Our project"))
    ///     .build()?;
    ///
    /// let text = assistant.run(RunRequest::prompt("Who knows more?")).text().await?;
    /// assert_eq!(text, "Our project: ask [redacted].");
    /// # Ok(())
    /// # }
    /// ```
    pub fn output_filter(mut self, filter: impl OutputFilter) -> Self {
        self.config.guards.output.push(Arc::new(filter));
        self
    }

    /// Adds an async function that checks the input of each run during the first model call. Default: none.
    ///
    /// No output of the model is sent before every such function has returned. The first [`Refusal`] closes the
    /// connection to the provider and ends the run with its code and sentence. The tokens that the provider has counted by
    /// then cost money; to refuse before the model call, use [`prepare`](Self::prepare). A function that fails or panics
    /// ends the run with `internal`. Functions run at the same time, once for each run, beside its first model call. A run
    /// that continues with an approved call runs the call before.
    ///
    /// ```
    /// use omniassist_server::{Assistant, Refusal, RunContext};
    /// # use omniassist_server::testing::ScriptedProvider;
    ///
    /// async fn on_topic(run: RunContext) -> Result<(), Refusal> {
    ///     let question = run.messages().last().map(|message| message.text()).unwrap_or_default();
    ///     // A classifier would be asked here.
    ///     if question.contains("horoscope") {
    ///         return Err(Refusal::new("off_topic", "I only answer questions about your orders."));
    ///     }
    ///     Ok(())
    /// }
    ///
    /// let assistant = Assistant::builder(ScriptedProvider::new()).input_guard(on_topic).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn input_guard<F, Fut, E>(mut self, guard: F) -> Self
    where
        F: Fn(RunContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Refusal>,
    {
        self.config.guards.input.push(InputGuard::new(guard));
        self
    }

    /// Adds an async function that decides about each call of a server tool before it runs; see [`ToolDecision`].
    /// Default: none.
    ///
    /// Functions are called in the order in which they were added, once for each call, in the task of the call: its timeout
    /// and its cancellation include them. Later functions see changed arguments; an answer, a refusal, a request for
    /// approval and an error end the chain, and the tool does not run. The model reads the text of an error. A function
    /// that panics refuses the call. Tools of the client do not run here, so no function sees their calls.
    ///
    /// ```
    /// use omniassist_server::tool::{ToolContext, ToolDecision, ToolError};
    /// # use omniassist_server::{Assistant, testing::ScriptedProvider};
    ///
    /// async fn office_hours(call: ToolContext) -> Result<ToolDecision, ToolError> {
    ///     Ok(match call.tool_name().as_str() {
    ///         "delete_account" if call.run().principal().is_anonymous() => {
    ///             ToolDecision::Refuse("Sign in first.".into())
    ///         }
    ///         "delete_account" => ToolDecision::RequireApproval(Some("Delete the account?".into())),
    ///         _ => ToolDecision::Allow,
    ///     })
    /// }
    ///
    /// let assistant = Assistant::builder(ScriptedProvider::new()).before_tool(office_hours).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn before_tool<F, Fut, E>(mut self, hook: F) -> Self
    where
        F: Fn(ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolDecision, E>> + Send + 'static,
        E: IntoToolError,
    {
        self.tool_hooks().before(hook);
        self
    }

    /// Adds an async function that sees the output or the error of each call of a server tool, and returns the one that the
    /// client and the model get. Default: none.
    ///
    /// Functions are called in the order in which they were added, once for each call, also for the answer of a
    /// [`before_tool`](Self::before_tool) function. A function that panics withholds the output: the model reads that the
    /// call ran. A call that was refused, timed out, was cancelled or panicked has no output to see. Progress and data that
    /// a tool sends while it runs do not pass these functions.
    ///
    /// ```
    /// use omniassist_server::core::{JsonText, secret::Secrets};
    /// use omniassist_server::tool::{ToolContext, ToolError};
    /// # use omniassist_server::{Assistant, testing::ScriptedProvider};
    ///
    /// async fn redact(_: ToolContext, result: Result<JsonText, ToolError>) -> Result<JsonText, ToolError> {
    ///     let output = result?;
    ///     Ok(JsonText::parse(Secrets::default().redact(output.as_str()))?)
    /// }
    ///
    /// let assistant = Assistant::builder(ScriptedProvider::new()).after_tool(redact).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn after_tool<F, Fut, E>(mut self, hook: F) -> Self
    where
        F: Fn(ToolContext, Result<JsonText, ToolError>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<JsonText, E>> + Send + 'static,
        E: IntoToolError,
    {
        self.tool_hooks().after(hook);
        self
    }

    fn tool_hooks(&mut self) -> &mut ToolHooks {
        Arc::make_mut(self.config.tool_hooks.get_or_insert_default())
    }

    /// Puts a [`Layer`] around the provider: for logging, caching or redaction. The layer that was added last sees a
    /// request first. Default: none.
    ///
    /// A provider that [`provider`](Self::provider) sets later or that [`prepare`](Self::prepare) chooses has no layer; put
    /// one around it with [`layered`](crate::provider::layered).
    pub fn wrap_provider(mut self, layer: impl Layer) -> Self {
        self.provider = Arc::new(Layered::of(self.provider, Arc::new(layer)));
        self
    }
}
