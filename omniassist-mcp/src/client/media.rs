//! Images, sounds and files within a result, which become stored files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use omniassist_server::files::StoredFile;
use omniassist_server::tool::ToolContext;
use rmcp::model::{ContentBlock, ResourceContents};

/// The files of one result that are stored.
const MAX_FILES: usize = 16;

/// Data that a result contains, in Base64.
struct Media<'a> {
    what: &'static str,
    media_type: &'a str,
    name: String,
    data: &'a str,
}

/// Stores what is not text for the user of a call, and puts a line of text in its place. The rest stays as it is: what a limit
/// of the host's files refuses, and everything if the host has no store.
pub(super) async fn store(content: &mut [ContentBlock], call: &ToolContext) -> Vec<StoredFile> {
    let mut files = Vec::new();
    for block in content {
        let Some(media) = Media::of(block) else { continue };
        if files.len() == MAX_FILES {
            break;
        }
        // The message with all media has at most 8 MiB.
        let Ok(bytes) = STANDARD.decode(media.data) else { continue };
        match call.run().store_file(&media.name, media.media_type, bytes).await {
            Ok(file) => {
                let line = format!("[{} ({}): {}]", media.what, file.info.media_type, file.url);
                files.push(file);
                *block = ContentBlock::text(line);
            }
            Err(error) if error.is_type_not_allowed() || error.is_too_large() => {
                tracing::debug!(%error, "a file of an MCP server is not stored");
            }
            // The next one would not be stored either.
            Err(error) => {
                tracing::debug!(%error, "the files of an MCP server are not stored");
                break;
            }
        }
    }
    files
}

impl<'a> Media<'a> {
    fn of(block: &'a ContentBlock) -> Option<Self> {
        let (what, media_type, name, data) = match block {
            ContentBlock::Image(image) => {
                ("An image", image.mime_type.as_str(), name("image", &image.mime_type), &image.data)
            }
            ContentBlock::Audio(audio) => {
                ("A sound", audio.mime_type.as_str(), name("sound", &audio.mime_type), &audio.data)
            }
            ContentBlock::Resource(resource) => match &resource.resource {
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    let media_type = mime_type.as_deref().unwrap_or("application/octet-stream");
                    // The store keeps the part after the last slash.
                    ("A file", media_type, uri.clone(), blob)
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(Self { what, media_type, name, data })
    }
}

/// Returns a name for data of this type: `image.png`.
fn name(kind: &str, media_type: &str) -> String {
    let format = media_type.split_once('/').map_or("", |(_, format)| format);
    let is_extension =
        (1..=5).contains(&format.len()) && format.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_extension { format!("{kind}.{format}") } else { kind.to_owned() }
}
