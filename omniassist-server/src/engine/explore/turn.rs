use std::collections::HashMap;
use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use omniassist_core::agent_tree::{ContentPart, CoreMessage, MessageContent, NodeState, ResultPart, Status};
use omniassist_core::event::{AgentDelta, AgentState, AgentStatus, RunErrorCode};
use omniassist_core::message::Message;
use omniassist_core::run::{ClientAbilities, ToolUse};
use omniassist_core::tree::Limit;
use omniassist_core::verify::{self, Poster, TrustHistory};
use omniassist_core::{JsonText, RunEvent, RunRequest, Text};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::calls::Waiting;
use super::node::Node;
use super::tree::Tree;
use crate::CancellationToken;
use crate::clock::now_ms;
use crate::engine::history::Carried;
use crate::engine::run::{Driver, prepare};
use crate::engine::tree::{LedgerNode, Origin, Work};
use crate::panics;
use crate::seal::Sealer;
use crate::sync::lock;
use crate::tool::Unanswered;

/// The reason for a stop of a run whose agent goes on without it, or has ended.
const LEFT: &str = "The agent does not need this run any more.";

/// The result of a call that the user has denied without a reason, in the messages of a state.
const DENIED: &str = "The user denied this call.";

/// The purpose of a run of an agent.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Purpose {
    /// The work on the task, with the tools of the assistant.
    Work,
    /// An answer without tools.
    Answer,
    /// A decision that no client is shown, with the name and the schema of its answer.
    Decision(Text, Value),
}

/// The reason for which a run of an agent has failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: Text,
    pub(super) message: Text,
    /// `true` if a limit of the tree allows no other model call.
    pub(super) is_limit: bool,
}

impl Failure {
    fn of(code: RunErrorCode) -> Self {
        let message = Text::from_static(code.safe_message());
        Self { code: Text::from_static(code.as_str()), message, is_limit: false }
    }
}

/// Makes one run of an agent, and returns the text of its last step that has any. Work ends early with a step in which the
/// user has changed the task, and at once if the user wants the answer now.
pub(super) async fn turn(
    tree: &Arc<Tree>,
    node: &LedgerNode,
    prompt: String,
    purpose: &Purpose,
) -> Result<String, Failure> {
    let id = node.agent_id();
    let mut run = Turn::begin(tree, node, prompt, purpose)?;
    let mut deadline = pin!(sleep(tree.assistant.limits().run_timeout));
    loop {
        tree.room().await;
        let next = tokio::select! {
            biased;
            next = run.next(purpose) => next,
            () = &mut deadline => return Err(Failure::of(RunErrorCode::Timeout)),
        };
        match next {
            Some(RunEvent::StepFinish { .. }) => {
                run.finish_step(purpose);
                if *purpose == Purpose::Work {
                    if tree.has_changed(id) {
                        break;
                    }
                    let paused = Instant::now();
                    tree.gate(id).await;
                    // The time of a pause does not count.
                    let until = deadline.deadline() + paused.elapsed();
                    deadline.as_mut().reset(until);
                }
            }
            Some(RunEvent::Finish { .. }) => {
                run.finish_step(purpose);
                let asked = Instant::now();
                if !run.ask_user(purpose).await? {
                    break;
                }
                // Nor does the time of the user.
                let until = deadline.deadline() + asked.elapsed();
                deadline.as_mut().reset(until);
            }
            Some(RunEvent::Error { code, message }) => {
                return Err(match run.driver.limit() {
                    Some(limit) => limited(limit),
                    None => Failure { message, ..Failure::of(code) },
                });
            }
            Some(event) => run.take(event, purpose),
            None => break,
        }
    }
    run.finish_step(purpose);
    Ok(mem::take(&mut run.last_text))
}

pub(super) fn limited(limit: Limit) -> Failure {
    Failure { code: Text::from_static(limit.as_str()), message: limit.to_string().into(), is_limit: true }
}

/// A run of an agent. Dropping it ends the run, and counts its tokens.
struct Turn<'a> {
    tree: &'a Arc<Tree>,
    node: &'a LedgerNode,
    id: &'a Text,
    /// The id of the run, which stays when it goes on after an answer of the user.
    run: Uuid,
    prompt: String,
    driver: Driver,
    /// `None` if the user is asked about no call.
    waiting: Option<Waiting>,
    /// Cancelled at the end of the run.
    unanswered: CancellationToken,
    text: String,
    last_text: String,
    /// The parts of the step.
    calls: Vec<ContentPart>,
    results: Vec<ResultPart>,
    names: HashMap<Text, Text>,
}

