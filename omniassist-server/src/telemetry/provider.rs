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

#[cfg(all(test, feature = "openai"))]
mod tests {
    use super::provider_name;
    use crate::provider::openai::Vendor;
    use crate::provider::{Fallback, LlmProvider};
    use crate::{OpenAiChatProvider, OpenAiProvider};

    /// The names in the conventions. Other values are allowed.
    const KNOWN: &[&str] = &[
        "anthropic",
        "aws.bedrock",
        "azure.ai.inference",
        "azure.ai.openai",
        "cohere",
        "deepseek",
        "gcp.gemini",
        "gcp.gen_ai",
        "gcp.vertex_ai",
        "groq",
        "ibm.watsonx.ai",
        "mistral_ai",
        "moonshot_ai",
        "openai",
        "perplexity",
        "x_ai",
    ];

    #[test]
    fn vendors_have_the_names_of_the_conventions() {
        let own: Vec<_> = Vendor::ALL
            .iter()
            .map(|vendor| vendor.name())
            .filter(|name| !KNOWN.contains(&&*provider_name(name)))
            .collect();
        let expected = [
            "openrouter",
            "dashscope",
            "together",
            "fireworks",
            "cerebras",
            "github-models",
            "github-copilot",
            "ollama",
            "lm-studio",
            "llama.cpp",
            "vllm",
        ];
        assert_eq!(own, expected);
        for (name, known) in [
            ("openai", "openai"),
            ("azure", "azure.ai.openai"),
            ("mistral", "mistral_ai"),
            ("groq", "groq"),
            ("deepseek", "deepseek"),
            ("moonshot", "moonshot_ai"),
            ("xai", "x_ai"),
            ("perplexity", "perplexity"),
        ] {
            assert_eq!(
                Vendor::named(name).map(|vendor| provider_name(vendor.name()).into_owned()).unwrap(),
                known
            );
        }
    }

    #[test]
    fn providers_have_the_names_of_the_conventions() {
        let chat = || OpenAiChatProvider::builder().api_key("k").model("m");
        let responses = || OpenAiProvider::builder().api_key("k").model("m");
        let azure = "https://x.openai.azure.com/openai/v1";
        let own = |provider: &dyn LlmProvider| provider_name(provider.name()).into_owned();
        assert_eq!(own(&chat().build().unwrap()), "openai");
        assert_eq!(own(&chat().base_url(azure).build().unwrap()), "azure.ai.openai");
        assert_eq!(own(&chat().base_url("https://gateway.example/v1").build().unwrap()), "openai");
        assert_eq!(own(&responses().build().unwrap()), "openai");
        assert_eq!(own(&responses().base_url(azure).build().unwrap()), "azure.ai.openai");
        let chain =
            Fallback::new(responses().build().unwrap()).or(chat().vendor(Vendor::XAI).build().unwrap());
        assert_eq!(own(&chain), "openai|x_ai");
    }

    #[cfg(feature = "anthropic")]
    #[test]
    fn anthropic_has_the_name_of_the_conventions() {
        let provider = crate::provider::anthropic::AnthropicProvider::new("k").unwrap();
        assert_eq!(provider_name(provider.name()), "anthropic");
    }

    #[cfg(feature = "gemini")]
    #[test]
    fn gemini_has_the_name_of_the_conventions() {
        let provider = crate::provider::gemini::GeminiProvider::new("k").unwrap();
        assert_eq!(provider_name(provider.name()), "gcp.gemini");
    }
}
