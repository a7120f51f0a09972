use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use omniassist_core::{JsonText, Text};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::hooks::{CallHooks, ToolHooks};
use super::registered::RegisteredTool;
use crate::audit::CallAudit;
use crate::telemetry::ToolTrace;
use crate::tool::context::{CallContext, StateMap, ToolOutcome, ToolUpdate, Update, Updates};
use crate::tool::{ToolContext, ToolError};
use crate::{CancellationToken, RunContext};

/// A tool call to start. A test gets the run from [`RunContext::for_request`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolInvocation {
    /// The id of the call.
    pub call_id: Text,
    /// The arguments, which fit the tool's schema.
    pub arguments: JsonText,
    /// The run that the call belongs to.
    pub run: RunContext,
    /// The token of the run. The call's own token is cancelled with it.
    pub cancel: CancellationToken,
    resumed: Option<JsonText>,
    trace: ToolTrace,
    /// Boxed, as are the futures of audits and hooks: few calls have them, and every call is moved into its task.
    audit: Option<Box<CallAudit>>,
    hooks: Option<CallHooks>,
}

impl ToolInvocation {
    /// Creates a call that is only cancelled when its [`RunningTool`] is dropped.
    #[must_use]
    pub fn new(call_id: impl Into<Text>, arguments: JsonText, run: RunContext) -> Self {
        Self {
            call_id: call_id.into(),
            arguments,
            run,
            cancel: CancellationToken::new(),
            resumed: None,
            trace: ToolTrace::none(),
            audit: None,
            hooks: None,
        }
    }

    /// Creates a call that a tool makes while its own call runs. It belongs to the same run, passes the hooks of the
    /// assistant, has records in its audit log, and is cancelled with the call of the tool. The arguments and the approval
    /// policy must have been checked; a hook that asks for an approval refuses the call.
    #[must_use]
    pub fn within(
        call: &ToolContext,
        tool: &RegisteredTool,
        call_id: impl Into<Text>,
        arguments: JsonText,
    ) -> Self {
        let call_id = call_id.into();
        let invocation =
            Self::new(call_id.clone(), arguments, call.run().clone()).cancel(call.cancellation());
        let Some(Inherited { hooks, audit }) = call.inherited() else { return invocation };
        let audit =
            audit.as_ref().map(|audit| audit.within(&call_id, &tool.spec().name, &invocation.arguments));
        invocation.audited(audit).hooked(hooks.as_ref(), false)
    }

    /// Sets the token that cancels the call. Default: a new one.
    #[must_use]
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Sets the hooks around the call. `is_approved` is `true` if a user approved it.
    pub(crate) fn hooked(mut self, hooks: Option<&Arc<ToolHooks>>, is_approved: bool) -> Self {
        self.hooks = hooks.map(|hooks| CallHooks { hooks: Arc::clone(hooks), is_approved });
        self
    }

    /// Sets the state of a call that waited for the user. Default: none.
    pub(crate) fn resumed(mut self, state: Option<JsonText>) -> Self {
        self.resumed = state;
        self
    }

    pub(crate) fn traced(mut self, trace: ToolTrace) -> Self {
        self.trace = trace;
        self
    }

    pub(crate) fn audited(mut self, audit: Option<CallAudit>) -> Self {
        self.audit = audit.map(Box::new);
        self
    }
}

/// The settings of a call that the calls of its tool inherit.
struct Inherited {
    hooks: Option<Arc<ToolHooks>>,
    audit: Option<CallAudit>,
}

impl Inherited {
    fn of(hooks: Option<&CallHooks>, audit: Option<&CallAudit>) -> Option<Arc<dyn Any + Send + Sync>> {
        if hooks.is_none() && audit.is_none() {
            return None;
        }
        let hooks = hooks.map(|hooks| Arc::clone(&hooks.hooks));
        Some(Arc::new(Self { hooks, audit: audit.cloned() }))
    }
}

/// A running tool call: a stream of updates that ends with [`ToolUpdate::Done`]. The call runs in its own task.
///
/// The call continues even if the stream is not polled. A panic, a timeout and an invalid output end it with an outcome
/// that has its call id. (In a build with `panic = "abort"`, a panic ends the process.)
///
/// Dropping it before the end cancels the call's [`CancellationToken`] at once; a task that has not ended
/// [`Limits::tool_cancel_grace`](omniassist_core::Limits::tool_cancel_grace) later is aborted where it awaits.
#[must_use = "dropping a running tool cancels it"]
pub struct RunningTool {
    call_id: Text,
    updates: Arc<Updates>,
    cancel: CancellationToken,
    ended: bool,
}

impl RunningTool {
    /// Returns the id of the call.
    #[must_use]
    pub fn call_id(&self) -> &Text {
        &self.call_id
    }

    /// Waits for the end and skips other updates. Dropping the future cancels the call.
    pub async fn outcome(mut self) -> ToolOutcome {
        loop {
            if let ToolUpdate::Done(outcome) = std::future::poll_fn(|cx| self.poll_update(cx)).await {
                return outcome;
            }
        }
    }

