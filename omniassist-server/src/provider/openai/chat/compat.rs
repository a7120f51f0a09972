//! The servers that speak Chat Completions, and what each does differently: one row for each.

use std::fmt;

use http::Uri;
use omniassist_core::Text;

use super::schema::Rules;
use crate::provider::settings::{KeyHeader, Location};
use crate::transport::is_loopback;

/// The model that [`OpenAiChatProvider`](super::OpenAiChatProvider) asks OpenAI, or a server of no known [`Vendor`], for unless told otherwise:
/// one that does not reason, since this API has no way to send reasoning back.
pub const DEFAULT_CHAT_MODEL: &str = "gpt-4.1-mini";

/// A server that speaks Chat Completions in its own way.
///
/// A vendor is data, one row of a table: where its API is, which environment variable holds its key, and how its
/// requests differ from OpenAI's. Answers are read alike from all of them. A server that is in no row is sent the
/// fields that most servers know, and each difference can be set by hand on the
/// [builder](super::OpenAiChatProviderBuilder).
///
/// A row can state these differences:
///
/// - the cap of an answer is `max_completion_tokens` and not `max_tokens`;
/// - `stream_options` is refused;
/// - the reasoning effort is not `reasoning_effort` but `reasoning: {effort}`, a template argument or a switch;
/// - `parallel_tool_calls` is refused; `tool_choice` knows no named tool, or says `any` for `required`;
/// - ids of tool calls are bounded, or of one form;
/// - `response_format` knows `json_object` only, or `strict` only for some models;
/// - reasoning goes back with the conversation, as `reasoning_content` or as `reasoning_details`;
/// - tool schemas may not hold some keywords.
///
/// The system prompt is a `system` message everywhere: OpenAI reads it as `developer` where that is meant.
///
/// ```
/// use omniassist_server::OpenAiChatProvider;
/// use omniassist_server::provider::openai::Vendor;
///
/// let provider =
///     OpenAiChatProvider::builder().vendor(Vendor::GROQ).api_key("gsk-…").model("openai/gpt-oss-20b").build()?;
/// assert_eq!(Vendor::named("groq"), Some(Vendor::GROQ));
/// assert_eq!(Vendor::of_base_url("https://api.groq.com/openai/v1"), Some(Vendor::GROQ));
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Vendor(&'static Row);

/// One server.
#[derive(PartialEq, Eq)]
struct Row {
    location: Location,
    /// Hosts that are this server's; one that begins with a dot stands for all below it.
    hosts: &'static [&'static str],
    /// The port that the server takes on one's own machine unless told otherwise.
    port: Option<u16>,
    quirks: Quirks,
}

/// The differences of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quirks {
    /// The name of the field that caps the answer.
    pub(super) max_tokens: &'static str,
    /// `true` if `stream_options` is known, which asks for token counts.
    pub(super) usage: bool,
    pub(super) effort: Effort,
    pub(super) parallel_calls: bool,
    /// The word for "call some tool".
    pub(super) required: &'static str,
    /// `true` if `tool_choice` may name a tool. Otherwise only that tool is offered and a call is required.
    pub(super) named_choice: bool,
    pub(super) ids: Ids,
    pub(super) format: Format,
    /// `true` if every model takes `strict: true` in a `json_schema` format.
    pub(super) strict: bool,
    pub(super) replay: Replay,
    pub(super) schema: Rules,
}

/// The form of the reasoning effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// `reasoning_effort`.
    Field,
    /// `reasoning: {effort}`.
    Object,
    /// `chat_template_kwargs: {reasoning_effort}`.
    TemplateArgument,
    /// A field that turns thinking on or off, and knows no degrees.
    Switch(&'static str),
}

/// The form of the ids of tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    Any,
    /// No longer than this.
    AtMost(usize),
    /// Exactly nine letters and digits.
    Nine,
}

/// The abilities of `response_format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    JsonSchema,
    /// JSON without a schema, which stands in the system prompt instead.
    JsonObject,
}

/// The reasoning that goes back with the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replay {
    Nothing,
    /// Its text, as `reasoning_content`.
    Text,
    /// The same, and the field is there in every turn with tool calls, empty if need be.
    TextWithCalls,
    /// `reasoning_details`, as they came: their signatures and encrypted data hold only so.
    Details,
}

