//! The named agents. Each has its own prompt and tools. Those in `agents/` are files.

use omniassist_axum::tool::BrowserTools;
use omniassist_axum::{Agent, AgentBudget, AgentCatalog, FileAgents};

use crate::staff::{Role, has_role};
use crate::tools;

pub(crate) fn all() -> [Agent; 4] {
    let clerk = Agent::new("clerk", "Looks up orders and customers. Knows nothing but its task.")
        .system_prompt("You are a clerk. Look up what you are asked for, and report it in one sentence.")
        .budget(AgentBudget::new().model_calls(6));
    let auditor = Agent::new("auditor", "Reviews the refunds of an order.")
        .system_prompt("You review refunds. Answer briefly.")
        .visible_to(has_role(Role::Admin));
    let cashier = Agent::new("cashier", "Refunds orders. Asks the user what it needs to know.")
        .system_prompt("You are a cashier. Refund what you are asked for, and report it in one sentence.")
        .tool(BrowserTools::request_input())
        .visible_to(has_role(Role::Agent))
        .internal();
    [
        Agent::new("lead", "Answers questions that need several look-ups, with the help of clerks.")
            .system_prompt("You lead clerks. Give each one task, all at once, and then answer briefly.")
            .delegates(["clerk", "cashier"])
            .handoffs(["auditor"]),
        tools::reading().into_iter().fold(clerk, Agent::tool),
        tools::reading().into_iter().fold(auditor, Agent::tool),
        tools::paying().into_iter().fold(cashier, Agent::tool),
    ]
}

/// Returns the agents in files, and what they may name.
pub(crate) fn in_files() -> AgentCatalog {
    AgentCatalog::new(FileAgents::new(concat!(env!("CARGO_MANIFEST_DIR"), "/agents")))
        .tools(tools::reading())
        .tool(BrowserTools::request_input())
        .placeholder("shop", "the lamp shop")
}
