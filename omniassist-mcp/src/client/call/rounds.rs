use std::borrow::Cow;
use std::sync::Arc;

use omniassist_server::tool::{ToolContext, ToolError};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, CustomResult, ElicitResult, ElicitationAction, JsonObject,
    ServerResult,
};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{McpTool, UNUSABLE};
use crate::client::connection::{Elicitation, Fault, Turn};
use crate::client::elicitation::{Asked, OpenCall, Question, Then, Unshown, Waiting, not_shown};
use crate::client::link::HeldCall;
use crate::client::{McpError, cleaned, output};

const MAY_HAVE_ACTED: &str = "The server went away; it may or may not have acted.";
const TOO_LARGE: &str =
    "The server sent a message of more than 8 MiB, which ended the connection; it may or may not have acted.";
const TIMED_OUT: &str = "The server did not answer in time; it may or may not have acted.";
const UNREACHABLE: &str = "The server cannot be reached now. The call did not run.";
const UNAUTHORIZED: &str = "The user has to authorize the access to this server first. The call did not run.";
const REFUSED_CREDENTIALS: &str =
    "The server does not accept the credentials of this user. The call did not run.";
const FORBIDDEN: &str = "The server refuses this user. The call did not run.";
const CHANGED: &str = "The server has changed or removed this tool. The call did not run.";
const BUSY: &str = "Too many users use the server now. The call did not run.";
const TOO_MANY: &str = "The server gets too many requests. The call did not run.";
const CANCELLED: &str = "The call was cancelled.";
const NOT_HELD: &str = "The call waited for the user too long, or at another server, and was lost. The server may or may not have \
    acted.";
const TOO_MANY_WAIT: &str = "Too many calls wait for users now. The call was cancelled.";
const NOT_OPENED: &str = "The user did not open the page that the server needs. The call did not run.";

/// The reaction of a server to a call.
enum Step {
    Result(CallToolResult),
    /// The user is asked, and then the call goes on.
    Asks(Vec<Asked>, Then),
    Failed(Fault),
}

