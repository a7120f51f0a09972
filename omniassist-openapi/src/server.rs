//! The server that tools call, which only the host's code names.

use std::borrow::Cow;

use http::Uri;
use omniassist_server::core::secret::REDACTED;

use crate::OpenApiError;

/// Returns a URL without the user name and password.
pub(crate) fn redacted(url: &str) -> Cow<'_, str> {
    let Some((before, host)) = url.rsplit_once('@') else { return url.into() };
    let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://"));
    format!("{}{REDACTED}@{host}", scheme.unwrap_or_default()).into()
}

/// The URL of a server.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// The URL without a slash at its end.
    pub(crate) base: String,
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
}

impl Server {
    pub(crate) fn parse(url: &str) -> Result<Self, OpenApiError> {
        Self::read(url, &redacted(url))
    }

    /// Reads a URL. `shown` stands for it in errors.
    fn read(url: &str, shown: &str) -> Result<Self, OpenApiError> {
        let wrong = |reason: &str| OpenApiError::configuration(format!("the server URL {shown:?} {reason}"));
        let uri: Uri = url.parse().map_err(|error| wrong("is not valid").with_source(error))?;
        let (Some("http" | "https"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong("must begin with https:// or http://"));
        };
        if authority.as_str().contains('@') {
            return Err(wrong("must not hold a user name or password; use `Auth::basic`"));
        }
        if authority.port_u16().is_none() && authority.as_str().trim_end_matches(':') != authority.host() {
            return Err(wrong("has a port that is no number"));
        }
        if uri.query().is_some() || url.contains('#') {
            return Err(wrong("must not have a query or a fragment"));
        }
        let base = url.trim_end_matches('/').to_owned();
        Ok(Self { base, host: authority.host().to_owned(), port: authority.port_u16() })
    }

    /// Splits a URL with placeholders into the server and the path.
    pub(crate) fn split(url: &str) -> Result<(Self, &str), OpenApiError> {
        let start = url.find("://").map_or(0, |at| at + 3);
        let end = url.get(start..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| start + at);
        let (server, path) = url.split_at_checked(end).unwrap_or((url, ""));
        // The `/` may be one of a password, whose end is in the path then.
        Ok((Self::read(server, &redacted(url))?, if path.is_empty() { "/" } else { path }))
    }
}
