//! Prompts of the host for clients of MCP.

mod message;
mod offered;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use omniassist_server::RunContext;
use omniassist_server::tool::ToolError;

pub use message::PromptMessage;
pub(super) use offered::Prompts;

use super::completion::{Completers, CompletionRequest};
use super::visibility::Visibility;

type GetFuture = Pin<Box<dyn Future<Output = Result<Vec<PromptMessage>, ToolError>> + Send>>;

/// Messages that the user of a client of MCP can begin a conversation with. Give it to
/// [`Expose::prompt`](super::Expose::prompt).
///
/// ```
/// use omniassist_mcp::{Expose, Prompt, PromptMessage};
///
/// let review = Prompt::new("review", "Reviews a contract", async |request| {
///     let tone = request.argument("tone").unwrap_or("friendly");
///     let customer = request.argument("customer").unwrap_or_default();
///     Ok(vec![PromptMessage::user(format!("Review the contract of {customer}. Be {tone}."))])
/// });
/// let review = review
///     .required_argument("customer", "The name of the customer")
///     .argument("tone", "How to write")
///     .complete("tone", async |_| Ok(vec!["friendly".to_owned(), "formal".to_owned()]));
/// let expose = Expose::tools().prompt(review);
/// ```
#[derive(Clone)]
#[must_use = "a prompt does nothing until it is exposed"]
pub struct Prompt {
    name: String,
    title: Option<String>,
    description: String,
    arguments: Vec<Argument>,
    visibility: Visibility,
    completers: Completers,
    get: Arc<dyn Fn(PromptRequest) -> GetFuture + Send + Sync>,
}

#[derive(Clone)]
struct Argument {
    name: String,
    description: String,
    is_required: bool,
}

/// The request for a prompt.
#[derive(Debug, Clone)]
pub struct PromptRequest {
    arguments: BTreeMap<String, String>,
    caller: RunContext,
}

impl Prompt {
    /// Creates a prompt. `get` returns its messages.
    ///
    /// A failure is sent with the [text](ToolError::text) of its error. A client waits at most 60 s.
    pub fn new<F, C>(name: impl Into<String>, description: impl Into<String>, get: F) -> Self
    where
        F: Fn(PromptRequest) -> C + Send + Sync + 'static,
        C: Future<Output = Result<Vec<PromptMessage>, ToolError>> + Send + 'static,
    {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            arguments: Vec::new(),
            visibility: Visibility::default(),
            completers: Completers::default(),
            get: Arc::new(move |request| Box::pin(get(request))),
        }
    }

    /// Sets the title that people read. Default: none.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds an argument that may be missing. Default: a prompt has none. Others that a client sends are ignored.
    pub fn argument(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.with(name.into(), description.into(), false)
    }

    /// Adds an argument that must be there. Default: a prompt has none.
    ///
    /// If it is missing, the user of a client that takes forms is asked for it. To other clients, this is an error.
    pub fn required_argument(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.with(name.into(), description.into(), true)
    }

    fn with(mut self, name: String, description: String, is_required: bool) -> Self {
        self.arguments.push(Argument { name, description, is_required });
        self
    }

    /// Sets the callers that see the prompt. Default: all. To others, it does not exist.
    pub fn visible_to(mut self, condition: impl Fn(&RunContext) -> bool + Send + Sync + 'static) -> Self {
        self.visibility = Visibility::new(condition);
        self
    }

    /// Sets the values that a client can offer for an argument. Default: none.
    pub fn complete<F, C>(mut self, argument: impl Into<String>, values: F) -> Self
    where
        F: Fn(CompletionRequest) -> C + Send + Sync + 'static,
        C: Future<Output = Result<Vec<String>, ToolError>> + Send + 'static,
    {
        self.completers.insert(argument.into(), values);
        self
    }
}

impl PromptRequest {
    /// Returns an argument.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).map(String::as_str)
    }

    /// Returns the caller: its principal and the extensions of its request. There is no conversation.
    #[must_use]
    pub fn caller(&self) -> &RunContext {
        &self.caller
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("name", &self.name).finish_non_exhaustive()
    }
}
