//! Calls of a server's tools.

use std::sync::Arc;

use omniassist_server::tool::{Approval, Tool, ToolContext, ToolError};
use rmcp::model::CallToolResult;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

use super::McpError;
use super::config::Config;
use super::connection::Fault;
use super::definition::{Definition, Misfit};
use super::output::Output;
use super::pool::Pool;

const MAY_HAVE_ACTED: &str = "The server went away; it may or may not have acted.";
const TIMED_OUT: &str = "The server did not answer in time; it may or may not have acted.";
const UNREACHABLE: &str = "The server cannot be reached now. The call did not run.";
const CHANGED: &str = "The server has changed or removed this tool. The call did not run.";
const UNAUTHORIZED: &str = "The user has to authorize the access to this server first. The call did not run.";
const FORBIDDEN: &str = "The server refuses this user. The call did not run.";
const BUSY: &str = "Too many users use the server now. The call did not run.";
const UNUSABLE: &str = "The server's answer cannot be used.";
const CANCELLED: &str = "The call was cancelled.";

/// Time beyond the timeout of a call, in which the call ends by itself with the better error.
const GRACE: Duration = Duration::from_secs(2);

/// A tool of a server.
struct McpTool {
    definition: Arc<Definition>,
    config: Arc<Config>,
    pool: Arc<Pool>,
}

/// Makes the tool that calls a tool of a server.
pub(super) fn tool(definition: &Arc<Definition>, config: &Arc<Config>, pool: &Arc<Pool>) -> Tool {
    let this = Arc::new(McpTool {
        definition: Arc::clone(definition),
        config: Arc::clone(config),
        pool: Arc::clone(pool),
    });
    let name = definition.name.clone();
    let description = match definition.description.trim() {
        "" => format!("The tool `{name}` of the server `{}`, which does not describe it.", config.name),
        description => description.to_owned(),
    };
    let called = Arc::clone(&this);
    let mut tool =
        Tool::from_fn_with_schema(name, description, definition.schema.clone(), move |arguments, call| {
            let called = Arc::clone(&called);
            async move { called.call(arguments, &call).await }
        })
        .timeout(config.call_timeout.saturating_add(GRACE));
    if pool.is_per_principal() {
        let this = Arc::clone(&this);
        tool = tool.visible_to(move |run| this.pool.offers(run.principal(), &this.definition));
    }
    if config.approval.is_needed(this.is(definition.is_read_only)) {
        let question = format!("Run `{}` of the server `{}`?", definition.name, config.name);
        tool = tool.requires_approval(Approval::always().message(question));
    }
    if let Some(title) = definition.title.as_ref().filter(|_| config.trusts_annotations) {
        tool = tool.title(title.clone());
    }
    match this.may_repeat() {
        true => tool.idempotent(),
        false => tool,
    }
}

impl McpTool {
    /// Returns an annotation, if it is trusted.
    fn is(&self, annotated: bool) -> bool {
        self.config.trusts_annotations && annotated
    }

    fn may_repeat(&self) -> bool {
        self.is(self.definition.is_read_only) || self.is(self.definition.is_idempotent)
    }

    async fn call(&self, arguments: Value, call: &ToolContext) -> Result<Value, ToolError> {
        let result = self.result(arguments, call).await?;
        let server = &self.config.name;
        match Output::new(server, &self.definition, result, self.config.max_output_bytes) {
            Ok(Output::Data(data)) => Ok(data),
            Ok(Output::Failed(text)) => Err(ToolError::new(format!("The server {server} reports: {text}"))),
            Err(Misfit) => Err(ToolError::new(UNUSABLE)
                .with_source(McpError::answer("the output does not fit the tool's output schema"))),
        }
    }

    /// Calls the tool, and once more if the first call did not run, or may run twice.
    async fn result(&self, arguments: Value, call: &ToolContext) -> Result<CallToolResult, ToolError> {
        let deadline = Instant::now() + self.config.call_timeout;
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::new("The arguments are not an object."));
        };
        let mut is_repeated = false;
        loop {
            let (name, given) = (&self.definition.name, arguments.clone());
            let link = self.pool.link(call.run().principal()).map_err(|error| failed(BUSY, error))?;
            let _use = link.begin_use();
            let ready = tokio::select! {
                ready = timeout_at(deadline, link.ready()) => ready,
                () = call.cancelled() => return Err(ToolError::new(CANCELLED)),
            };
            let ready = ready.map_err(|_| failed(UNREACHABLE, McpError::timed_out()))?;
            let ready = ready.map_err(|error| ToolError::new(text_of(&error)).with_source(error))?;
            // The definition that was checked is the one that runs.
            if !ready.listing.has(&self.definition) {
                return Err(ToolError::new(CHANGED));
            }
            let fault = match ready.connection.call(name, given, call, deadline).await {
                Ok(result) => return Ok(result),
                Err(fault) => fault,
            };
            if matches!(fault, Fault::NotRun(_) | Fault::Gone(_)) {
                ready.connection.abandon();
            }
            match fault {
                Fault::NotRun(_) if !is_repeated => is_repeated = true,
                Fault::Gone(_) if !is_repeated && self.may_repeat() => is_repeated = true,
                Fault::NotRun(error) => return Err(failed(UNREACHABLE, error)),
                Fault::Gone(error) => return Err(failed(MAY_HAVE_ACTED, error)),
                Fault::Forbidden(error) => return Err(failed(text_of(&error), error)),
                Fault::TimedOut => return Err(failed(TIMED_OUT, McpError::timed_out())),
                Fault::Cancelled => return Err(ToolError::new(CANCELLED)),
                Fault::Answer(error) => return Err(failed(UNUSABLE, error)),
                Fault::Refused(text) => {
                    let text = super::cleaned::description(&text);
                    return Err(ToolError::new(format!("The server {} reports: {text}", self.config.name)));
                }
            }
        }
    }
}

/// Returns the text for models of an error that kept a call from running.
fn text_of(error: &McpError) -> &'static str {
    match error.is_unauthenticated() {
        true => UNAUTHORIZED,
        false if error.is_forbidden() => FORBIDDEN,
        false => UNREACHABLE,
    }
}

fn failed(text: &'static str, error: McpError) -> ToolError {
    ToolError::new(text).with_source(error)
}
