use std::fmt::Write;

use omniassist_core::characters::prefix;
use omniassist_server::tool::ToolError;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde::Deserialize;
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
        if result.is_error == Some(true) {
            return Ok(Self::Failed(text_of(&result.content, max_bytes)));
        }
        tool.check_output(result.structured_content.as_ref())?;
        let mut data = Map::from_iter([("untrusted_data_of".to_owned(), server.into())]);
        let text = match result.structured_content {
            Some(content) => {
                let written = content.to_string();
                let Some(left) = max_bytes.checked_sub(written.len()) else {
                    data.insert("text".to_owned(), cut(written, max_bytes).into());
                    return Ok(Self::Data(data));
                };
                let text = text_of(result.content.iter().filter(|block| !repeats(block, &content)), left);
                data.insert("structured".to_owned(), content);
                Some(text).filter(|text| !text.is_empty())
            }
            None => Some(text_of(&result.content, max_bytes)),
        };
        data.extend(text.map(|text| ("text".to_owned(), text.into())));
        Ok(Self::Data(data))
    }
}

/// Reads a result with blocks that cannot be read, such as those of an unknown type. A line stands in the place of each.
pub(super) fn read(mut result: Value) -> Option<CallToolResult> {
    for block in result.get_mut("content")?.as_array_mut()? {
        if ContentBlock::deserialize(&*block).is_err() {
            let kind = cleaned::name(block.get("type").and_then(Value::as_str).unwrap_or_default());
            let line = format!("[A content of the type {kind}, which cannot be read.]");
            *block = json!({ "type": "text", "text": line });
        }
    }
    CallToolResult::deserialize(result).ok()
}

/// Returns `true` for a text that says what the structured content of its result says. Some servers wrap a result that is no
/// object in one with the member `result`.
fn repeats(block: &ContentBlock, content: &Value) -> bool {
    let ContentBlock::Text(block) = block else { return false };
    let wrapped = content.as_object().filter(|members| members.len() == 1);
    let wrapped = wrapped.and_then(|members| members.get("result"));
    let text = serde_json::from_str::<Value>(&block.text).ok();
    [Some(content), wrapped]
        .into_iter()
        .flatten()
        .any(|value| text.as_ref() == Some(value) || value.as_str() == Some(&block.text))
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
        ContentBlock::ResourceLink(link) => {
            let (uri, name) = (cleaned::description(&link.uri), cleaned::description(&link.name));
            match &link.description {
                Some(said) => write!(text, "[A link to {uri}: {name}. {}]", cleaned::description(said)),
                None => write!(text, "[A link to {uri}: {name}.]"),
            }
        }
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
        text.truncate(prefix(&text, max).len());
        let _ = write!(text, "… [cut off: the output is longer than {max} bytes]");
    }
    text
}
