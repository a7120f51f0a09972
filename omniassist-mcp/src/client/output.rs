use std::fmt::Write;

use omniassist_server::tool::ToolError;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value, json};

use super::cleaned;
use super::definition::{Definition, Misfit};

/// The result of a call as the model receives it.
pub(super) enum Output {
    /// An object that tells whose data it contains. A text within JSON cannot end it.
    Data(Map<String, Value>),
    /// The server says that the call failed.
    Failed(String),
}

impl Output {
    /// Reads a result.
    ///
    /// # Errors
    ///
    /// Returns an error if the structured content does not fit the tool's schema.
    pub(super) fn new(
        server: &str,
        tool: &Definition,
        result: CallToolResult,
        max_bytes: usize,
    ) -> Result<Self, Misfit> {
        let text = text_of(&result.content, max_bytes);
        if result.is_error == Some(true) {
            return Ok(Self::Failed(text));
        }
        tool.check_output(result.structured_content.as_ref())?;
        let (name, content) = match result.structured_content {
            Some(content) if content.to_string().len() <= max_bytes => ("structured", content),
            Some(content) => ("text", cut(content.to_string(), max_bytes).into()),
            None => ("text", text.into()),
        };
        let data = [("untrusted_data_of".to_owned(), server.into()), (name.to_owned(), content)];
        Ok(Self::Data(data.into_iter().collect()))
    }
}

/// Returns the text of contents, cut off after `max` bytes.
pub(super) fn text_of<'a>(blocks: impl IntoIterator<Item = &'a ContentBlock>, max: usize) -> String {
    let mut text = String::new();
    for block in blocks {
        // The rest of a large result is not copied.
        if text.len() > max {
            break;
        }
        write_block(&mut text, block);
    }
    cut(text, max)
}

/// Returns a text as data of a server.
pub(super) fn data(server: &str, text: &str) -> Value {
    json!({"untrusted_data_of": server, "text": text})
}

/// Returns the error of a call that a server says has failed. Its text is as much the data of the server as a result is.
pub(super) fn error(server: &str, text: &str) -> ToolError {
    ToolError::new(format!("The server {server} reports an error: {}", data(server, text)))
}

fn write_block(text: &mut String, block: &ContentBlock) {
    if !text.is_empty() {
        text.push('\n');
    }
    // Writing to a `String` does not fail.
    let _ = match block {
        ContentBlock::Text(block) => text.write_str(&block.text),
        ContentBlock::Image(image) => media(text, "An image", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => media(text, "A sound", &audio.mime_type, audio.data.len()),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { uri, text: content, .. } => {
                write!(text, "[{}]\n{content}", cleaned::description(uri))
            }
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                media(text, "A file", uri, blob.len())
            }
            _ => write!(text, "[A resource of an unknown kind.]"),
        },
        ContentBlock::ResourceLink(link) => write!(text, "[A link to {}.]", cleaned::description(&link.uri)),
        _ => write!(text, "[A content of an unknown kind.]"),
    };
}

/// Writes a line in place of data that is not text. `encoded` is its length in Base64.
fn media(text: &mut String, what: &str, kind: &str, encoded: usize) -> std::fmt::Result {
    write!(text, "[{what} ({}, about {} bytes) is not shown.]", cleaned::description(kind), encoded / 4 * 3)
}

/// Cuts a text off that has more than `max` bytes.
pub(super) fn cut(mut text: String, max: usize) -> String {
    if text.len() > max {
        let end = (0..=max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        text.truncate(end);
        let _ = write!(text, "… [cut off: the output is longer than {max} bytes]");
    }
    text
}
