use std::future::Future;
use std::pin::Pin;

use omniassist_core::Text;

use super::{AgentConfig, AgentConfigError};
use crate::{BoxError, Principal};

/// The future of an [`AgentLoader`]. Dropping it stops the work where it awaits.
pub type AgentFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send + 'a>>;

/// A source of agents that are configured as data: a table, a service, or the files of a folder
/// (`FileAgents`, with the feature `agent-files`).
///
/// ```
/// use omniassist_server::agent_config::{AgentConfig, AgentFuture, AgentLoader, AgentSummary};
/// use omniassist_server::Principal;
/// # #[derive(Clone)]
/// # struct Pool;
/// # impl Pool {
/// #     async fn agent(&self, _id: &str, _owner: &str) -> std::io::Result<Option<String>> { Ok(None) }
/// # }
///
/// /// Agents that users have made for themselves, as JSON in a column.
/// struct OwnAgents(Pool);
///
/// impl AgentLoader for OwnAgents {
///     fn load<'a>(&'a self, id: &'a str, principal: &'a Principal) -> AgentFuture<'a, Option<AgentConfig>> {
///         Box::pin(async move {
///             // select config from agent where id = $1 and owner = $2
///             let json = self.0.agent(id, principal.id()).await?;
///             Ok(json.as_deref().map(AgentConfig::from_json).transpose()?)
///         })
///     }
///
///     fn list<'a>(&'a self, _principal: &'a Principal) -> AgentFuture<'a, Vec<AgentSummary>> {
///         // select id, description from agent where owner = $1
///         Box::pin(async move { Ok(Vec::new()) })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not load agents",
    label = "not a loader of agents",
    note = "implement `AgentLoader` with `load` and `list`, or use `FileAgents::new(\"agents/\")`"
)]
pub trait AgentLoader: Send + Sync + 'static {
    /// Loads the configuration of an agent, for this user. `None` if there is no such agent, or the user may not use it:
    /// clients cannot tell these apart.
    ///
    /// The id is 1 to 64 of `[A-Za-z0-9_-]`; no other one is asked for. A call is dropped after 5 s.
    ///
    /// # Errors
    ///
    /// Returns an error if the configuration cannot be read. The last good one is used then, if there is one. Clients get 503
    /// otherwise: `agent_invalid` for an [`AgentConfigError`], also as a source, and `agents_unavailable` for others.
    fn load<'a>(&'a self, id: &'a str, principal: &'a Principal) -> AgentFuture<'a, Option<AgentConfig>>;

    /// Returns the agents that the user may use, for lists such as `GET /agents`. Leave out internal ones.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no list now. The last good one is used then; without one, lists have the agents of code
    /// only.
    fn list<'a>(&'a self, principal: &'a Principal) -> AgentFuture<'a, Vec<AgentSummary>>;

    /// Returns `true` if the agents depend on the user. With `false`, what was loaded for one user is used for all others, and
    /// lists leave out agents that cannot be used. Default: `true`.
    fn is_per_principal(&self) -> bool {
        true
    }

    /// Returns the configurations that can be read without waiting for a future, or their errors. They are checked when the
    /// assistant is [built](crate::AssistantBuilder::build), and errors are logged. Default: none.
    fn at_build(&self) -> Vec<Result<AgentConfig, AgentConfigError>> {
        Vec::new()
    }
}

/// An agent in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSummary {
    pub(crate) id: Text,
    pub(crate) name: Option<Text>,
    pub(crate) description: Text,
}

impl AgentSummary {
    /// Creates the entry of an agent.
    #[must_use]
    pub fn new(id: impl Into<Text>, description: impl Into<Text>) -> Self {
        Self { id: id.into(), name: None, description: description.into() }
    }

    /// Sets the title for people. Default: none.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Text>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Returns the entry of a configuration.
    ///
    /// # Errors
    ///
    /// Returns an error if the configuration describes no agent.
    pub fn of(config: &AgentConfig) -> Result<Self, AgentConfigError> {
        let agents = config.blueprints().map_err(|error| config.name_in(error))?;
        let description = agents.into_iter().next().map(|agent| agent.description).unwrap_or_default();
        Ok(Self { id: config.id().into(), name: config.name().map(Text::from), description })
    }
}