/// The fields that most servers know.
pub(super) const PLAIN: Quirks = Quirks {
    max_tokens: "max_tokens",
    usage: true,
    effort: Effort::Field,
    parallel_calls: true,
    required: "required",
    named_choice: true,
    ids: Ids::Any,
    format: Format::JsonSchema,
    strict: true,
    replay: Replay::Nothing,
    schema: Rules::NONE,
};

impl Default for Quirks {
    fn default() -> Self {
        PLAIN
    }
}

/// The public name of a row, and the row.
macro_rules! vendors {
    ($($(#[$doc:meta])* $constant:ident = $name:literal {
        url: $url:literal, variable: $url_variable:literal, key: $key:literal
        $(, key_header: $key_header:expr)? $(, hosts: $hosts:expr)? $(, port: $port:literal)?
        $(, quirks: { $($field:ident: $value:expr),* $(,)? })? $(,)?
    })*) => {
        impl Vendor {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\n`", $url, "`, or `", $url_variable, "`; the key is in `", $key, "`.")]
                pub const $constant: Self = Self(&Row {
                    location: Location {
                        name: $name,
                        model: None,
                        base_url: $url,
                        base_url_variable: $url_variable,
                        key_variables: &[$key],
                        key_header: or!(KeyHeader::Bearer $(, $key_header)?),
                    },
                    hosts: or!(&[] $(, $hosts)?),
                    port: or!(None $(, Some($port))?),
                    quirks: Quirks { $($($field: $value,)*)? ..PLAIN },
                });
            )*

            /// All vendors.
            pub const ALL: &[Self] = &[$(Self::$constant),*];
        }
    };
}

/// The second, if it is there.
macro_rules! or {
    ($default:expr) => {
        $default
    };
    ($default:expr, $given:expr) => {
        $given
    };
}

