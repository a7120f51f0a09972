//! The shapes of runs: what the model says, and the tools that it calls.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::core::{LlmEvent, LlmPayload, TranscriptItem};
use omniassist_server::provider::from_fn;
use omniassist_server::testing::{ScriptedProvider, Turn};
use omniassist_server::tool::{Tool, ToolContext, ToolError};
use omniassist_server::{Agent, Approval, AssistantBuilder, LlmProvider, failpoint};
use serde_json::{Value, json};

use crate::{ledger, moments};

/// The delay between two words, and the longest pause of a tool before and after its effect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tempo {
    pub(crate) word: Duration,
    pub(crate) tool: Duration,
}

impl Tempo {
    /// Runs that take a fraction of a second.
    pub(crate) const FAST: Self = Self { word: Duration::from_millis(4), tool: Duration::from_millis(4) };
}

/// The words before a call, of an answer, and of a long answer.
const LEAD: usize = 2;
const SHORT: usize = 4;
const LONG: usize = 50;

/// The beginning of the task of an agent.
const TASK: &str = "task-";

/// A shape of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// A long answer.
    Text,
    /// A call between two texts.
    Call,
    /// Three calls at once.
    Parallel,
    /// A call that may run again, with the same key.
    Idempotent,
    /// A call that somebody approves.
    Approval,
    /// A call in each of two steps.
    Steps,
    /// A question that is posted while the run of another goes on, and waits for its end. Each has a call.
    Queue,
    /// A call and a long answer, whose client is connected to a port.
    Port,
    /// Two agents that work at the same time, beside a call.
    Agents,
    /// An agent that asks two others, beside a call of its own.
    Nested,
    /// An agent of an agent whose call somebody approves.
    Asked,
}

/// The order of the agents whose tool may run again.
pub(crate) const IDEMPOTENT_ORDER: &str = "b";

impl Shape {
    /// The shapes without agents.
    pub(crate) const PLAIN: [Self; 8] = [
        Self::Text,
        Self::Call,
        Self::Parallel,
        Self::Idempotent,
        Self::Approval,
        Self::Steps,
        Self::Queue,
        Self::Port,
    ];

    /// The shapes with agents.
    pub(crate) const AGENTS: [Self; 3] = [Self::Agents, Self::Nested, Self::Asked];

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::PLAIN.into_iter().chain(Self::AGENTS)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Call => "call",
            Self::Parallel => "parallel",
            Self::Idempotent => "idempotent",
            Self::Approval => "approval",
            Self::Steps => "steps",
            Self::Queue => "queue",
            Self::Port => "port",
            Self::Agents => "agents",
            Self::Nested => "nested",
            Self::Asked => "asked",
        }
    }

    /// Returns the calls of each step: tools and orders.
    pub(crate) const fn steps(self) -> &'static [&'static [(&'static str, &'static str)]] {
        match self {
            Self::Text => &[],
            Self::Call | Self::Port => &[&[("refund", "a")]],
            Self::Parallel => &[&[("refund", "a"), ("refund", "b"), ("charge", "c")]],
            Self::Idempotent => &[&[("charge", "a")]],
            Self::Approval => &[&[("pay", "a")]],
            Self::Steps | Self::Queue => &[&[("refund", "a")], &[("refund", "b")]],
            Self::Agents => &[&[("worker", "refund-a"), ("worker", "charge-b"), ("refund", "c")]],
            Self::Nested => &[&[("leader", "all")]],
            Self::Asked => &[&[("leader", "pay")]],
        }
    }

    /// Returns the agents with those that asked them, in alphabetical order.
    pub(crate) const fn agents(self) -> &'static [(&'static str, Option<&'static str>)] {
        match self {
            Self::Agents => &[("worker", None), ("worker", None)],
            Self::Asked => &[("leader", None), ("worker", Some("leader"))],
            Self::Nested => &[("leader", None), ("worker", Some("leader")), ("worker", Some("leader"))],
            _ => &[],
        }
    }

    /// Returns `true` if somebody approves a call. The call of an agent is then stored among those of the run.
    pub(crate) const fn is_approved(self) -> bool {
        matches!(self, Self::Approval | Self::Asked)
    }

    /// Returns the orders on which agents act by calls that are not stored.
    pub(crate) const fn orders_of_agents(self) -> &'static [&'static str] {
        match self {
            Self::Agents => &["a", IDEMPOTENT_ORDER],
            Self::Nested => &["a", IDEMPOTENT_ORDER, "c"],
            _ => &[],
        }
    }

    /// Returns the number of questions.
    pub(crate) const fn questions(self) -> usize {
        if matches!(self, Self::Queue) { 2 } else { 1 }
    }

    /// Returns the text of a question, counted from 1.
    pub(crate) fn question(self, number: usize) -> String {
        format!("shape-{}-{number}", self.name())
    }

    /// Returns the calls of each step of the answer to a question.
    fn steps_of(self, question: usize) -> &'static [&'static [(&'static str, &'static str)]] {
        match self {
            Self::Queue => &self.steps()[question - 1..question],
            _ => self.steps(),
        }
    }

    /// Returns the number of words of each text of the answer to a question.
    pub(crate) fn texts(self, question: usize) -> Vec<usize> {
        let mut texts = vec![LEAD; self.steps_of(question).len()];
        texts.push(if matches!(self, Self::Text | Self::Port) { LONG } else { SHORT });
        texts
    }
}

/// Creates the model of a child. It writes each delta to the output of the child before the engine gets it.
pub(crate) fn recorded_model() -> impl LlmProvider {
    let model = model(Tempo::FAST);
    from_fn("recorded", move |payload| {
        model.stream(payload).inspect(|event| {
            if let Ok(LlmEvent::TextDelta { delta, .. }) = event
                && delta.ends_with(' ')
            {
                moments::happens(&format!("delta {delta}"));
            }
        })
    })
}

