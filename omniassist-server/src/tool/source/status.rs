use omniassist_core::Text;

/// A source of tools, as operators see it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SourceStatus {
    /// The name of the source.
    pub name: Text,
    /// The state of its connection.
    pub state: SourceState,
    /// The names of the tools that it offers, with the prefix.
    pub tools: Vec<Text>,
    /// The tools that are not offered, with the reasons.
    pub withheld: Vec<WithheldTool>,
}

/// The state of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SourceState {
    /// It has offered nothing yet.
    #[default]
    Connecting,
    /// Its tools can be called.
    Ready,
    /// The user has to authorize the application at the source. Only [`ToolSource::state_for`](super::ToolSource::state_for)
    /// returns it.
    AuthorizationNeeded,
    /// It cannot be reached at present. The tools that it offered stay offered.
    Unavailable {
        /// The reason, for operators. Clients and models do not see it.
        reason: Text,
    },
}

impl SourceState {
    /// Returns the name of the state in the manifest: `connecting`, `ready`, `authorization_needed` or `unavailable`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Ready => "ready",
            Self::AuthorizationNeeded => "authorization_needed",
            Self::Unavailable { .. } => "unavailable",
        }
    }
}

/// A tool of a source that is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WithheldTool {
    /// The name that the source gave it.
    pub name: Text,
    /// The reason, for operators.
    pub reason: Text,
}

impl WithheldTool {
    /// Creates the entry of a tool that a source does not offer.
    #[must_use]
    pub fn new(name: impl Into<Text>, reason: impl Into<Text>) -> Self {
        Self { name: name.into(), reason: reason.into() }
    }
}