vendors! {
    /// [OpenAI](https://platform.openai.com/docs/api-reference/chat/create). Newer models refuse `max_tokens`, ids of
    /// calls have at most 40 characters, and a tool schema no `anyOf` or its like at the top.
    OPENAI = "openai" {
        url: "https://api.openai.com/v1", variable: "OPENAI_BASE_URL", key: "OPENAI_API_KEY",
        hosts: &["api.openai.com"],
        quirks: { max_tokens: "max_completion_tokens", ids: Ids::AtMost(40), schema: Rules::FLAT_TOP },
    }
    /// [Azure OpenAI](https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle). The base URL is one's
    /// own, `https://NAME.openai.azure.com/openai/v1`, and the model the name of a deployment; the older API by dates
    /// is reached with [`api_version`](super::OpenAiChatProviderBuilder::api_version). The key goes as `api-key`; for a
    /// token of Entra ID set the header `authorization` instead.
    AZURE = "azure" {
        url: "", variable: "AZURE_OPENAI_BASE_URL", key: "AZURE_OPENAI_API_KEY",
        key_header: KeyHeader::Named("api-key"),
        hosts: &[".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"],
        quirks: { max_tokens: "max_completion_tokens", ids: Ids::AtMost(40), schema: Rules::FLAT_TOP },
    }
    /// [OpenRouter](https://openrouter.ai/docs/use-cases/reasoning-tokens): effort as `reasoning: {effort}`, and
    /// `reasoning_details` go back.
    OPENROUTER = "openrouter" {
        url: "https://openrouter.ai/api/v1", variable: "OPENROUTER_BASE_URL", key: "OPENROUTER_API_KEY",
        hosts: &["openrouter.ai"],
        quirks: { effort: Effort::Object, replay: Replay::Details },
    }
    /// [Mistral](https://docs.mistral.ai/api/endpoint/chat). Fields that it does not know are an error,
    /// `stream_options` among them (counts come anyway); ids of calls are nine letters and digits; `tool_choice: any`.
    MISTRAL = "mistral" {
        url: "https://api.mistral.ai/v1", variable: "MISTRAL_BASE_URL", key: "MISTRAL_API_KEY",
        hosts: &["api.mistral.ai"],
        quirks: { usage: false, required: "any", ids: Ids::Nine },
    }
    /// [Groq](https://console.groq.com/docs/openai). Only [some
    /// models](https://console.groq.com/docs/structured-outputs) take `strict` schemas.
    GROQ = "groq" {
        url: "https://api.groq.com/openai/v1", variable: "GROQ_BASE_URL", key: "GROQ_API_KEY",
        hosts: &["api.groq.com"],
        quirks: { max_tokens: "max_completion_tokens", strict: false },
    }
    /// [DeepSeek](https://api-docs.deepseek.com/api/create-chat-completion). No `json_schema`; while it thinks, turns
    /// with tool calls must [carry their reasoning](https://api-docs.deepseek.com/guides/thinking_mode).
    DEEPSEEK = "deepseek" {
        url: "https://api.deepseek.com", variable: "DEEPSEEK_BASE_URL", key: "DEEPSEEK_API_KEY",
        hosts: &["api.deepseek.com"],
        quirks: { parallel_calls: false, format: Format::JsonObject, replay: Replay::TextWithCalls },
    }
    /// [Moonshot](https://platform.moonshot.ai/docs/api/chat) (Kimi), which wants reasoning back as DeepSeek does.
    MOONSHOT = "moonshot" {
        url: "https://api.moonshot.ai/v1", variable: "MOONSHOT_BASE_URL", key: "MOONSHOT_API_KEY",
        hosts: &["api.moonshot.ai", "api.moonshot.cn"],
        quirks: { parallel_calls: false, replay: Replay::TextWithCalls },
    }
    /// [Alibaba's Model Studio](https://www.alibabacloud.com/help/en/model-studio/deep-thinking) (Qwen), where thinking
    /// is on or off.
    DASHSCOPE = "dashscope" {
        url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", variable: "DASHSCOPE_BASE_URL",
        key: "DASHSCOPE_API_KEY",
        hosts: &["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"],
        quirks: { effort: Effort::Switch("enable_thinking") },
    }
    /// [xAI](https://docs.x.ai/docs/api-reference#chat-completions).
    XAI = "xai" {
        url: "https://api.x.ai/v1", variable: "XAI_BASE_URL", key: "XAI_API_KEY",
        hosts: &["api.x.ai"],
        quirks: { max_tokens: "max_completion_tokens" },
    }
    /// [Together](https://docs.together.ai/reference/chat-completions-1).
    TOGETHER = "together" {
        url: "https://api.together.xyz/v1", variable: "TOGETHER_BASE_URL", key: "TOGETHER_API_KEY",
        hosts: &["api.together.xyz", "api.together.ai"],
        quirks: { strict: false },
    }
    /// [Fireworks](https://docs.fireworks.ai/guides/reasoning), which takes reasoning back.
    FIREWORKS = "fireworks" {
        url: "https://api.fireworks.ai/inference/v1", variable: "FIREWORKS_BASE_URL", key: "FIREWORKS_API_KEY",
        hosts: &["api.fireworks.ai"],
        quirks: { replay: Replay::Text },
    }
    /// [Cerebras](https://inference-docs.cerebras.ai/resources/openai), which refuses `parallel_tool_calls`.
    CEREBRAS = "cerebras" {
        url: "https://api.cerebras.ai/v1", variable: "CEREBRAS_BASE_URL", key: "CEREBRAS_API_KEY",
        hosts: &["api.cerebras.ai"],
        quirks: { max_tokens: "max_completion_tokens", parallel_calls: false },
    }
    /// [Perplexity](https://docs.perplexity.ai/docs/sonar/openai-compatibility). What it found comes as sources.
    PERPLEXITY = "perplexity" {
        url: "https://api.perplexity.ai", variable: "PERPLEXITY_BASE_URL", key: "PERPLEXITY_API_KEY",
        hosts: &["api.perplexity.ai"],
        quirks: { parallel_calls: false, strict: false },
    }
    /// [GitHub Models](https://docs.github.com/rest/models/inference).
    GITHUB_MODELS = "github-models" {
        url: "https://models.github.ai/inference", variable: "GITHUB_MODELS_BASE_URL", key: "GITHUB_TOKEN",
        hosts: &["models.github.ai", "models.inference.ai.azure.com"],
        quirks: { ids: Ids::AtMost(40), schema: Rules::FLAT_TOP },
    }
    /// [GitHub Copilot](https://docs.github.com/copilot). It also wants headers that name the editor, which the host
    /// sets with [`header`](super::OpenAiChatProviderBuilder::header).
    GITHUB_COPILOT = "github-copilot" {
        url: "https://api.githubcopilot.com", variable: "GITHUB_COPILOT_BASE_URL", key: "GITHUB_COPILOT_TOKEN",
        hosts: &["api.githubcopilot.com", ".githubcopilot.com"],
        quirks: { ids: Ids::AtMost(40), schema: Rules::FLAT_TOP },
    }
    /// [Ollama](https://docs.ollama.com/api/openai-compatibility). It reads neither `parallel_tool_calls` nor a named
    /// choice, and its templates do not follow references in schemas.
    OLLAMA = "ollama" {
        url: "http://127.0.0.1:11434/v1", variable: "OLLAMA_BASE_URL", key: "OLLAMA_API_KEY",
        hosts: &["ollama.com"], port: 11434,
        quirks: { parallel_calls: false, named_choice: false, schema: Rules::INLINE },
    }
    /// [LM Studio](https://lmstudio.ai/docs/developer/openai-compat/tools).
    /// [`tool_choice` is a word](https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670), and schemas become
    /// grammars as in llama.cpp.
    LM_STUDIO = "lm-studio" {
        url: "http://127.0.0.1:1234/v1", variable: "LM_STUDIO_BASE_URL", key: "LM_STUDIO_API_KEY",
        port: 1234,
        quirks: { parallel_calls: false, named_choice: false, schema: Rules::GRAMMAR },
    }
    /// [llama.cpp](https://github.com/ggml-org/llama.cpp/tree/master/tools/server). `tool_choice` is a word, effort a
    /// template argument, and schemas become grammars, which know
    /// [few patterns](https://github.com/ggml-org/llama.cpp/issues/26930). For a model whose template ignores `tools`
    /// see [`constrained_tools`](super::OpenAiChatProviderBuilder::constrained_tools).
    LLAMA_CPP = "llama.cpp" {
        url: "http://127.0.0.1:8080/v1", variable: "LLAMA_CPP_BASE_URL", key: "LLAMA_API_KEY",
        port: 8080,
        quirks: { effort: Effort::TemplateArgument, named_choice: false, schema: Rules::GRAMMAR },
    }
    /// [vLLM](https://docs.vllm.ai/en/stable/serving/openai_compatible_server/).
    VLLM = "vllm" {
        url: "http://127.0.0.1:8000/v1", variable: "VLLM_BASE_URL", key: "VLLM_API_KEY",
        port: 8000,
    }
}

