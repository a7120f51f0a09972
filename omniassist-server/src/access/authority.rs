use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::uri::Scheme;

/// A host and its port, as in `Host`, a URL or an origin. Names are in lower case, without a trailing dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authority {
    host: String,
    port: Option<u16>,
}

impl Authority {
    /// Parses a host with an optional port. Returns `None` for anything else, such as user names, lists and percent signs.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, rest) = rest.split_once(']')?;
                let address: Ipv6Addr = address.parse().ok()?;
                let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
                (format!("[{address}]"), port)
            }
            None => {
                let (name, port) = match text.split_once(':') {
                    Some((name, port)) => (name, Some(port)),
                    None => (text, None),
                };
                let name = name.strip_suffix('.').unwrap_or(name);
                (is_name(name).then(|| name.to_ascii_lowercase())?, port)
            }
        };
        let port = match port {
            None | Some("") => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.parse().ok()?),
            Some(_) => return None,
        };
        Some(Self { host, port })
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn port(&self) -> Option<u16> {
        self.port
    }

    /// Removes the port if it is the default of the scheme.
    pub(super) fn without_default_port(mut self, scheme: &str) -> Self {
        self.port = self.port.filter(|port| default_port(scheme) != Some(*port));
        self
    }

    /// Returns `true` if a page with this authority and scheme comes from `host`. A server behind a proxy does not know
    /// the scheme of a request, so a `Host` without a port matches the default port of both.
    pub(super) fn is_of(&self, host: &Self, scheme: &str) -> bool {
        let port = self.port.or_else(|| default_port(scheme));
        self.host == host.host && (self.port == host.port || (host.port.is_some() && port == host.port))
    }

    /// Returns `true` for a name of the local machine: `localhost`, a name below it, or a loopback address.
    pub(super) fn is_local(&self) -> bool {
        self.host == "localhost"
            || self.host.ends_with(".localhost")
            || self.address().is_some_and(|address| address.to_canonical().is_loopback())
    }

    fn address(&self) -> Option<IpAddr> {
        match self.host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
            None => self.host.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && name.split('.').all(|label| !label.is_empty())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
}

fn default_port(scheme: &str) -> Option<u16> {
    if scheme == Scheme::HTTP.as_str() {
        Some(80)
    } else if scheme == Scheme::HTTPS.as_str() {
        Some(443)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_normalised() {
        for (text, form) in [
            ("App.Example.COM", "app.example.com"),
            ("app.example.com.", "app.example.com"),
            ("app.example.com.:443", "app.example.com:443"),
            ("localhost:3000", "localhost:3000"),
            ("localhost:", "localhost"),
            ("127.0.0.1:080", "127.0.0.1:80"),
            ("[::1]:3000", "[::1]:3000"),
            ("[0:0:0:0:0:0:0:1]", "[::1]"),
            ("my_host", "my_host"),
        ] {
            assert_eq!(Authority::parse(text).map(|authority| authority.to_string()).as_deref(), Some(form));
        }
    }

    #[test]
    fn text_that_is_not_a_host_is_refused() {
        for text in [
            "",
            ".",
            "..",
            "a..b",
            ":80",
            "a b",
            "a,b",
            "a:b",
            "a:80:80",
            "a:99999",
            "a:-1",
            "user@a",
            "a/b",
            "a%2eb",
            "a\\b",
            "[::1",
            "::1",
            "[::1]x",
            "[::1%25lo]",
            "[127.0.0.1]",
            "münchen.de",
            "a?b",
            "a#b",
            "*",
        ] {
            assert_eq!(Authority::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_what_leads_to_this_machine_is_local() {
        for text in [
            "localhost",
            "LOCALHOST.:1",
            "app.localhost",
            "127.0.0.1",
            "127.9.8.7:80",
            "[::1]",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(Authority::parse(text).unwrap().is_local(), "{text}");
        }
        for text in [
            "notlocalhost",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "128.0.0.1",
            "2130706433",
            "0x7f.1",
            "127.1",
            "0.0.0.0",
            "[::2]",
            "localtest.me",
        ] {
            assert!(!Authority::parse(text).unwrap().is_local(), "{text}");
        }
    }
}
