use std::sync::{Arc, Mutex};

use omniassist_server::tool::{FromToolCall, ToolContext, ToolError};
use rmcp::model::ContentBlock;

use super::content::Content;
use crate::sync::lock;

/// The most bytes of all attachments of a call, in the form in which they are sent.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Images, sounds and other content beside the output of a tool, for clients of MCP. It is a parameter of a tool function.
///
/// A client of `/mcp` receives the tool's output and then the attachments. In other runs they are dropped: a model of the
/// assistant reads the output alone, and a page gets files by
/// [`store_file`](https://docs.rs/omniassist-server/latest/omniassist_server/struct.RunContext.html#method.store_file).
///
/// ```
/// use omniassist_mcp::{Attachments, Content};
/// use omniassist_server::tool::{Tool, ToolError};
///
/// async fn chart(attachments: Attachments) -> Result<&'static str, ToolError> {
///     attachments.add(Content::image("image/png", b"\x89PNG"))?;
///     Ok("The sales of this year rise.")
/// }
/// let tool = Tool::new("chart", "Draws the sales of this year", chart);
/// ```
#[derive(Debug, Clone)]
pub struct Attachments(Option<Attached>);

/// The attachments of one call, in the extensions of its request.
#[derive(Debug, Clone, Default)]
pub(super) struct Attached(Arc<Mutex<Vec<Content>>>);

impl Attachments {
    /// Returns `true` if the caller receives attachments. A tool can spare the work for others.
    #[must_use]
    pub fn are_sent(&self) -> bool {
        self.0.is_some()
    }

    /// Adds content after the output of the call.
    ///
    /// # Errors
    ///
    /// Returns an error if the attachments of the call have more than 16 MiB in Base64 together.
    pub fn add(&self, content: impl Into<Content>) -> Result<(), ToolError> {
        let (Some(attached), content) = (&self.0, content.into()) else { return Ok(()) };
        let mut attached = lock(&attached.0);
        let before: usize = attached.iter().map(Content::size).sum();
        if before.saturating_add(content.size()) > MAX_BYTES {
            return Err(ToolError::new("The attachments of this call are too large."));
        }
        attached.push(content);
        Ok(())
    }
}

impl FromToolCall for Attachments {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(call.run().extensions().get::<Attached>().cloned()))
    }
}

impl Attached {
    /// Takes what the call has attached.
    pub(super) fn take(&self) -> impl Iterator<Item = ContentBlock> {
        let attached = std::mem::take(&mut *lock(&self.0));
        attached.into_iter().map(Content::into_block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_attaches_sixteen_mebibytes_and_no_more() {
        let attachments = Attachments(Some(Attached::default()));
        attachments.add("x".repeat(MAX_BYTES - 1)).unwrap();
        attachments.add("x").unwrap();
        assert!(attachments.add("x").is_err());
        assert_eq!(attachments.0.unwrap().take().count(), 2);
    }
}
