//! The conventions' names of providers.

use std::borrow::Cow;

/// Returns the conventions' name of a provider, or its own name if they have none. A chain has the names of its members.
/// <https://opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai/#gen-ai-provider-name>
pub(crate) fn provider_name(name: &str) -> Cow<'_, str> {
    if name.contains('|') {
        let names: Vec<&str> = name.split('|').map(known_name).collect();
        return names.join("|").into();
    }
    known_name(name).into()
}

fn known_name(name: &str) -> &str {
    match name {
        "openai-chat" => "openai",
        "gemini" | "google" => "gcp.gemini",
        "vertex" => "gcp.vertex_ai",
        "bedrock" => "aws.bedrock",
        "azure" | "azure-openai" => "azure.ai.openai",
        "mistral" => "mistral_ai",
        "moonshot" => "moonshot_ai",
        "xai" => "x_ai",
        // `anthropic`, `cohere`, `deepseek`, `groq`, `openai` and `perplexity` are the conventions' names.
        name => name,
    }
}
