use std::fmt;

use http::Uri;

/// The longest name of a host.
const MAX_HOST: usize = 253;

/// A host that an app declares, such as `https://api.example.com` or `https://*.example.com`. It is safe in a
/// `Content-Security-Policy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppOrigin(String);

impl AppOrigin {
    /// Reads an origin that a server declares. `None` for all but `https` or `wss`, a host of ASCII letters, digits, `-` and
    /// `.`, and a port. `*.` may stand for any names before a host of two names or more. Other names of hosts are given in
    /// their ASCII form.
    ///
    /// ```
    /// use omniassist_server::tool::source::AppOrigin;
    ///
    /// assert!(AppOrigin::parse("https://*.example.com:8443").is_some());
    /// assert!(AppOrigin::parse("https://example.com; script-src *").is_none());
    /// ```
    #[must_use]
    pub fn parse(declared: &str) -> Option<Self> {
        let uri: Uri = declared.parse().ok()?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "https" | "wss"))?;
        let authority = uri.authority()?;
        let host = authority.host().to_ascii_lowercase();
        let port = match authority.port_u16() {
            Some(port) => format!(":{port}"),
            None => String::new(),
        };
        // Credentials, a port that is no number, a path, a query or a fragment leave a rest.
        let origin = format!("{scheme}://{host}{port}");
        let is_whole = declared.strip_suffix('/').unwrap_or(declared).eq_ignore_ascii_case(&origin);
        (is_whole && is_host(&host)).then_some(Self(origin))
    }

    /// Returns the origin.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_host(host: &str) -> bool {
    let (name, least) = match host.strip_prefix("*.") {
        Some(name) => (name, 2),
        None => (host, 1),
    };
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_allowed);
    host.len() <= MAX_HOST && name.split('.').all(is_label) && name.split('.').count() >= least
}

impl fmt::Display for AppOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_origin_never_gets_into_a_policy() {
        for refused in [
            "",
            "*",
            "https:",
            "https://",
            "https://*",
            "https://*.com",
            "https://*.*.com",
            "https://a.*.com",
            "http://example.com",
            "ws://example.com",
            "data:",
            "blob:",
            "javascript:alert(1)",
            "'self'",
            "'unsafe-eval'",
            "https://example.com 'unsafe-eval'",
            "https://example.com; script-src *",
            "https://example.com;",
            "https://example.com,https://b.example.com",
            "https://example.com\r\nset-cookie: a=b",
            "https://example.com\n",
            " https://example.com",
            "https://user@example.com",
            "https://example.com/path",
            "https://example.com?query",
            "https://example.com#fragment",
            "https://example.com:*",
            "https://example.com:99999",
            "https://example..com",
            "https://[::1]",
            "https://exämple.com",
            "https://ex%61mple.com",
            "example.com",
            "//example.com",
        ] {
            assert_eq!(AppOrigin::parse(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn an_origin_is_taken_as_it_is() {
        for (declared, expected) in [
            ("https://api.example.com", "https://api.example.com"),
            ("https://API.example.com/", "https://api.example.com"),
            ("wss://live.example.com:8443", "wss://live.example.com:8443"),
            ("https://*.example.com", "https://*.example.com"),
            ("https://localhost:3000", "https://localhost:3000"),
            ("https://127.0.0.1:3000", "https://127.0.0.1:3000"),
        ] {
            assert_eq!(AppOrigin::parse(declared).unwrap().as_str(), expected);
        }
    }
}