    fn poll_update(&mut self, cx: &Context<'_>) -> Poll<ToolUpdate> {
        let call_id = self.call_id.clone();
        Poll::Ready(match ready!(self.updates.poll(cx)) {
            Update::Progress(output) => ToolUpdate::Progress { call_id, output },
            Update::Event(event) => ToolUpdate::Event(event),
            Update::StateChanged => ToolUpdate::SharedStateChanged,
            Update::Asked(ask) => ToolUpdate::AgentAsked(ask),
            Update::Done(result) => {
                self.ended = true;
                ToolUpdate::Done(ToolOutcome { call_id, result })
            }
        })
    }
}

impl Stream for RunningTool {
    type Item = ToolUpdate;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ToolUpdate>> {
        if self.ended {
            return Poll::Ready(None);
        }
        self.poll_update(cx).map(Some)
    }
}

impl Drop for RunningTool {
    fn drop(&mut self) {
        if !self.ended {
            self.cancel.cancel();
        }
    }
}

impl fmt::Debug for RunningTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningTool")
            .field("call_id", &self.call_id)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

pub(in crate::tool) fn start(
    tool: &Arc<RegisteredTool>,
    invocation: ToolInvocation,
    state: Arc<StateMap>,
    grace: Duration,
    tasks: &TaskTracker,
) -> RunningTool {
    let ToolInvocation { call_id, arguments, run, cancel, resumed, trace, audit, hooks } = invocation;
    let span = trace.span();
    let cancel = cancel.child();
    let updates = Arc::new(Updates::new(tool.max_unread_bytes()));
    let inherited = Inherited::of(hooks.as_ref(), audit.as_deref());
    // Hooks decide first if a call starts.
    let (started, hooked) = match (&audit, &hooks) {
        (Some(audit), None) => (audit.start(), None),
        (audit, _) => (None, audit.clone()),
    };
    let (id, updates_of_call) = (call_id.clone(), Arc::clone(&updates));
    let end = End { call_id: id, tool: Arc::clone(tool), updates: updates_of_call, trace, audit };
    let running = RunningTool {
        call_id: call_id.clone(),
        updates: Arc::clone(&updates),
        cancel: cancel.clone(),
        ended: false,
    };

    if cancel.is_cancelled() {
        end.finish(Err(ToolError::cancelled()));
        return running;
    }
    let Ok(runtime) = Handle::try_current() else {
        end.finish(Err(ToolError::internal("a tool call needs a tokio runtime")));
        return running;
    };

    let name = tool.spec().name.clone();
    let (limits, given) = (tool.output_limits(), cancel.clone());
    let call = ToolContext::from(CallContext {
        call_id,
        tool: name,
        arguments,
        run,
        state,
        cancel: given,
        updates,
        limits,
        resumed,
        inherited,
        attached: None,
    });
    let work = {
        let tool = Arc::clone(tool);
        let call = async move {
            if let Some(started) = started {
                Box::pin(started.accepted()).await;
            }
            match hooks {
                None => tool.call(call).await,
                Some(hooks) => Box::pin(hooks.call(&tool, call, hooked)).await,
            }
        };
        call.instrument(span.clone())
    };
    let work = runtime.spawn(tasks.track_future(work));
    // A second task watches the time, so that a tool which blocks its thread still has an outcome.
    runtime.spawn(tasks.track_future(supervise(work, end, cancel, grace).instrument(span)));
    running
}

async fn supervise(
    mut work: JoinHandle<Result<JsonText, ToolError>>,
    end: End,
    cancel: CancellationToken,
    grace: Duration,
) {
    let timeout = end.tool.timeout();
    tokio::select! {
        biased;
        done = &mut work => return end.finish(joined(done)),
        () = cancel.cancelled() => {}
        () = tokio::time::sleep(timeout) => {
            end.finish(Err(ToolError::timed_out(timeout)));
            cancel.cancel();
        }
    }
    match tokio::time::timeout(grace, &mut work).await {
        Ok(done) => end.finish(joined(done)),
        Err(_elapsed) => {
            work.abort();
            end.finish(Err(ToolError::cancelled()));
        }
    }
}

fn joined(done: Result<Result<JsonText, ToolError>, JoinError>) -> Result<JsonText, ToolError> {
    match done {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => Err(ToolError::panicked().with_source(panic_text(payload.as_ref()))),
            Err(_shutdown) => Err(ToolError::cancelled()),
        },
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("panicked: {text}")
}

/// A guard that ends a call exactly once: with its outcome, or with an error when the runtime drops the supervising task.
struct End {
    call_id: Text,
    tool: Arc<RegisteredTool>,
    updates: Arc<Updates>,
    trace: ToolTrace,
    audit: Option<Box<CallAudit>>,
}

impl End {
    fn finish(&self, result: Result<JsonText, ToolError>) {
        if let Err(error) = &result {
            error.log(&self.tool.spec().name, &self.call_id);
        }
        self.settle(result);
    }

    fn settle(&self, mut result: Result<JsonText, ToolError>) {
        if self.updates.is_waiting() {
            result = Err(ToolError::waits());
        }
        let end = result.as_ref().map(JsonText::clone).map_err(ToolError::kind);
        let max_bytes = self.tool.max_output_bytes();
        if self.updates.finish(result.map_err(|error| error.capped(max_bytes))) {
            if let Some(audit) = &self.audit {
                audit.end(end.as_ref().err().copied());
            }
            self.trace.ended(end);
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.settle(Err(ToolError::cancelled()));
    }
}
