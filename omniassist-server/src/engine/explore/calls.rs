//! The calls of an agent that wait for its user, and the answers.

use omniassist_core::agent_tree::{CallQuery, CallResponse, OpenQuery, ServerFrame, Status};
use omniassist_core::message::{Message, MessageCollector, Role};
use omniassist_core::{Error, RunEvent, Text};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::tree::{Nodes, Tree};
use crate::clock::{millis, now_ms};
use crate::engine::stores::answers::{Answer, apply_answers};
use crate::tool::schema::{ArgumentCheck, SchemaLimits};

/// The reason for which a call ends without an answer.
const NO_ANSWER: &str = "The user did not answer in time.";

/// The part that a run leaves to its user: its message, and the questions about the calls that wait.
pub(super) struct Waiting {
    written: MessageCollector,
    questions: Vec<Question>,
}

/// A question that no client has seen yet.
struct Question {
    call_id: Text,
    prompt: Option<Text>,
    call: CallQuery,
}

/// A question that a client is shown, and the place of its answer.
pub(super) struct ShownQuestion {
    call_id: Text,
    query: OpenQuery,
    reply: oneshot::Receiver<Answer>,
}

impl Waiting {
    /// Begins with the message that the run continues.
    pub(super) fn new(continued: Option<Message>) -> Self {
        let written = continued.map_or_else(MessageCollector::new, MessageCollector::continuing);
        Self { written, questions: Vec::new() }
    }

    /// Reads an event of the run.
    pub(super) fn take(&mut self, event: &RunEvent) {
        self.written.apply(event);
        let (call_id, prompt, call) = match event {
            RunEvent::ToolApprovalRequest(asked) => {
                let (id, name, input) = (asked.call_id.clone(), asked.name.clone(), asked.input.clone());
                (&asked.call_id, &asked.message, CallQuery::approval(id, name, input, asked.editable))
            }
            RunEvent::InputRequest(asked) => {
                let call = CallQuery::form(asked.call_id.clone(), Text::new(), asked.schema.clone());
                (&asked.call_id, &asked.message, call)
            }
            _ => return,
        };
        self.questions.retain(|known| known.call_id != *call_id);
        self.questions.push(Question { call_id: call_id.clone(), prompt: prompt.clone(), call });
    }

    pub(super) fn has_questions(&self) -> bool {
        !self.questions.is_empty()
    }

    /// Returns the message of the run with the answers of the user. Shows the questions, and waits. `None` if the user wants
    /// the answer of the agent now.
    pub(super) async fn ask(self, tree: &Tree, id: &Text) -> Option<Message> {
        let mut message = self.written.into_message();
        message.role = Role::Assistant;
        let longest = tree.settings.answer_timeout.min(tree.assistant.limits().approval_lifetime);
        let (until, expires_at) = (Instant::now() + longest, now_ms().saturating_add(millis(longest)));
        let queries = self.questions.into_iter().map(|Question { call_id, prompt, mut call }| {
            let part = message.tools().find(|part| part.call_id == call_id);
            call.tool_name = part.map(|part| part.name.clone()).unwrap_or_default();
            call.expires_at = expires_at;
            let prompt = prompt.unwrap_or_else(|| format!("May “{}” run?", call.tool_name).into());
            OpenQuery::new(Uuid::now_v7().to_string().into(), prompt, call)
        });
        let asked = tree.open_calls(id, queries.collect());
        let answers = async {
            let mut answers = Vec::new();
            for ShownQuestion { call_id, query, reply } in asked {
                let answer = timeout_at(until, reply).await.ok().and_then(Result::ok);
                answers.push((call_id, answer.unwrap_or_else(|| unanswered(&query))));
            }
            answers
        };
        let answers = tokio::select! {
            answers = answers => Some(answers),
            () = tree.wished_to_answer(id) => None,
        };
        tree.close_calls(id);
        apply_answers(&mut message, &answers?);
        Some(message)
    }
}

fn unanswered(query: &OpenQuery) -> Answer {
    let reason = Some(Text::from_static(NO_ANSWER));
    match query.call.schema {
        Some(_) => Answer::Denial { reason },
        None => Answer::Decision { approved: false, reason, arguments: None },
    }
}

