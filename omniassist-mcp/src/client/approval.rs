/// The calls of an MCP server's tools that need the approval of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum McpApproval {
    /// No call. Use it only for a server that can do no harm.
    Never,
    /// Calls of tools that are not read-only. A tool is read-only if its annotations say so and
    /// [`trust_annotations`](super::McpServer::trust_annotations) is set.
    #[default]
    UnlessReadOnly,
    /// Every call.
    Always,
}

impl McpApproval {
    /// Returns `true` if the calls of a tool need an approval.
    pub(super) fn is_needed(self, is_read_only: bool) -> bool {
        match self {
            Self::Never => false,
            Self::UnlessReadOnly => !is_read_only,
            Self::Always => true,
        }
    }
}
