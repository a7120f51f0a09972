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

    /// Returns `true` if a page with this authority and scheme comes from `host`. A server behind a proxy cannot detect
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