impl McpTool {
    /// Calls the tool, in as many rounds as the server asks the user. The function ends when the user is asked, and is called
    /// again with the answer.
    pub(super) async fn result(
        &self,
        arguments: Value,
        call: &ToolContext,
    ) -> Result<CallToolResult, ToolError> {
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::new("The arguments are not an object."));
        };
        let mut waiting = Waiting::resumed(call)?;
        loop {
            if let Some(waiting) = &mut waiting
                && let Err(error) = waiting.ask(&self.config.name, call).await
            {
                if !error.is_waiting() {
                    self.leave(waiting, call).await;
                }
                return Err(error);
            }
            match self.round(&arguments, waiting.as_ref(), call).await? {
                Step::Result(result) => return Ok(result),
                Step::Asks(asked, then) => waiting = Some(Waiting::next(waiting, asked, then)),
                Step::Failed(fault) => return Err(self.failure(fault)),
            }
        }
    }

    /// Goes on with a call, and repeats it once if it did not run, or may run twice.
    async fn round(
        &self,
        arguments: &JsonObject,
        waiting: Option<&Waiting>,
        call: &ToolContext,
    ) -> Result<Step, ToolError> {
        let deadline = Instant::now() + self.config.call_timeout;
        let mut held = self.held(waiting, call)?;
        let mut is_repeated = false;
        loop {
            let step = self.attempt(arguments, waiting, held.take(), call, deadline).await?;
            match step {
                Step::Failed(Fault::NotRun(_) | Fault::Expired(_)) if !is_repeated => is_repeated = true,
                Step::Failed(Fault::Gone(_)) if !is_repeated && self.may_repeat() => is_repeated = true,
                Step::Failed(Fault::Forbidden(ref error))
                    if !is_repeated && error.is_authorization_needed() =>
                {
                    is_repeated = true;
                }
                Step::Failed(Fault::NeedsPages(pages)) => {
                    check_round(waiting)?;
                    let page = |page| Question::new(page).map(Asked::new).map_err(not_shown);
                    let pages = pages.into_iter().map(page).collect::<Result<_, _>>()?;
                    return Ok(Step::Asks(pages, Then::Repeat));
                }
                step => return Ok(step),
            }
        }
    }

    /// Takes the call that waited, if its server holds it open, and gives it the answer.
    fn held(&self, waiting: Option<&Waiting>, call: &ToolContext) -> Result<Option<HeldCall>, ToolError> {
        let Some(waiting) = waiting else { return Ok(None) };
        match &waiting.then {
            Then::Hold(id) => {
                let (owner, tool) = (call.run().principal(), &self.definition.name);
                match self.pool.held.take(id, owner, tool) {
                    Some(mut held) => {
                        held.answer(waiting.answer());
                        Ok(Some(held))
                    }
                    None if self.may_repeat() => Ok(None),
                    None => Err(ToolError::new(NOT_HELD)),
                }
            }
            Then::Repeat if waiting.is_declined() => Err(ToolError::new(NOT_OPENED)),
            Then::Send(_) | Then::Repeat => Ok(None),
        }
    }

    /// Tells the server that a call, which it holds open, gets no answer.
    async fn leave(&self, waiting: &Waiting, call: &ToolContext) {
        if let Then::Hold(id) = &waiting.then
            && let Some(held) = self.pool.held.take(id, call.run().principal(), &self.definition.name)
        {
            held.cancel().await;
        }
    }

    async fn attempt(
        &self,
        arguments: &JsonObject,
        waiting: Option<&Waiting>,
        held: Option<HeldCall>,
        call: &ToolContext,
        deadline: Instant,
    ) -> Result<Step, ToolError> {
        let is_new = held.is_none();
        let begun = match held {
            Some(held) => held,
            None => match self.begin(arguments, waiting, call, deadline).await? {
                Ok(begun) => begun,
                Err(fault) => return Ok(Step::Failed(fault)),
            },
        };
        // An open call that asks the same again did not like the answer.
        let known = waiting.filter(|_| is_new).map(Waiting::answered).unwrap_or_default();
        let connection = Arc::clone(&begun.connection);
        let step = self.follow(begun, waiting, known, call, deadline).await;
        let is_over = match &step {
            Ok(Step::Failed(Fault::NotRun(_) | Fault::Expired(_) | Fault::Gone(_))) => true,
            // The user may have authorized more in another process, so the next connection reads the token again.
            Ok(Step::Failed(Fault::Forbidden(error))) => error.is_authorization_needed(),
            _ => false,
        };
        if is_over {
            connection.abandon();
        }
        step
    }

    /// Sends the call, with the answers that it has.
    async fn begin(
        &self,
        arguments: &JsonObject,
        waiting: Option<&Waiting>,
        call: &ToolContext,
        deadline: Instant,
    ) -> Result<Result<HeldCall, Fault>, ToolError> {
        let link = self.pool.link(call.run().principal()).map_err(|error| failed(BUSY, error))?;
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
        let name = self.definition.name.to_string();
        let mut parameters = CallToolRequestParams::new(name).with_arguments(arguments.clone());
        if let Some(waiting) = waiting
            && let Then::Send(state) = &waiting.then
        {
            parameters = parameters.with_input_responses(waiting.responses());
            parameters.request_state.clone_from(state);
        }
        let connection = ready.connection;
        Ok(match connection.call(parameters, call, deadline).await {
            Ok(open) => Ok(HeldCall { open, reply: None, connection, in_use: link }),
            Err(fault) => {
                connection.abandon();
                Err(fault)
            }
        })
    }

    /// Waits until the call has a result, or asks something whose answer is not known.
    async fn follow(
        &self,
        begun: HeldCall,
        waiting: Option<&Waiting>,
        mut known: Vec<Asked>,
        call: &ToolContext,
        deadline: Instant,
    ) -> Result<Step, ToolError> {
        let HeldCall { mut open, connection, in_use, .. } = begun;
        loop {
            let (paused, Elicitation { asked, reply }) = match open.next(deadline, Some(call)).await {
                Ok(Turn::Answer(ServerResult::CallToolResult(result))) => return Ok(Step::Result(result)),
                Ok(Turn::Answer(ServerResult::InputRequiredResult(needed))) => {
                    check_round(waiting)?;
                    let asked = Asked::all(needed.input_requests)?;
                    return Ok(Step::Asks(asked, Then::Send(needed.request_state)));
                }
                Ok(Turn::Answer(ServerResult::CustomResult(CustomResult(result)))) => {
                    return Ok(output::read(result).map_or_else(not_a_result, Step::Result));
                }
                Ok(Turn::Answer(_)) => return Ok(not_a_result()),
                Ok(Turn::Asks(paused, elicitation)) => (paused, elicitation),
                Err(fault) => return Ok(Step::Failed(fault)),
            };
            open = paused;
            let question = match Question::new(asked) {
                Ok(question) => question,
                Err(Unshown(reason)) => {
                    let _ = reply.send(Err(ErrorData::invalid_params(reason, None)));
                    continue;
                }
            };
            if let Some(answer) = Asked::take(&mut known, &question) {
                let _ = reply.send(Ok(answer));
                continue;
            }
            if !call.can_ask_user() {
                let _ = reply.send(Ok(ElicitResult::new(ElicitationAction::Decline)));
                continue;
            }
            if let Err(error) = check_round(waiting) {
                open.cancel().await;
                return Err(error);
            }
            let held = HeldCall { open, reply: Some(reply), connection, in_use };
            let (owner, tool) = (call.run().principal(), &self.definition.name);
            return match self.pool.held.hold(owner, tool, held, call.unanswered().unwrap_or_default()) {
                Ok(id) => Ok(Step::Asks(vec![Asked::new(question)], Then::Hold(id))),
                Err(held) => {
                    held.cancel().await;
                    Err(ToolError::new(TOO_MANY_WAIT))
                }
            };
        }
    }

    fn failure(&self, fault: Fault) -> ToolError {
        match fault {
            Fault::NotRun(error) => failed(text_of(&error), error),
            Fault::Gone(error) if error.is_over_limit() => failed(TOO_LARGE, error),
            Fault::Expired(error) | Fault::Gone(error) => failed(MAY_HAVE_ACTED, error),
            Fault::Forbidden(error) => failed(text_of(&error), error),
            Fault::Answered(status) => failed(
                format!(
                    "The server answered with HTTP status {status} and no result; it may or may not have acted."
                ),
                McpError::http_status(status),
            ),
            Fault::TimedOut => failed(TIMED_OUT, McpError::timed_out()),
            Fault::Cancelled => ToolError::new(CANCELLED),
            Fault::Answer(error) => failed(UNUSABLE, error),
            Fault::Refused(error) => output::error(&self.config.name, &cleaned::description(&error.message)),
            fault @ Fault::TooMany => failed(TOO_MANY, fault.into_error()),
            fault @ Fault::NeedsPages(_) => failed(UNUSABLE, fault.into_error()),
        }
    }
}

fn not_a_result() -> Step {
    Step::Failed(Fault::Answer(McpError::answer("not the result of a tool")))
}

/// Checks that a call may ask once more.
fn check_round(waiting: Option<&Waiting>) -> Result<(), ToolError> {
    waiting.map_or(Ok(()), Waiting::check_next)
}

/// Returns the text for models of an error that kept a call from running.
fn text_of(error: &McpError) -> &'static str {
    match error {
        error if error.has_refused_credentials() => REFUSED_CREDENTIALS,
        error if error.is_unauthenticated() => UNAUTHORIZED,
        error if error.is_forbidden() => FORBIDDEN,
        _ => UNREACHABLE,
    }
}

fn failed(text: impl Into<Cow<'static, str>>, error: McpError) -> ToolError {
    ToolError::new(text).with_source(error)
}
