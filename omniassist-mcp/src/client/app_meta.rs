//! The apps of servers as the protocol describes them: the extension `io.modelcontextprotocol/ui`.

use omniassist_core::{Text, ToolApp};
use rmcp::model::{ExtensionCapabilities, Tool};
use serde_json::{Value, json};

/// The name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The beginning of the addresses of documents.
pub(super) const SCHEME: &str = "ui://";

/// The longest address of a document.
const MAX_URI: usize = 2048;

/// Returns the capability of a client that shows apps.
pub(super) fn extension() -> ExtensionCapabilities {
    let settings = json!({ "mimeTypes": [ToolApp::MIME_TYPE] });
    let settings = settings.as_object().cloned().unwrap_or_default();
    ExtensionCapabilities::from([(EXTENSION.to_owned(), settings)])
}

/// The app of a tool, and who may call the tool, as its server says.
pub(super) struct AppMeta {
    /// The document that shows the calls.
    pub(super) resource_uri: Option<Text>,
    pub(super) is_for_models: bool,
    pub(super) is_for_apps: bool,
}

impl AppMeta {
    /// Reads `_meta.ui` of a tool, or the older key `ui/resourceUri`. Without a list of those who may call it, all may.
    pub(super) fn of(tool: &Tool) -> Self {
        let meta = tool.meta.as_ref();
        let ui = meta.and_then(|meta| meta.get("ui"));
        let uri = ui.and_then(|ui| ui.get("resourceUri"));
        let uri = uri.or_else(|| meta.and_then(|meta| meta.get("ui/resourceUri")));
        let callers = ui.and_then(|ui| ui.get("visibility")).and_then(Value::as_array);
        let is_for =
            |caller: &str| callers.is_none_or(|callers| callers.iter().any(|listed| listed == caller));
        Self {
            resource_uri: uri.and_then(Value::as_str).filter(|uri| is_document(uri)).map(Text::from),
            is_for_models: is_for("model"),
            is_for_apps: is_for("app"),
        }
    }

    /// Returns what is pinned. `None` for a tool that has nothing to do with apps.
    pub(super) fn pinned(&self) -> Option<Value> {
        let Self { resource_uri, is_for_models, is_for_apps } = self;
        (resource_uri.is_some() || self.is_for_some())
            .then(|| json!({ "resourceUri": resource_uri, "model": is_for_models, "app": is_for_apps }))
    }

    /// Returns `true` if not all may call the tool.
    pub(super) fn is_for_some(&self) -> bool {
        !(self.is_for_models && self.is_for_apps)
    }
}

/// Returns `true` for the address of a document that the path of a URL keeps.
fn is_document(uri: &str) -> bool {
    let keeps = |segment: &str| !matches!(segment, "" | "." | "..") && !segment.chars().any(char::is_control);
    uri.len() <= MAX_URI && uri.strip_prefix(SCHEME).is_some_and(|path| path.split('/').all(keeps))
}
