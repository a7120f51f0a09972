use std::collections::BTreeMap;

use omniassist_server::core::run::ClientAbilities;
use omniassist_server::core::{Error, JsonText, Message, RunRequest, Text};
use omniassist_server::{Assistant, Run};
use rmcp::model::{CallToolRequestParams, CallToolResponse, InputRequests, InputRequiredResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use super::arguments::WrittenArguments;
use super::attachments::Attached;
use super::caller::Caller;
use super::offer::{MESSAGE, Offer, Target};
use super::outcome::{Outcome, failed};
use super::pending::Pending;
use super::progress::Progress;
use super::question::asks_with_forms;
use super::refusal;
use super::settings::Settings;

/// The error of a question for which the protocol has no form.
const NO_FORM: &str =
    "The user has to fill in a form, which this client cannot show. The call was not completed.";

/// The error of an agent's tool without its argument.
const NO_MESSAGE: &str = "The argument `message` must be a text.";

/// One `tools/call`.
pub(super) struct Call {
    caller: Caller,
    target: Target,
    arguments: JsonText,
    /// The message with the call, and the answers of the user. `None` for a new call.
    continued: Option<Message>,
    abilities: ClientAbilities,
    progress: Progress,
    attached: Attached,
}

impl Call {
    /// Reads a call.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller sees no tool of this name, or `requestState` is not that of the same call.
    pub(super) fn new(
        mut caller: Caller,
        settings: &Settings,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Self, ErrorData> {
        let target = Offer::new(&caller, settings).find(&request.name).ok_or_else(refusal::unknown_tool)?;
        let written = caller.extensions.remove::<WrittenArguments>();
        let arguments = written.map_or_else(
            || JsonText::from_value(&Value::Object(request.arguments.unwrap_or_default())),
            |written| written.0,
        );
        // Without seals, nothing proves which call the user was asked about.
        let can_ask = asks_with_forms(&context) && caller.assistant.seals_history();
        let continued = match request.request_state {
            None => None,
            Some(_) if !can_ask => return Err(refusal::foreign_state()),
            Some(state) => {
                let pending = Pending::read(state, caller.assistant.limits());
                let pending = pending.filter(|pending| match &target {
                    Target::Tool(name) => pending.is_of(name, &arguments),
                    Target::Agent(_) => true,
                });
                let responses = request.input_responses.unwrap_or_default();
                let answered = pending.ok_or_else(refusal::foreign_state)?.answered(&responses);
                match target {
                    // The call begins anew, and asks again.
                    Target::Tool(_) => answered,
                    Target::Agent(_) => Some(answered.ok_or_else(refusal::unanswered)?),
                }
            }
        };
        let mut abilities = ClientAbilities::none();
        (abilities.approvals, abilities.forms) = (can_ask, can_ask);
        let progress = Progress::of(context, matches!(target, Target::Agent(_)));
        let attached = Attached::default();
        caller.extensions.insert(attached.clone());
        Ok(Self { caller, target, arguments, continued, abilities, progress, attached })
    }

    /// Runs the call.
    pub(super) async fn answer(self) -> Result<CallToolResponse, ErrorData> {
        let run = match &self.target {
            Target::Tool(name) => self.call_tool(name.clone()).await,
            Target::Agent(agent) => match self.message() {
                Some(message) => self.ask(agent, message).await,
                None => return Ok(failed(NO_MESSAGE).into()),
            },
        };
        let run = run.map_err(|error| refusal::of_run(&error))?;
        let outcome = Outcome::read(run, self.continued, self.progress).await;
        if !outcome.questions().is_empty() {
            return Ok(ask_user(outcome));
        }
        Ok(match self.target {
            Target::Tool(_) => outcome.of_tool(&self.attached),
            Target::Agent(_) => outcome.of_agent(),
        }
        .into())
    }

    async fn call_tool(&self, name: Text) -> Result<Run, Error> {
        let request = self.request(&name);
        let (arguments, extensions) = (self.arguments.clone(), self.caller.extensions.clone());
        self.caller.assistant.try_call(name, arguments, request, extensions).await
    }

    async fn ask(&self, agent: &Assistant, message: Text) -> Result<Run, Error> {
        agent.try_run(self.request(&message), self.caller.extensions.clone()).await
    }

    fn request(&self, user: &Text) -> RunRequest {
        let mut request = RunRequest::prompt(user.clone());
        request.messages.extend(self.continued.clone());
        request.abilities = self.abilities;
        request
    }

    /// Returns the message for an agent.
    fn message(&self) -> Option<Text> {
        self.arguments.to_value().get(MESSAGE)?.as_str().map(Text::from)
    }
}

/// Returns the questions to the user, with the state of the call that waits for them.
fn ask_user(outcome: Outcome) -> CallToolResponse {
    let requests: Option<InputRequests> = outcome
        .questions()
        .iter()
        .map(|question| Some((question.call_id.to_string(), question.to_request()?)))
        .collect::<Option<BTreeMap<_, _>>>();
    match requests.zip(Pending::new(outcome.into_message()).to_state()) {
        Some((requests, state)) => InputRequiredResult::new(Some(requests), Some(state)).into(),
        None => failed(NO_FORM).into(),
    }
}
