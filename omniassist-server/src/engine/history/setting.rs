use std::fmt;
use std::sync::Arc;

use omniassist_core::history::{Window, estimate_text};
use omniassist_core::message::Part;
use omniassist_core::{Message, ToolChoice};

use super::carried::Carried;
use super::summaries::Summaries;
use super::window_summary::Viewed;
use crate::provider::LlmProvider;
use crate::tool::ToolSnapshot;

/// The part of a long conversation that is sent to the model: the newest exchanges that fit a budget of tokens.
///
/// The last user message and all after it are always sent, even if they alone are over the budget. Before them, a user
/// message is sent with everything that follows it up to the next one, or not at all. What clients and
/// [`on_finish`](crate::AssistantBuilder::on_finish) get is not changed, and tools read all
/// [messages](crate::RunContext::messages).
///
/// The budget counts the whole input of a model call: system prompt, tools, context and messages. Leave room for the
/// answer. Tokens are estimated from bytes, and corrected by the last report of the provider; see
/// [`core::history`](omniassist_core::history). The window moves in strides, so that the provider's prompt cache holds for
/// several turns.
///
/// OpenAI and Anthropic can compact a long conversation themselves, at a number of tokens that
/// `OpenAiProvider::builder().compaction(…)` or `AnthropicProvider::builder().compaction(…)` sets. The window then begins
/// with the newest compaction, which is always sent. Choose a larger number for the window: it applies to the messages
/// after the compaction, and to the whole conversation of a client that lost it.
///
/// A clone shares its summaries. Build a `History` once, also one for [`RunPlan::history`](crate::RunPlan::history).
///
/// ```
/// use omniassist_server::core::{Message, RunRequest};
/// use omniassist_server::testing::{ScriptedProvider, text};
/// use omniassist_server::{Assistant, History};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedProvider::new().turn(text("On Thursday."));
/// let pinned = |message: &Message| message.metadata.as_ref().is_some_and(|data| data["pinned"] == true);
/// let assistant = Assistant::builder(model.clone()).history(History::fit(1_000).pin(pinned)).build()?;
///
/// let old = (0..500).map(|at| Message::user(format!("m{at}"), "Where is my order?"));
/// let messages = old.chain([Message::user("last", "When will it arrive?")]).collect();
/// assistant.run(RunRequest::new(messages)).text().await?;
/// assert!(model.payloads()[0].transcript.len() < 150);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct History {
    window: Window,
    summaries: Option<Arc<Summaries>>,
}

impl History {
    /// Creates a setting that sends at most this many tokens to the model.
    pub fn fit(tokens: u64) -> Self {
        Self { window: Window::fit(tokens), summaries: None }
    }

    /// Sets which messages are sent wherever they are in the conversation. The newest of them are sent, up to half of the
    /// budget. Default: none.
    ///
    /// Clients write the metadata of messages, so a function that reads it lets clients choose.
    pub fn pin(mut self, pin: impl Fn(&Message) -> bool + Send + Sync + 'static) -> Self {
        self.window = self.window.pin(pin);
        self
    }

    /// Summarises the omitted messages with this provider's model, usually a small and cheap one. Default: no summary.
    ///
    /// The summary is made before the first model call of a run, once for each move of the window, and is continued with
    /// what left the window since. It takes up to an eighth of the budget, and a call may write four times that. Beside
    /// it, up to a sixteenth of the budget is for short statements of the user, word for word
    /// ([`statements`](omniassist_core::history::statements)): a small model often loses a name or a number. The model
    /// reads both before the messages, delimited and declared as data. The tokens of the summary count in the usage, cost
    /// and [token budget](crate::AssistantBuilder::token_budget) of the run, and it has a `chat` span.
    ///
    /// Summaries are found again by a digest of the messages that they cover: among the last 256 in memory, or in the
    /// metadata of an answer that the client posts, where a [seal](crate::seal) proves them. A forged or altered one is
    /// ignored. Clients of AG-UI and of the OpenAI endpoint carry none.
    ///
    /// If the summariser fails or takes longer than 30 s, the run uses the last existing summary, or the statements
    /// alone, and the failure is logged. A conversation that was never summarised takes up to 8 calls in one run, the
    /// oldest messages first; later runs continue from there.
    pub fn summarise(mut self, provider: impl LlmProvider) -> Self {
        let tokens = (self.window.budget() / 8).clamp(64, 1_024);
        self.window = self.window.reserve(tokens + tokens / 2);
        self.summaries = Some(Arc::new(Summaries::new(provider, tokens)));
        self
    }
}

/// The values of a run that its window needs, beside the conversation.
pub(in crate::engine) struct WindowInput {
    pub(in crate::engine) tools: ToolSnapshot,
    pub(in crate::engine) carried: Carried,
}

impl History {
    /// Chooses the part of a conversation that is sent to the model. `texts` are the other texts of the request.
    pub(in crate::engine) async fn view(
        &self,
        messages: &[Message],
        texts: [Option<&str>; 2],
        posted: WindowInput,
        provider: &dyn LlmProvider,
    ) -> Viewed {
        let texts: u64 = texts.into_iter().flatten().map(estimate_text).sum();
        let fixed = texts + tool_tokens(&posted.tools, messages);
        let rate = posted.carried.rate.unwrap_or_default();
        let compacted = messages.iter().rposition(|message| is_compacted(message, provider));
        let view = match compacted {
            Some(at) => self.window.view_compacted(messages, at, fixed, rate),
            None => self.window.view(messages, fixed, rate),
        };
        match &self.summaries {
            Some(summaries) if !view.cuts().is_empty() => {
                summaries.add_to(view, messages, posted.carried.summary.as_ref()).await
            }
            _ => Viewed { view, summary: None },
        }
    }
}

/// Returns `true` if a message contains a compaction that the provider accepts.
fn is_compacted(message: &Message, provider: &dyn LlmProvider) -> bool {
    message.parts.iter().any(|part| match part {
        Part::Reasoning(part) => part.metadata.as_ref().is_some_and(|state| provider.has_compacted(state)),
        _ => false,
    })
}

/// Estimates the tokens of the tools that the first model call is offered.
fn tool_tokens(tools: &ToolSnapshot, messages: &[Message]) -> u64 {
    let tokens = |text: &str| estimate_text(text);
    let specs = tools.offered(tools.loaded_by(messages).as_ref(), &ToolChoice::Auto);
    let one = specs
        .iter()
        .map(|spec| tokens(&spec.name) + tokens(&spec.description) + tokens(&spec.input_schema.to_string()));
    one.sum()
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("History");
        shown.field("tokens", &self.window.budget()).field("summarises", &self.summaries.is_some());
        shown.finish_non_exhaustive()
    }
}
