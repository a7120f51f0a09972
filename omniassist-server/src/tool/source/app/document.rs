use bytes::Bytes;

use super::AppOrigin;

/// The most hosts of each kind.
const MAX_ORIGINS: usize = 32;

/// The document of an app, with the hosts that its requests may reach. It is the code of another party.
#[derive(Debug, Clone)]
#[must_use]
pub struct AppDocument {
    html: Bytes,
    connect: Vec<AppOrigin>,
    resources: Vec<AppOrigin>,
}

impl AppDocument {
    /// Creates a document whose requests may reach no host.
    pub fn new(html: impl Into<Bytes>) -> Self {
        Self { html: html.into(), connect: Vec::new(), resources: Vec::new() }
    }

    /// Sets the hosts that its scripts may send requests to, at most 32. Default: none.
    pub fn connect(mut self, origins: impl IntoIterator<Item = AppOrigin>) -> Self {
        self.connect = origins.into_iter().take(MAX_ORIGINS).collect();
        self
    }

    /// Sets the hosts of its images, scripts, styles, fonts and media, at most 32. Default: none.
    pub fn resources(mut self, origins: impl IntoIterator<Item = AppOrigin>) -> Self {
        self.resources = origins.into_iter().take(MAX_ORIGINS).collect();
        self
    }

    /// Returns the document.
    #[must_use]
    pub fn html(&self) -> &Bytes {
        &self.html
    }

    pub(crate) fn connects_to(&self) -> &[AppOrigin] {
        &self.connect
    }

    pub(crate) fn loads_from(&self) -> &[AppOrigin] {
        &self.resources
    }
}