impl Vendor {
    /// Returns the vendor of this name: `groq`, `llama.cpp`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|vendor| vendor.name() == name)
    }

    /// Returns the vendor whose API is at this address: by its host or, on one's own machine, by the port it usually
    /// takes.
    #[must_use]
    pub fn of_base_url(url: &str) -> Option<Self> {
        let uri: Uri = url.trim().parse().ok()?;
        let host = uri.host()?.to_ascii_lowercase();
        let port = uri.port_u16().filter(|_| is_loopback(&host));
        Self::ALL.iter().copied().find(|vendor| {
            let known = |known: &&str| host == **known || (known.starts_with('.') && host.ends_with(*known));
            vendor.0.hosts.iter().any(known) || (port.is_some() && vendor.0.port == port)
        })
    }

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.location.name
    }

    pub(super) fn location(self) -> &'static Location {
        &self.0.location
    }

    /// The model that is asked where none is named. A vendor has none whose models come and go or are the user's own.
    pub(super) fn default_model(self, base_url: &str) -> Option<Text> {
        if self == Self::OPENAI {
            return Some(Text::from_static(DEFAULT_CHAT_MODEL));
        }
        // Azure's deployment is the model, and the URL may name it.
        let (_, deployment) = base_url.split_once("/deployments/").filter(|_| self == Self::AZURE)?;
        deployment.split('/').next().filter(|name| !name.is_empty()).map(Text::from)
    }

    pub(super) fn quirks(self) -> Quirks {
        self.0.quirks
    }
}

impl fmt::Debug for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Vendor").field(&self.name()).finish()
    }
}