/// Creates a model. It answers by the last message of the user, and the results after it.
pub(crate) fn model(tempo: Tempo) -> ScriptedProvider {
    ScriptedProvider::new().otherwise(move |payload| answer(payload, tempo.word))
}

fn answer(payload: &LlmPayload, pace: Duration) -> Turn {
    // A model that is asked again writes other words, and gives its calls other ids.
    static TURNS: AtomicU32 = AtomicU32::new(0);
    let is_user = |item: &TranscriptItem| matches!(item, TranscriptItem::User { .. });
    let last = payload.transcript.iter().rposition(is_user).unwrap_or(0);
    let asked = format!("{:?}", payload.transcript.get(last));
    let turn = format!("{}.{}", std::process::id(), TURNS.fetch_add(1, Ordering::Relaxed));
    let results = payload.transcript[last..].iter().filter(|item| matches!(item, TranscriptItem::Result(_)));
    if let Some(task) = asked.split(TASK).nth(1) {
        return answer_of_agent(task, &turn, &results.collect::<Vec<_>>());
    }
    let questions = Shape::all().flat_map(|shape| (1..=shape.questions()).map(move |number| (shape, number)));
    let mut questions = questions;
    let question = questions.find(|(shape, number)| asked.contains(&shape.question(*number)));
    let Some((shape, number)) = question else { return Turn::text("Yes.") };
    let mut done = results.count();
    for (calls, words) in shape.steps_of(number).iter().zip(shape.texts(number)) {
        if done >= calls.len() {
            done -= calls.len();
            continue;
        }
        return calls_of(calls, &turn).fold(text(&turn, words, Duration::ZERO), Turn::then);
    }
    text(&turn, shape.texts(number).pop().unwrap(), pace)
}

fn calls_of<'a>(calls: &'a [(&str, &str)], turn: &'a str) -> impl Iterator<Item = Turn> + 'a {
    calls.iter().enumerate().map(move |(at, (tool, order))| {
        let input = match *tool {
            "worker" | "leader" => json!({ "task": format!("{TASK}{order}.") }),
            _ => json!({ "order": order }),
        };
        Turn::call_with_id(format!("call_{turn}.{at}"), *tool, input)
    })
}

/// Returns the turn of an agent: its calls, and then a report of their results.
fn answer_of_agent(task: &str, turn: &str, results: &[&TranscriptItem]) -> Turn {
    if !results.is_empty() {
        return Turn::text(format!("r{turn}: {results:?}"));
    }
    let order = task.split('.').next().unwrap_or_default();
    let calls: &[(&str, &str)] = match order.split_once('-') {
        Some((tool, order)) => &[(tool, order)],
        None if order == "pay" => &[("worker", "pay-a")],
        None => &[("worker", "refund-a"), ("worker", "charge-b"), ("refund", "c")],
    };
    calls_of(calls, turn).fold(Turn::text(format!("t{turn}")), Turn::then)
}

/// Gives a builder the tools, and the agents that have them.
pub(crate) fn equip(
    builder: AssistantBuilder,
    ledger: &str,
    case: Option<&str>,
    tempo: Tempo,
) -> AssistantBuilder {
    let agent = |name: &'static str| {
        let tools = tools(ledger, case, tempo).into_iter();
        tools.fold(Agent::new(name, "Acts on orders."), |agent, tool| agent.tool(tool))
    };
    let builder = tools(ledger, case, tempo).into_iter().fold(builder, |builder, tool| builder.tool(tool));
    let builder = builder.agent(agent("worker")).agent(agent("leader").delegates(["worker"]));
    builder.delegates(["worker", "leader"])
}

/// Creates a block of words. Each names its turn, so that no two deltas are equal.
fn text(turn: &str, words: usize, pace: Duration) -> Turn {
    let word = |number| {
        let delta = format!("w{turn}.{number} ").into();
        Turn::event(LlmEvent::TextDelta { block: 0, delta }).then(Turn::delay(pace))
    };
    let end = Turn::event(LlmEvent::TextEnd { block: 0, metadata: None });
    (0..words).map(word).collect::<Turn>().then(end)
}

/// Creates the tools. Each takes effect in the ledger, and returns the receipt. Without a case, each chat is one.
pub(crate) fn tools(ledger: &str, case: Option<&str>, tempo: Tempo) -> Vec<Tool> {
    let pause = tempo.tool.as_millis() as u64;
    let tool = |name: &'static str| {
        let (ledger, case) = (ledger.to_owned(), case.map(str::to_owned));
        let schema = json!({
            "type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"],
        });
        Tool::from_fn_with_schema(
            name,
            "Acts on an order",
            schema,
            move |arguments: Value, context: ToolContext| {
                let chat = || context.run().chat_id().map(ToString::to_string).unwrap_or_default();
                let (ledger, case) = (ledger.clone(), case.clone().unwrap_or_else(chat));
                async move {
                    failpoint::hit("tool.called");
                    tokio::time::sleep(Duration::from_millis(fastrand::u64(0..pause))).await;
                    let order = arguments["order"].as_str().unwrap_or_default();
                    let receipt = ledger::effect(&ledger, &case, order, &context.idempotency_key());
                    failpoint::hit("tool.effect");
                    tokio::time::sleep(Duration::from_millis(fastrand::u64(0..pause))).await;
                    receipt.map_err(|error| ToolError::new(error.to_string()))
                }
            },
        )
    };
    vec![tool("refund"), tool("charge").idempotent(), tool("pay").requires_approval(Approval::always())]
}
