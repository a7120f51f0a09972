use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use omniassist_core::Text;

use super::AgentLoader;
use crate::provider::LlmProvider;
use crate::tool::Tool;

/// The time for which a configuration counts as current by default.
const TTL: Duration = Duration::from_secs(30);

/// Agents that are configured as data, and what their configurations may name.
///
/// A configuration can only name the tools, providers and placeholders that are added here. The tools of the assistant are
/// not among them.
///
/// ```
/// use omniassist_server::agent_config::{AgentCatalog, AgentFuture, AgentLoader};
/// use omniassist_server::testing::ScriptedProvider;
/// use omniassist_server::tool::{Tool, ToolError};
/// use omniassist_server::Assistant;
/// # use omniassist_server::agent_config::{AgentConfig, AgentSummary};
/// # use omniassist_server::Principal;
/// # struct OwnAgents;
/// # impl AgentLoader for OwnAgents {
/// #     fn load<'a>(&'a self, _: &'a str, _: &'a Principal) -> AgentFuture<'a, Option<AgentConfig>> {
/// #         Box::pin(async { Ok(None) })
/// #     }
/// #     fn list<'a>(&'a self, _: &'a Principal) -> AgentFuture<'a, Vec<AgentSummary>> { Box::pin(async { Ok(vec![]) }) }
/// # }
/// # let (model, large) = (ScriptedProvider::new(), ScriptedProvider::new());
///
/// let discount = Tool::new("discount", "Returns the current discount", async || Ok::<_, ToolError>("10 %"));
/// let catalog = AgentCatalog::new(OwnAgents) // or `FileAgents::new("agents/")`
///     .tool(discount)
///     .provider("large", large)
///     .placeholder("shop", "Lamps Ltd.");
/// let assistant = Assistant::builder(model).agents(catalog).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[must_use = "a catalog does nothing until it is given to a builder"]
pub struct AgentCatalog {
    pub(crate) loader: Arc<dyn AgentLoader>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) providers: BTreeMap<Text, Arc<dyn LlmProvider>>,
    pub(crate) placeholders: BTreeMap<Text, Text>,
    pub(crate) ttl: Duration,
}

impl AgentCatalog {
    /// Creates a catalog of the agents of a loader.
    pub fn new(loader: impl AgentLoader) -> Self {
        Self {
            loader: Arc::new(loader),
            tools: Vec::new(),
            providers: BTreeMap::new(),
            placeholders: BTreeMap::new(),
            ttl: TTL,
        }
    }

    /// Adds a tool that configurations can name. Its conditions, approvals and limits hold in each agent that has it.
    /// Default: none.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds tools that configurations can name, such as [`BrowserTools::all`](crate::tool::BrowserTools::all). Default: none.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a provider that configurations can name. A second one of the same name replaces the first. Default: none; an
    /// agent without a provider has that of the assistant.
    pub fn provider(mut self, name: impl Into<Text>, provider: impl LlmProvider) -> Self {
        self.providers.insert(name.into(), Arc::new(provider));
        self
    }

    /// Sets the text of `{{name}}` in prompts. A second one of the same name replaces the first. Default: none; a prompt
    /// with another placeholder is an error.
    pub fn placeholder(mut self, name: impl Into<Text>, text: impl Into<Text>) -> Self {
        self.placeholders.insert(name.into(), text.into());
        self
    }

    /// Sets the time for which an agent is used before it is loaded again. A change, and the loss of a right to use an
    /// agent, take effect after it. With zero, each request loads its agent. Default: 30 s.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }
}

impl<L: AgentLoader> From<L> for AgentCatalog {
    fn from(loader: L) -> Self {
        Self::new(loader)
    }
}

impl fmt::Debug for AgentCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentCatalog")
            .field("tools", &self.tools)
            .field("providers", &self.providers.keys())
            .field("placeholders", &self.placeholders)
            .field("ttl", &self.ttl)
            .finish_non_exhaustive()
    }
}
