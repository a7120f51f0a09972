use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use omniassist_server::Principal;
use omniassist_server::core::ToolApp;
use omniassist_server::tool::source::{AppDocument, AppOrigin};
use rmcp::model::ResourceContents;
use serde_json::Value;
use tokio::time::Instant;

use crate::client::McpError;
use crate::client::config::Config;
use crate::client::offered;
use crate::client::pool::Pool;
use crate::sync::lock;

/// The bytes of a document, and of a resource that an app reads.
pub(in crate::client) const MAX_BYTES: usize = 2 * 1024 * 1024;

/// The documents that are kept.
const MAX_KEPT: usize = 16;

/// The time for which a document is kept.
const FRESH: Duration = Duration::from_secs(60);

/// The documents of a server's apps that were read lately. Each user has documents of its own, as the server may tell them
/// apart.
#[derive(Default)]
pub(in crate::client) struct Documents {
    kept: Mutex<VecDeque<Kept>>,
}

struct Kept {
    owner: Principal,
    uri: String,
    read_at: Instant,
    document: AppDocument,
}

impl Documents {
    /// Returns a document.
    ///
    /// # Errors
    ///
    /// Returns an error if the server cannot be used, or has something else at this address.
    pub(in crate::client) async fn get(
        &self,
        pool: &Pool,
        config: &Config,
        who: &Principal,
        uri: &str,
    ) -> Result<AppDocument, McpError> {
        let owner = if pool.is_per_principal() { who.clone() } else { Principal::anonymous() };
        if let Some(known) = self.find(&owner, uri) {
            return Ok(known);
        }
        let contents = offered::read_resource(pool, config, who, uri).await?;
        let document = read(config, uri, contents)?;
        let mut kept = lock(&self.kept);
        kept.truncate(MAX_KEPT - 1);
        let (uri, read_at) = (uri.to_owned(), Instant::now());
        kept.push_front(Kept { owner, uri, read_at, document: document.clone() });
        Ok(document)
    }

    fn find(&self, owner: &Principal, uri: &str) -> Option<AppDocument> {
        let mut kept = lock(&self.kept);
        kept.retain(|kept| kept.read_at.elapsed() < FRESH);
        let known = kept.iter().find(|kept| kept.owner == *owner && kept.uri == uri)?;
        Some(known.document.clone())
    }
}

/// Reads the document in the content of a resource.
fn read(config: &Config, uri: &str, contents: Vec<ResourceContents>) -> Result<AppDocument, McpError> {
    let found = contents.into_iter().find_map(|content| match content {
        ResourceContents::TextResourceContents { mime_type: Some(kind), text, meta, .. } => {
            Some((kind, text.into_bytes(), meta))
        }
        ResourceContents::BlobResourceContents { mime_type: Some(kind), blob, meta, .. } => {
            Some((kind, STANDARD.decode(blob).ok()?, meta))
        }
        _ => None,
    });
    let (kind, html, meta) = found.ok_or_else(|| McpError::answer("a resource without a kind"))?;
    if !kind.replace(' ', "").eq_ignore_ascii_case(ToolApp::MIME_TYPE) {
        return Err(McpError::answer("the resource is not the document of an app"));
    }
    if html.len() > MAX_BYTES {
        return Err(McpError::over_limit("2 MiB"));
    }
    let csp = meta.as_ref().and_then(|meta| meta.get("ui")).and_then(|ui| ui.get("csp"));
    let declared = |kind| origins(config, uri, csp.and_then(|csp| csp.get(kind)));
    Ok(AppDocument::new(html).connect(declared("connectDomains")).resources(declared("resourceDomains")))
}

/// Returns the hosts of a list. What is none is left out.
fn origins(config: &Config, uri: &str, declared: Option<&Value>) -> Vec<AppOrigin> {
    let declared = declared.and_then(Value::as_array).into_iter().flatten();
    let origins = declared.filter_map(|host| {
        let origin = host.as_str().and_then(AppOrigin::parse);
        if origin.is_none() {
            let source = config.name.as_str();
            tracing::warn!(source, uri = ?uri, %host, "a host that an app declares is left out");
        }
        origin
    });
    origins.collect()
}