/// Returns the answer to a question.
///
/// # Errors
///
/// Returns an error that names the field if the answer does not fit the question.
pub(super) fn answer_to(
    query: &OpenQuery,
    response: CallResponse,
    limits: SchemaLimits,
) -> Result<Answer, Error> {
    let CallResponse { approved, output, arguments, reason, .. } = response;
    let unwanted =
        |field| Error::invalid_field(field, "no such field: the question does not allow it", "one");
    if arguments.is_some() && !(query.call.editable && approved) {
        return Err(unwanted("arguments"));
    }
    match (&query.call.schema, output) {
        (None, Some(_)) => Err(unwanted("output")),
        (None, None) => Ok(Answer::Decision { approved, reason, arguments }),
        (Some(_), _) if !approved => Ok(Answer::Denial { reason }),
        (Some(_), None) => Err(Error::invalid_field("output", "the values of the form", "none")),
        (Some(schema), Some(output)) => {
            let schema = schema.to_value();
            let check = ArgumentCheck::new(&schema, limits).map_err(Text::from);
            let checked = check.and_then(|check| check.check_value(&schema, &output.to_value()));
            checked.map_err(|mismatch| {
                Error::invalid_field("output", "values that fit the schema", mismatch.to_string())
            })?;
            Ok(Answer::Output { output })
        }
    }
}

/// Returns the error of an answer to a question that is not open.
pub(super) fn not_open() -> Error {
    Error::invalid_field("queryId", "the id of an open question of this agent", "another one")
}

impl Tree {
    /// Adds questions about calls, and shows them.
    fn open_calls(&self, id: &Text, queries: Vec<OpenQuery>) -> Vec<ShownQuestion> {
        let mut nodes = self.nodes();
        let Some(node) = nodes.get_mut(id) else { return Vec::new() };
        let mut asked = Vec::new();
        for query in &queries {
            let (sender, reply) = oneshot::channel();
            node.calls.push((query.query_id.clone(), sender));
            asked.push(ShownQuestion {
                call_id: query.call.tool_call_id.clone(),
                query: query.clone(),
                reply,
            });
        }
        node.state.queries.clone_from(&queries);
        nodes.set_status(id, Status::WaitingForUser);
        for OpenQuery { query_id, prompt, call, .. } in queries {
            let (agent_id, query_id, call) = (id.clone(), Some(query_id), Some(Box::new(call)));
            nodes.push(ServerFrame::UserQuery { agent_id, prompt, query_id, call });
        }
        asked
    }

    /// Ends the questions about the calls of an agent.
    fn close_calls(&self, id: &Text) {
        let mut nodes = self.nodes();
        let Some(node) = nodes.get_mut(id) else { return };
        let open = std::mem::take(&mut node.calls);
        node.state.queries = Vec::new();
        for (query_id, _) in open {
            nodes.close_query(&query_id);
        }
        nodes.set_status(id, Status::Running);
    }

    /// Returns an open question about a call of an agent.
    pub(super) fn open_call(&self, agent_id: &str, query_id: &str) -> Option<OpenQuery> {
        let nodes = self.nodes();
        let queries = &nodes.get(agent_id)?.state.queries;
        queries.iter().find(|query| query.query_id == query_id).cloned()
    }

    /// Gives a question its answer. Returns `false` if it is not open.
    pub(super) fn answer_call(&self, query_id: &str, answer: Answer) -> bool {
        let mut nodes = self.nodes();
        let reply = nodes.take_call(query_id);
        reply.is_some_and(|reply| reply.send(answer).is_ok())
    }
}

impl Nodes {
    /// Removes an open question, and shows the state of its agent.
    fn take_call(&mut self, query_id: &str) -> Option<oneshot::Sender<Answer>> {
        let node = self.nodes_mut().find(|node| node.calls.iter().any(|(id, _)| *id == *query_id))?;
        let at = node.calls.iter().position(|(id, _)| *id == *query_id)?;
        let (query_id, reply) = node.calls.swap_remove(at);
        node.state.queries.retain(|query| query.query_id != query_id);
        let id = node.state.agent_id.clone();
        self.close_query(&query_id);
        self.show(&id);
        Some(reply)
    }
}
