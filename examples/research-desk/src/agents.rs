//! The agents that clients reach by name, at `/assistant/agents/{name}`.

use std::time::Duration;

use omniassist_axum::core::ToolChoice;
use omniassist_axum::tool::{Agents, Args, Tool, ToolError};
use omniassist_axum::{Agent, Refusal, RunContext, StepPlan};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The agent that compares.
const EDITOR: &str = "editor";
/// The longest time of a comparison. Its researchers work within it.
const COMPARISON: Duration = Duration::from_secs(180);

/// Returns all agents.
pub(crate) fn all() -> [Agent; 3] {
    let compare = Tool::new("compare", "Ask two researchers about two things", compare)
        .title("Ask two researchers")
        .example("Compare lamps and candles", json!({"first": "lamps", "second": "candles"}))
        .example("What is better, a train or a car?", json!({"first": "a train", "second": "a car"}))
        .timeout(COMPARISON);
    [
        // The model decides which parts there are, and who answers them. Only the limits of the tree end it.
        Agent::new("planner", "Answers a question, and asks planners about its parts.")
            .system_prompt(
                "You answer questions. Ask a planner about each part, and answer in a few sentences.",
            )
            .delegates(["planner"]),
        // The code of a tool decides who is asked.
        Agent::new(EDITOR, "Compares two things, with the help of two researchers.")
            .system_prompt("You compare two things. Ask the researchers once, and answer in a few sentences.")
            .tool(compare),
        Agent::new("researcher", "Answers one question.")
            .system_prompt("You research questions. Answer in one sentence."),
    ]
}

/// Requires the researchers before the editor answers: a small model would often answer at once.
pub(crate) async fn prepare_step(step: &mut StepPlan, run: RunContext) -> Result<(), Refusal> {
    if run.agent().is_some_and(|agent| agent.as_str() == EDITOR) && step.number() == 1 {
        step.tool_choice(ToolChoice::Required);
    }
    Ok(())
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Comparison {
    /// The first thing
    first: String,
    /// The other thing
    second: String,
}

/// Asks two researchers at the same time.
async fn compare(Args(things): Args<Comparison>, agents: Agents) -> Result<String, ToolError> {
    let Comparison { first, second } = things;
    let ask = |thing: &str| agents.ask("researcher", format!("What speaks for {thing}?"));
    let (one, other) = tokio::join!(ask(&first), ask(&second));
    Ok(format!("{first}: {}\n{second}: {}", one?.result, other?.result))
}