impl<'a> Turn<'a> {
    fn begin(
        tree: &'a Arc<Tree>,
        node: &'a LedgerNode,
        prompt: String,
        purpose: &Purpose,
    ) -> Result<Self, Failure> {
        let (run, unanswered) = (Uuid::now_v7(), CancellationToken::new());
        Ok(Self {
            driver: drive(tree, node, run, &prompt, purpose, None, &unanswered)?,
            unanswered,
            tree,
            node,
            id: node.agent_id(),
            run,
            prompt,
            waiting: abilities(tree, purpose).map(|_| Waiting::new(None)),
            text: String::new(),
            last_text: String::new(),
            calls: Vec::new(),
            results: Vec::new(),
            names: HashMap::new(),
        })
    }

    /// Asks the user about the calls that wait. Returns `true` if the run goes on with the answers.
    async fn ask_user(&mut self, purpose: &Purpose) -> Result<bool, Failure> {
        let Some(waiting) = self.waiting.take_if(|waiting| waiting.has_questions()) else { return Ok(false) };
        let Some(message) = waiting.ask(self.tree, self.id).await else { return Ok(false) };
        self.tree.gate(self.id).await;
        self.waiting = Some(Waiting::new(Some(message.clone())));
        let (tree, node, run) = (self.tree, self.node, self.run);
        let next = drive(tree, node, run, &self.prompt, purpose, Some(message), &self.unanswered)?;
        self.count();
        self.driver = next;
        Ok(true)
    }

    /// Returns the next event. `None` at the end, or if the user wants the answer of work now.
    async fn next(&mut self, purpose: &Purpose) -> Option<RunEvent> {
        poll_fn(|cx| {
            if *purpose == Purpose::Work && self.tree.must_answer(self.id, Some(cx)) {
                return Poll::Ready(None);
            }
            match panics::catch("an agent", || self.driver.poll_event(cx)) {
                Some(polled) => {
                    if let (Some(waiting), Poll::Ready(Some(event))) = (&mut self.waiting, &polled) {
                        waiting.take(event);
                    }
                    polled
                }
                None => {
                    let (code, message) = (RunErrorCode::Internal, RunErrorCode::Internal.safe_message());
                    let message = Text::from_static(message);
                    Poll::Ready(Some(RunEvent::Error { code, message }))
                }
            }
        })
        .await
    }

    fn take(&mut self, event: RunEvent, purpose: &Purpose) {
        let is_shown = !matches!(purpose, Purpose::Decision(..));
        match event {
            RunEvent::TextDelta { delta, .. } => {
                self.text.push_str(&delta);
                if is_shown {
                    self.tree.nodes().delta(self.id, delta);
                }
            }
            RunEvent::ToolInputAvailable { call_id, name, input, .. } => {
                self.names.insert(call_id.clone(), name.clone());
                self.calls.push(ContentPart::ToolCall {
                    tool_call_id: call_id,
                    tool_name: name,
                    args: input,
                });
            }
            RunEvent::ToolOutput { call_id, output, preliminary: false, .. } => self.result(call_id, output),
            RunEvent::ToolError { call_id, error_text: reason, .. }
            | RunEvent::ToolRefused { call_id, reason } => {
                self.result(call_id, JsonText::from_str_value(&reason));
            }
            RunEvent::ToolDenied { call_id, reason } => {
                let reason = reason.as_deref().unwrap_or(DENIED);
                self.result(call_id, JsonText::from_str_value(reason));
            }
            // A run that goes on has the results of its calls before its next step.
            RunEvent::StepStart if *purpose == Purpose::Work => self.say_results(),
            RunEvent::AgentState(state) => self.asked(*state),
            RunEvent::AgentDelta { agent_id, delta: AgentDelta::Text { delta } } => {
                self.tree.nodes().delta(&agent_id, delta);
            }
            _ => {}
        }
    }

    fn result(&mut self, call_id: Text, output: JsonText) {
        let name = self.names.get(&call_id).cloned().unwrap_or_default();
        self.results.push(ResultPart::new(call_id, name, output));
    }

    fn say_results(&mut self) {
        let results = mem::take(&mut self.results);
        if !results.is_empty()
            && let Some(node) = self.tree.nodes().get_mut(self.id)
        {
            node.say(CoreMessage::Tool(results));
        }
    }

