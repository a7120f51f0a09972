//! The servers that offer Chat Completions, and the differences of each: one row per server.

use std::fmt;

use http::Uri;
use omniassist_core::Text;

use super::super::ids::Ids;
use super::schema::Rules;
use crate::provider::settings::{KeyHeader, Location};
use crate::transport::is_loopback;

/// The default model of [`OpenAiChatProvider`](super::OpenAiChatProvider) for OpenAI and for servers of no known
/// [`Vendor`]. It is a model without reasoning, since this API cannot send reasoning back.
pub const DEFAULT_CHAT_MODEL: &str = "gpt-4.1-mini";

/// A server with its own variant of Chat Completions.
///
/// A vendor is one row of a table: the address of its API, the environment variable of its key, and the differences
/// between its requests and OpenAI's. The decoder accepts the variants of all vendors. Requests to a server outside the
/// table contain the fields that most servers accept. The [builder](super::OpenAiChatProviderBuilder) has a setter for
/// each difference.
///
/// A row can state these differences:
///
/// - the limit of an answer is `max_completion_tokens` or `max_tokens`;
/// - `stream_options` is refused;
/// - the reasoning effort is `reasoning_effort`, `reasoning: {effort}`, a template argument or a switch;
/// - `parallel_tool_calls` is refused; `tool_choice` accepts no tool's name, or uses `any` for `required`;
/// - ids of tool calls have a maximum length or a fixed form;
/// - a message of the user may not follow the result of a tool, so a short answer is put between them;
/// - `response_format` accepts `json_object` only, `strict` for some models only, or nothing beside tools or in a stream;
/// - reasoning is sent back with the conversation, as `reasoning_content` or as `reasoning_details`;
/// - tool schemas may not contain some keywords.
///
/// The system prompt is always a `system` message. OpenAI converts it to a `developer` message for models that need
/// one.
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
    /// The hosts of this server. A leading dot matches all subdomains.
    hosts: &'static [&'static str],
    /// The server's default port on the local machine.
    port: Option<u16>,
    quirks: Quirks,
}

/// The differences between its requests and OpenAI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quirks {
    /// The name of the field that limits the answer.
    pub(super) max_tokens: &'static str,
    /// `true` if the server accepts `stream_options`, which requests token counts.
    pub(super) usage: bool,
    pub(super) effort: Effort,
    pub(super) parallel_calls: bool,
    /// The value of `tool_choice` that requires a call of any tool.
    pub(super) required: &'static str,
    /// `true` if `tool_choice` may name a tool. Otherwise the request offers only that tool and requires a call.
    pub(super) named_choice: bool,
    pub(super) ids: Ids,
    /// `true` if a message of the user may follow the result of a tool.
    pub(super) user_after_result: bool,
    pub(super) format: Format,
    /// `true` if every model accepts `strict: true` in a `json_schema` format.
    pub(super) strict: bool,
    pub(super) replay: Replay,
    /// `true` if calls are sent back with the metadata that a server required (Gemini's signatures).
    pub(super) extra_content: bool,
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
    /// A field that turns thinking on or off, without degrees.
    Switch(&'static str),
}

/// The output formats that `response_format` accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    JsonSchema,
    /// The same, but not in a request with tools. The system prompt of such a request contains the schema instead.
    JsonSchemaWithoutTools,
    /// JSON without a schema. The system prompt contains the schema instead.
    JsonObject,
    /// None. The system prompt contains the schema instead.
    Nothing,
}

/// The reasoning that is sent back with the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replay {
    Nothing,
    /// The text of the reasoning, as `reasoning_content`.
    Text,
    /// The same, but every turn with tool calls has the field, possibly empty.
    TextWithCalls,
    /// The same, but in a request with tools or calls every turn has the field, possibly empty.
    TextWithTools,
    /// `reasoning_details`, unchanged: their signatures and encrypted data are otherwise invalid.
    Details,
}

/// The fields that most servers accept.
pub(super) const PLAIN: Quirks = Quirks {
    max_tokens: "max_tokens",
    usage: true,
    effort: Effort::Field,
    parallel_calls: true,
    required: "required",
    named_choice: true,
    ids: Ids::Any,
    user_after_result: true,
    format: Format::JsonSchema,
    strict: true,
    replay: Replay::Nothing,
    extra_content: true,
    schema: Rules::NONE,
};

