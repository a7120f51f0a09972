//! The assistant of the shop.

use omniassist_axum::{Assistant, LlmProvider};

use crate::{components, tools};

const SYSTEM_PROMPT: &str =
    "You help in a small tea shop. The cart is on the user's page; change it with your tools.";

/// Builds the assistant of the shop. The posted state holds the cart; the server keeps nothing.
///
/// # Errors
///
/// Fails if a tool cannot be registered.
pub fn assistant(provider: impl LlmProvider) -> omniassist_axum::Result<Assistant> {
    let builder = Assistant::builder(provider).allow_anonymous().system_prompt(SYSTEM_PROMPT);
    let builder = builder.components(components::all());
    tools::all().into_iter().fold(builder, |builder, tool| builder.tool(tool)).build()
}
