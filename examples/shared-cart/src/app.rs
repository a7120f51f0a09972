//! The assistant and its model.

use omniassist_axum::{Assistant, LlmProvider, OpenAiProvider};

use crate::{components, tools};

const SYSTEM_PROMPT: &str =
    "You help in a small tea shop. The cart is on the user's page; change it with your tools.";

/// Returns the model of the environment.
///
/// # Errors
///
/// Fails if the environment has no valid settings for a provider.
pub fn model() -> omniassist_axum::Result<OpenAiProvider> {
    let mut provider = OpenAiProvider::builder().api_key(std::env::var("OPENAI_API_KEY").unwrap_or_default());
    if let Ok(url) = std::env::var("OPENAI_BASE_URL") {
        provider = provider.base_url(url);
    }
    if let Ok(model) = std::env::var("OMNIASSIST_MODEL") {
        provider = provider.model(model);
    }
    provider.build()
}

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