impl Default for Quirks {
    fn default() -> Self {
        PLAIN
    }
}

/// The constant of a row, and the row.
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

/// Returns the second value if it is present.
macro_rules! or {
    ($default:expr) => {
        $default
    };
    ($default:expr, $given:expr) => {
        $given
    };
}

vendors! {
    /// [OpenAI](https://platform.openai.com/docs/api-reference/chat/create). Newer models refuse `max_tokens`. Ids of
    /// calls have at most 40 characters. A tool schema has no `anyOf` or similar keyword at the top.
    OPENAI = "openai" {
        url: "https://api.openai.com/v1", variable: "OPENAI_BASE_URL", key: "OPENAI_API_KEY",
        hosts: &["api.openai.com"],
        quirks: { max_tokens: "max_completion_tokens", ids: Ids::AtMost(40), schema: Rules::FLAT_TOP },
    }
    /// [Azure OpenAI](https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle). The base URL is that
    /// of the resource, `https://NAME.openai.azure.com/openai/v1`, and the model is the name of a deployment. For the
    /// older, dated API set [`api_version`](super::OpenAiChatProviderBuilder::api_version). The key is sent as
    /// `api-key`; for a token of Entra ID set the header `authorization` instead.
    AZURE = "azure" {
        url: "", variable: "AZURE_OPENAI_BASE_URL", key: "AZURE_OPENAI_API_KEY",
        key_header: KeyHeader::Named("api-key"),
        hosts: &[".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"],
        quirks: { max_tokens: "max_completion_tokens", ids: Ids::AtMost(40), schema: Rules::FLAT_TOP },
    }
    /// [OpenRouter](https://openrouter.ai/docs/use-cases/reasoning-tokens). The effort is `reasoning: {effort}`, and
    /// `reasoning_details` are sent back.
    OPENROUTER = "openrouter" {
        url: "https://openrouter.ai/api/v1", variable: "OPENROUTER_BASE_URL", key: "OPENROUTER_API_KEY",
        hosts: &["openrouter.ai"],
        quirks: { effort: Effort::Object, replay: Replay::Details },
    }
    /// [Mistral](https://docs.mistral.ai/api/endpoint/chat). Unknown fields are an error, including `stream_options`;
    /// token counts are always sent. Ids of calls are nine letters and digits. The choice `required` is `any`. A message
    /// of the user may not follow the result of a tool directly.
    MISTRAL = "mistral" {
        url: "https://api.mistral.ai/v1", variable: "MISTRAL_BASE_URL", key: "MISTRAL_API_KEY",
        hosts: &["api.mistral.ai"],
        quirks: { usage: false, required: "any", ids: Ids::Nine, user_after_result: false },
    }
    /// [Groq](https://console.groq.com/docs/openai). It refuses [the schema of an
    /// answer](https://console.groq.com/docs/structured-outputs) in requests with tools and in streams.
    GROQ = "groq" {
        url: "https://api.groq.com/openai/v1", variable: "GROQ_BASE_URL", key: "GROQ_API_KEY",
        hosts: &["api.groq.com"],
        quirks: { max_tokens: "max_completion_tokens", format: Format::Nothing },
    }
    /// [DeepSeek](https://api-docs.deepseek.com/api/create-chat-completion). It has no `json_schema`. In thinking mode,
    /// the turns of a conversation with tools must [contain their
    /// reasoning](https://api-docs.deepseek.com/guides/thinking_mode), also those without a call.
    DEEPSEEK = "deepseek" {
        url: "https://api.deepseek.com", variable: "DEEPSEEK_BASE_URL", key: "DEEPSEEK_API_KEY",
        hosts: &["api.deepseek.com"],
        quirks: { parallel_calls: false, format: Format::JsonObject, replay: Replay::TextWithTools },
    }
    /// [Moonshot](https://platform.moonshot.ai/docs/api/chat) (Kimi). It requires the reasoning of turns with
    /// tool calls to be sent back.
    MOONSHOT = "moonshot" {
        url: "https://api.moonshot.ai/v1", variable: "MOONSHOT_BASE_URL", key: "MOONSHOT_API_KEY",
        hosts: &["api.moonshot.ai", "api.moonshot.cn"],
        quirks: { parallel_calls: false, replay: Replay::TextWithCalls },
    }
    /// [Alibaba's Model Studio](https://www.alibabacloud.com/help/en/model-studio/deep-thinking) (Qwen). Thinking is on
    /// or off.
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
    /// [Fireworks](https://docs.fireworks.ai/guides/reasoning). It accepts reasoning that is sent back.
    FIREWORKS = "fireworks" {
        url: "https://api.fireworks.ai/inference/v1", variable: "FIREWORKS_BASE_URL", key: "FIREWORKS_API_KEY",
        hosts: &["api.fireworks.ai"],
        quirks: { replay: Replay::Text },
    }
    /// [Cerebras](https://inference-docs.cerebras.ai/resources/openai). It refuses `parallel_tool_calls`,
    /// and the schema of an answer in requests with tools.
    CEREBRAS = "cerebras" {
        url: "https://api.cerebras.ai/v1", variable: "CEREBRAS_BASE_URL", key: "CEREBRAS_API_KEY",
        hosts: &["api.cerebras.ai"],
        quirks: {
            max_tokens: "max_completion_tokens", parallel_calls: false, format: Format::JsonSchemaWithoutTools,
        },
    }
    /// [Perplexity](https://docs.perplexity.ai/docs/sonar/openai-compatibility). Its search results become sources.
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
    /// [GitHub Copilot](https://docs.github.com/copilot). It also requires headers that name the editor; set them with
    /// [`header`](super::OpenAiChatProviderBuilder::header).
    GITHUB_COPILOT = "github-copilot" {
        url: "https://api.githubcopilot.com", variable: "GITHUB_COPILOT_BASE_URL", key: "GITHUB_COPILOT_TOKEN",
        hosts: &["api.githubcopilot.com", ".githubcopilot.com"],
        quirks: { ids: Ids::AtMost(40), schema: Rules::FLAT_TOP },
    }
    /// [Ollama](https://docs.ollama.com/api/openai-compatibility). It ignores `parallel_tool_calls` and a tool's name
    /// in `tool_choice`, and its templates do not follow references in schemas.
    OLLAMA = "ollama" {
        url: "http://127.0.0.1:11434/v1", variable: "OLLAMA_BASE_URL", key: "OLLAMA_API_KEY",
        hosts: &["ollama.com"], port: 11434,
        quirks: { parallel_calls: false, named_choice: false, schema: Rules::INLINE },
    }
    /// [LM Studio](https://lmstudio.ai/docs/developer/openai-compat/tools). [`tool_choice` accepts a string
    /// only](https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670), and schemas become grammars as in
    /// llama.cpp.
    LM_STUDIO = "lm-studio" {
        url: "http://127.0.0.1:1234/v1", variable: "LM_STUDIO_BASE_URL", key: "LM_STUDIO_API_KEY",
        port: 1234,
        quirks: { parallel_calls: false, named_choice: false, schema: Rules::GRAMMAR },
    }
    /// [llama.cpp](https://github.com/ggml-org/llama.cpp/tree/master/tools/server). `tool_choice` accepts a string
    /// only, and the effort is a template argument. Schemas become grammars, which support [few
    /// patterns](https://github.com/ggml-org/llama.cpp/issues/26930). For a model whose template ignores `tools` see
    /// [`constrained_tools`](super::OpenAiChatProviderBuilder::constrained_tools).
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
    /// Returns the vendor with this name, such as `groq` or `llama.cpp`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|vendor| vendor.name() == name)
    }

    /// Returns the vendor of a base URL: by its host or, on the local machine, by its default port.
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

    /// The default model. A vendor whose models change often, or are the user's own, has none.
    pub(super) fn default_model(self, base_url: &str) -> Option<Text> {
        if self == Self::OPENAI {
            return Some(Text::from_static(DEFAULT_CHAT_MODEL));
        }
        // Azure's deployment is the model, and the URL may contain it.
        let (_, deployment) = base_url.split_once("/deployments/").filter(|_| self == Self::AZURE)?;
        deployment.split('/').next().filter(|name| !name.is_empty()).map(Text::from)
    }

    /// Returns the differences. No vendor but a local one, which may be a gateway, requires metadata of calls, and some
    /// refuse it.
    pub(super) fn quirks(self) -> Quirks {
        Quirks { extra_content: self.0.port.is_some(), ..self.0.quirks }
    }
}

impl fmt::Debug for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Vendor").field(&self.name()).finish()
    }
}
