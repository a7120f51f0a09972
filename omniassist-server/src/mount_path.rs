use std::sync::Arc;

/// The path below which the assistant is mounted, in the extensions of a request. The URLs of stored files and of background
/// runs begin with it.
///
/// The adapters insert it for the routes of the assistant, unless there is one. A handler of the application that begins
/// runs inserts it itself. Behind a proxy that removes a part of the path, insert the path, or the whole URL, that clients
/// see:
///
/// ```
/// use omniassist_server::http::MountPath;
///
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(MountPath::new("https://app.example.com/api/assistant"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountPath(Arc<str>);

impl MountPath {
    /// Creates a path. A slash at its end does not count.
    #[must_use]
    pub fn new(path: impl Into<Arc<str>>) -> Self {
        let path = path.into();
        Self(match path.trim_end_matches('/') {
            trimmed if trimmed.len() == path.len() => path,
            trimmed => trimmed.into(),
        })
    }

    /// Returns the mount point of a request, whose path was `original` and is `below` the mount point now.
    #[must_use]
    pub fn of(original: &str, below: &str) -> Option<Self> {
        let below = below.trim_matches('/');
        original.trim_end_matches('/').strip_suffix(below).map(Self::new)
    }

    /// Returns the path without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
