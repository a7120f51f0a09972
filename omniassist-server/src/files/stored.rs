use serde::{Serialize, Serializer};
use serde_json::json;

use super::FileInfo;
use crate::mount_path::MountPath;

/// A file in the store, with the URL at which its principal can get it.
///
/// Its JSON equals the answer to an upload: a `FileUIPart` of the AI SDK with some more fields. A tool can return it as
/// its output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredFile {
    /// The description of the file.
    pub info: FileInfo,
    /// The URL: `/files/` and the id, below the mount point of the assistant if it is known.
    pub url: String,
}

impl StoredFile {
    pub(crate) fn new(info: FileInfo, mount: Option<&MountPath>) -> Self {
        let url = format!("{}/files/{}", mount.map(MountPath::as_str).unwrap_or_default(), info.id);
        Self { info, url }
    }
}

impl Serialize for StoredFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { info, url } = self;
        let mut json = json!({
            "type": "file", "id": info.id, "url": url, "mediaType": info.media_type, "size": info.size,
        });
        if let Some(object) = json.as_object_mut() {
            object.extend(info.name.as_ref().map(|name| ("filename".to_owned(), name.as_str().into())));
            object.extend(info.expires_ms.map(|expiry| ("expiresAt".to_owned(), expiry.into())));
        }
        json.serialize(serializer)
    }
}
