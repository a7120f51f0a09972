use omniassist_server::Tool;
use omniassist_server::tool::source::{SourceSlot, ToolSource, WithheldTool};

/// The tools of a document, and a report of what could not become a tool.
///
/// They are a [source of tools](omniassist_server::tool::source), which a registry takes at once. Operations that are no tools
/// are withheld tools of the source.
#[derive(Debug)]
pub struct OpenApiTools {
    pub(crate) name: String,
    pub(crate) tools: Vec<Tool>,
    pub(crate) skipped: Vec<Finding>,
    pub(crate) loosened: Vec<Finding>,
}

impl OpenApiTools {
    /// Returns the tools, in the order of paths and methods.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Returns the selected operations that are no tools, with the reasons.
    #[must_use]
    pub fn skipped(&self) -> &[Finding] {
        &self.skipped
    }

    /// Returns the operations whose arguments are checked less than the document says, because the whole schema would be
    /// refused. Regular expressions are left out first, then deep references. The server checks the arguments.
    /// A required body that the method does not have is left out too.
    #[must_use]
    pub fn loosened(&self) -> &[Finding] {
        &self.loosened
    }
}

impl ToolSource for OpenApiTools {
    fn name(&self) -> &str {
        &self.name
    }

    fn attach(&self, slot: SourceSlot) {
        // The slot adds the name of the document again.
        let own = |tool: &Tool| {
            let name = tool.name().strip_prefix(&self.name).and_then(|name| name.strip_prefix('_'));
            let name = name.unwrap_or(tool.name()).to_owned();
            tool.clone().rename(name)
        };
        let withheld = self.skipped.iter().map(|one| WithheldTool::new(one.operation(), one.reason()));
        slot.offer_with(self.tools.iter().map(own), withheld);
    }
}

impl IntoIterator for OpenApiTools {
    type Item = Tool;
    type IntoIter = std::vec::IntoIter<Tool>;

    fn into_iter(self) -> Self::IntoIter {
        self.tools.into_iter()
    }
}

/// A remark about an operation.
#[derive(Debug, Clone)]
pub struct Finding {
    pub(crate) operation: String,
    pub(crate) pointer: String,
    pub(crate) reason: String,
}

impl Finding {
    /// Returns the id of the operation, or `GET /path` if it has none.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Returns the JSON pointer of the operation in the document.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}
