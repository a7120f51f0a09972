//! The second agent: it answers questions about the rules of the shop, with a tool of its own. It has a prompt of its own
//! and none of the tools of the assistant. Clients reach it at `/assistant/agents/handbook`.

use std::convert::Infallible;

use omniassist_axum::{Agent, Args, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

const SYSTEM_PROMPT: &str = "You answer questions about the rules of a small shop for office furniture. \
     Read the chapter of the handbook first; never invent a rule. Answer in one sentence.";

/// Returns the agent.
pub(super) fn handbook() -> Agent {
    let read = Tool::new("read_handbook", "Read a chapter of the handbook of the shop", read_chapter)
        .title("Read handbook")
        .example("What are the rules for returns?", json!({"chapter": "returns"}))
        .example("How long does delivery take?", json!({"chapter": "delivery"}))
        .example("What does the warranty cover?", json!({"chapter": "warranty"}));
    Agent::new("handbook", "Answers questions about returns, delivery and warranty.")
        .system_prompt(SYSTEM_PROMPT)
        .tool(read)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum Chapter {
    Returns,
    Delivery,
    Warranty,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Reading {
    /// The chapter
    chapter: Chapter,
}

async fn read_chapter(Args(reading): Args<Reading>) -> Result<&'static str, Infallible> {
    Ok(match reading.chapter {
        Chapter::Returns => "Furniture can be returned within 30 days, unused. The shop pays the way back.",
        Chapter::Delivery => "Delivery takes 3 to 5 working days, and is free for orders over 100 EUR.",
        Chapter::Warranty => "The warranty lasts 5 years. It covers broken parts, and no wear.",
    })
}
