//! Apps of servers: the extension `io.modelcontextprotocol/ui`.

mod documents;
mod meta;
mod result;
mod source;

use rmcp::model::ExtensionCapabilities;
use serde_json::json;

pub(super) use documents::Documents;
pub(super) use meta::AppMeta;
use omniassist_server::core::ToolApp;
pub(super) use result::{result_for_app, show};

/// The name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The beginning of the addresses of documents.
const SCHEME: &str = "ui://";

/// Returns the capability of a client that shows apps.
pub(super) fn extension() -> ExtensionCapabilities {
    let settings = json!({ "mimeTypes": [ToolApp::MIME_TYPE] });
    let settings = settings.as_object().cloned().unwrap_or_default();
    ExtensionCapabilities::from([(EXTENSION.to_owned(), settings)])
}