    /// Adds the messages of a step to the state, and shows it.
    fn finish_step(&mut self, purpose: &Purpose) {
        let (calls, results) = (mem::take(&mut self.calls), mem::take(&mut self.results));
        let text = Text::from(self.text.as_str());
        if !self.text.is_empty() {
            self.last_text = mem::take(&mut self.text);
        }
        if matches!(purpose, Purpose::Decision(..)) {
            return;
        }
        let content = match (calls.is_empty(), text.is_empty()) {
            (true, true) => return,
            (true, false) => MessageContent::Text(text),
            (false, is_empty) => {
                let text = (!is_empty).then_some(ContentPart::Text { text });
                MessageContent::Parts(text.into_iter().chain(calls).collect())
            }
        };
        let mut nodes = self.tree.nodes();
        if let Some(node) = nodes.get_mut(self.id) {
            node.say(CoreMessage::Assistant(content));
            if !results.is_empty() {
                node.say(CoreMessage::Tool(results));
            }
        }
        nodes.show(self.id);
    }

    /// Shows an agent that a tool has asked.
    fn asked(&self, asked: AgentState) {
        let mut nodes = self.tree.nodes();
        let id = asked.agent_id.clone();
        if nodes.get(&id).is_none() {
            let parent = asked.parent_id.unwrap_or_else(|| self.id.clone());
            let mut state = NodeState::begun(id.clone(), Some(parent), asked.task, now_ms());
            (state.metadata.name, state.metadata.depth) = (asked.name, asked.depth);
            nodes.add(Node::new(state, true));
        }
        match asked.status {
            AgentStatus::Running => nodes.set_status(&id, Status::Running),
            AgentStatus::Waiting => nodes.set_status(&id, Status::WaitingForUser),
            AgentStatus::Completed | AgentStatus::Incomplete => {
                nodes.end(&id, Status::Completed, asked.text);
            }
            AgentStatus::Cancelled => nodes.end(&id, Status::Cancelled, asked.text),
            _ => nodes.end(&id, Status::Failed, asked.text),
        }
    }

    /// Counts what the run has used, and the agents at work for it.
    fn count(&mut self) {
        let usage = Work::trace(&mut self.driver).usage();
        let used = self.driver.take_used();
        self.tree.nodes().count(&usage, used);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let driver = &mut self.driver;
        // What a model call has reported that is under way counts, and so do the agents at work.
        panics::catch("an agent", || Work::stop(driver, Text::from_static(LEFT)));
        self.count();
        self.unanswered.cancel();
    }
}

/// Returns the abilities of the client, if its user can be asked about a call.
fn abilities(tree: &Tree, purpose: &Purpose) -> Option<ClientAbilities> {
    let asks = *purpose == Purpose::Work && tree.abilities != ClientAbilities::none();
    asks.then_some(tree.abilities)
}

/// Begins a run of an agent, or goes on with one whose message has the answers of the user.
fn drive(
    tree: &Tree,
    node: &LedgerNode,
    id: Uuid,
    prompt: &str,
    purpose: &Purpose,
    continued: Option<Message>,
    unanswered: &CancellationToken,
) -> Result<Driver, Failure> {
    let assistant = &tree.assistant;
    let mut request = RunRequest::prompt(prompt.to_owned());
    let chat = tree.chat.as_ref().map(|chat| chat.id.clone());
    request.chat_id.clone_from(&chat);
    let (asks, goes_on) = (abilities(tree, purpose), continued.is_some());
    request.messages.extend(continued);
    request.abilities = asks.unwrap_or(ClientAbilities::none());
    if *purpose != Purpose::Work {
        request.tool_use = ToolUse::without_server_tools();
    }
    if let Purpose::Decision(name, schema) = purpose {
        let mut options = assistant.model_options().as_ref().clone();
        options.response_schema = Some((name.clone(), schema.clone()));
        request.options = Some(Arc::new(options));
    }
    let branch = node.branch();
    let mut extensions = tree.extensions.clone();
    extensions.insert(Unanswered(unanswered.clone()));
    let tools = assistant.tools_of_asked(&request, &extensions, branch.may_ask());
    let tools = tools.map_err(|_| Failure::of(RunErrorCode::InvalidRequest))?;
    if goes_on {
        // No client has the message, and each answer was checked against its question.
        verify::history(&mut request, Poster::anonymous(0), &tools, &TrustHistory)
            .map_err(|_| Failure::of(RunErrorCode::Internal))?;
    }
    // The tree takes each answer once, so no record of used approvals is needed.
    let origin = Origin::within(id, true, branch);
    let (mut driver, _, message_id) =
        assistant.driver(request, extensions, tools, prepare, Carried::default(), origin);
    if let Some(seals) = assistant.setup.seals.as_ref().filter(|_| asks.is_some()) {
        let principal = tree.extensions.get().cloned().unwrap_or_default();
        let sealer = Sealer::new(&seals.keys, chat, &principal, message_id.clone());
        driver.seal_as(sealer.for_asked(&message_id));
    }
    if let Some(meter) = lock(&tree.meter).clone() {
        driver.meter_with(meter);
    }
    driver.start_asked(&message_id);
    Ok(driver)
}
