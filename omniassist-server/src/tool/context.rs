use std::fmt;
use std::future::Future;
use std::sync::Arc;

use omniassist_core::{JsonText, RunEvent, Text, check_tool_name};
use serde::Serialize;
use serde_json::Value;

use super::output;
use super::state::StateMap;
use super::update::Updates;
use crate::{CancellationToken, RunContext};

/// One call of a tool: what every extractor is made from, and itself an extractor. Cloning is cheap.
///
/// It owns all it gives access to, so a task that outlives the call may keep it.
///
/// ```
/// use std::time::Duration;
///
/// use omniassist_server::tool::{ToolContext, ToolError};
///
/// async fn export(call: ToolContext) -> Result<&'static str, ToolError> {
///     for percent in [25, 50, 75] {
///         call.progress(serde_json::json!({ "percent": percent }));
///         tokio::select! {
///             () = tokio::time::sleep(Duration::from_millis(10)) => {}
///             () = call.cancelled() => return Err(ToolError::new("The export was stopped.")),
///         }
///     }
///     Ok("exported")
/// }
/// # let _ = omniassist_server::tool::Tool::new("export", "Exports all orders", export);
/// ```
#[derive(Clone)]
pub struct ToolContext {
    inner: Arc<Inner>,
}

struct Inner {
    call_id: Text,
    tool: Text,
    arguments: JsonText,
    run: RunContext,
    state: Arc<StateMap>,
    cancel: CancellationToken,
    updates: Arc<Updates>,
    max_output_bytes: usize,
}

impl ToolContext {
    #[expect(clippy::too_many_arguments, reason = "the one place where a call is put together")]
    pub(crate) fn new(
        call_id: Text,
        tool: Text,
        arguments: JsonText,
        run: RunContext,
        state: Arc<StateMap>,
        cancel: CancellationToken,
        updates: Arc<Updates>,
        max_output_bytes: usize,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                call_id,
                tool,
                arguments,
                run,
                state,
                cancel,
                updates,
                max_output_bytes,
            }),
        }
    }

    /// Id of the call, unique within the conversation.
    ///
    /// The provider chose it, and chooses another when the same question is asked again: it is no idempotency key.
    #[must_use]
    pub fn call_id(&self) -> &Text {
        &self.inner.call_id
    }

    /// The tool's name.
    #[must_use]
    pub fn tool_name(&self) -> &Text {
        &self.inner.tool
    }

    /// The arguments as the model wrote them. They fit the tool's schema.
    #[must_use]
    pub fn arguments(&self) -> &JsonText {
        &self.inner.arguments
    }

    /// The run that the call belongs to.
    #[must_use]
    pub fn run(&self) -> &RunContext {
        &self.inner.run
    }

    /// The host's value of this type, if it gave one.
    #[must_use]
    pub fn state<T: Clone + 'static>(&self) -> Option<T> {
        self.inner.state.get::<T>().cloned()
    }

    /// Waits until the call is no longer wanted: the client left, somebody stopped the run, or the tool's time is up.
    /// The task is aborted [`Limits::tool_cancel_grace`](omniassist_core::Limits::tool_cancel_grace) later. Dropping
    /// the future just stops waiting.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.inner.cancel.cancelled()
    }

    /// Whether the call is no longer wanted.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancel.is_cancelled()
    }

    /// A token that fires when the call is no longer wanted, to hand to other work. Firing it does not end the call.
    #[must_use]
    pub fn cancellation(&self) -> CancellationToken {
        self.inner.cancel.child()
    }

    /// Shows how far the tool has come: the user sees the value as a preliminary output, which the next one and in
    /// the end the real output replace. The model does not see it.
    ///
    /// Never waits. When the user's connection is slower than the tool, the oldest values are left out and the newest
    /// is kept. Values larger than the tool's output cap are cut like outputs; a value that has no JSON form is
    /// logged and left out; values after the end of the call are left out.
    pub fn progress(&self, value: impl Serialize) {
        match output::to_json(&value, self.inner.max_output_bytes) {
            Ok(value) => self.inner.updates.progress(value),
            Err(error) => {
                tracing::warn!(
                    tool = self.inner.tool.as_str(),
                    call_id = self.inner.call_id.as_str(),
                    %error,
                    "progress without a JSON form"
                );
            }
        }
    }

    /// Changes the state that the run shares with its client (AG-UI): the client is sent the difference, several
    /// changes in one where it reads slowly. What the closure gives is given back; it should not block. Other formats
    /// have no such state, and send nothing.
    pub fn update_shared_state<T>(&self, update: impl FnOnce(&mut Value) -> T) -> T {
        let given = self.inner.run.state().update(update);
        self.inner.updates.state_changed();
        given
    }

    /// Gives the client data of the host's own, to be kept with the message: a `data-NAME` part in the AI SDK, a
    /// `CUSTOM` event in AG-UI. With an `id`, later data of the same name and id replaces it. The model does not see it.
    ///
    /// Never waits. Data without a JSON form, data larger than the tool's output cap, data under a name that is not 1 to
    /// 64 of `[A-Za-z0-9_-]`, and what comes after 1,024 values that nobody has read yet is logged and left out.
    pub fn data(&self, name: &str, id: Option<&str>, value: impl Serialize) {
        self.send_data(name, id, &value, false);
    }

    /// Like [`data`](Self::data), but the client only hears of it and does not keep it.
    pub fn transient_data(&self, name: &str, value: impl Serialize) {
        self.send_data(name, None, &value, true);
    }

    /// Shows something that is under way, of a kind that the client knows how to show: an AG-UI activity; a later one
    /// of the same id replaces it. `content` must be a JSON object. Other formats show nothing. The limits of
    /// [`data`](Self::data) hold.
    pub fn activity(&self, id: &str, kind: &str, content: impl Serialize) {
        let Some(content) = self.to_json("activity", &content) else { return };
        if !content.is_object() {
            tracing::warn!(tool = self.inner.tool.as_str(), "an activity's content is not an object");
            return;
        }
        self.send(RunEvent::ActivitySnapshot { id: id.into(), kind: kind.into(), content });
    }

    fn send_data(&self, name: &str, id: Option<&str>, value: &impl Serialize, transient: bool) {
        if check_tool_name(name).is_err() {
            tracing::warn!(tool = self.inner.tool.as_str(), "data under a name that is not allowed");
            return;
        }
        let Some(data) = self.to_json("data", value) else { return };
        self.send(RunEvent::Data { name: name.into(), id: id.map(Text::from), data, transient });
    }

    fn to_json(&self, what: &'static str, value: &impl Serialize) -> Option<JsonText> {
        let json = JsonText::from_serialize(value)
            .map_err(|error| tracing::warn!(tool = self.inner.tool.as_str(), what, %error, "no JSON form"))
            .ok()?;
        if json.as_str().len() > self.inner.max_output_bytes {
            tracing::warn!(tool = self.inner.tool.as_str(), what, "larger than the tool's output cap");
            return None;
        }
        Some(json)
    }

    fn send(&self, event: RunEvent) {
        if !self.inner.updates.event(event) {
            tracing::warn!(
                tool = self.inner.tool.as_str(),
                "too much that the client has not read; left out"
            );
        }
    }

    pub(crate) fn max_output_bytes(&self) -> usize {
        self.inner.max_output_bytes
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call_id", &self.inner.call_id)
            .field("tool", &self.inner.tool)
            .finish_non_exhaustive()
    }
}
