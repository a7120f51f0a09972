use http::request::Parts;
use http::{Version, header};

use super::authority::Authority;
use super::{PeerAddr, Refused};
use crate::{Error, Result};

/// The hosts that the server answers to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hosts {
    /// The configured patterns, until they are parsed.
    written: Vec<String>,
    /// `None` accepts any host, except over loopback.
    listed: Option<Vec<Pattern>>,
}

#[derive(Debug, Clone)]
struct Pattern {
    /// For `*.name`: `.name`.
    below: Option<String>,
    authority: Authority,
}

impl Hosts {
    pub(crate) fn list(&mut self, hosts: impl IntoIterator<Item = String>) {
        self.written.extend(hosts);
        self.listed.get_or_insert_default();
    }

    /// Parses the configured patterns.
    pub(super) fn check(&mut self) -> Result<()> {
        for written in std::mem::take(&mut self.written) {
            let pattern = Pattern::parse(&written).ok_or_else(|| {
                let form = "a host name or address, with a port or without, or `*.` before a name";
                Error::configuration(format!("allowed host `{written}`: not {form}"))
            })?;
            self.listed.get_or_insert_default().push(pattern);
        }
        Ok(())
    }

    /// Returns `true` if DNS rebinding can be detected: hosts are listed, or the peer is known.
    pub(super) fn can_tell(&self, parts: &Parts) -> bool {
        self.listed.is_some() || parts.extensions.get::<PeerAddr>().is_some()
    }

    /// Returns the host that a request names, if the server answers to it. A request without a host passes if any host
    /// would.
    pub(super) fn screen(&self, parts: &Parts) -> Result<Option<Authority>, Refused> {
        let named = named(parts)?;
        let over_loopback = parts.extensions.get::<PeerAddr>().is_some_and(PeerAddr::is_loopback);
        if self.listed.is_none() && !over_loopback {
            return Ok(named);
        }
        let Some(host) = named else {
            // HTTP/1.0 clients need not name a host. No browser is among them.
            let may_be_absent = self.listed.is_none() && parts.version < Version::HTTP_11;
            return if may_be_absent { Ok(None) } else { Err(Refused::InvalidHost) };
        };
        let mut listed = self.listed.iter().flatten();
        if listed.any(|pattern| pattern.fits(&host)) || (over_loopback && host.is_local()) {
            return Ok(Some(host));
        }
        Err(Refused::HostNotAllowed)
    }
}

/// Headers by which proxies say that they have forwarded a request.
#[cfg(feature = "playground")]
const FORWARDED: [&str; 5] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/// Returns `true` for a request of this machine to a name of this machine, which no proxy has forwarded.
#[cfg(feature = "playground")]
pub(crate) fn is_from_this_machine(parts: &Parts) -> bool {
    let is_forwarded = FORWARDED.iter().any(|name| parts.headers.contains_key(*name));
    let over_loopback = parts.extensions.get::<PeerAddr>().is_some_and(PeerAddr::is_loopback);
    let names_local = named(parts).is_ok_and(|host| host.is_some_and(|host| host.is_local()));
    over_loopback && names_local && !is_forwarded
}

impl Pattern {
    fn parse(written: &str) -> Option<Self> {
        match written.strip_prefix("*.") {
            None => Some(Self { below: None, authority: Authority::parse(written)? }),
            Some(rest) => {
                let authority = Authority::parse(rest)?;
                Some(Self { below: Some(format!(".{}", authority.host())), authority })
            }
        }
    }

    fn fits(&self, host: &Authority) -> bool {
        let is_name = match &self.below {
            None => self.authority.host() == host.host(),
            Some(below) => host.host().len() > below.len() && host.host().ends_with(below.as_str()),
        };
        is_name && self.authority.port().is_none_or(|port| is_port(host, port))
    }
}

/// Compares ports. A `Host` without a port has the default port of either scheme.
fn is_port(host: &Authority, port: u16) -> bool {
    host.port().map_or(matches!(port, 80 | 443), |named| named == port)
}

/// Returns the host that a request names, in its `Host` header or its URI (HTTP/2, or the proxy form of HTTP/1.1). Two
/// different hosts are refused: two servers might read such a request differently.
fn named(parts: &Parts) -> Result<Option<Authority>, Refused> {
    let mut named: Option<Authority> = None;
    let mut headers = parts.headers.get_all(header::HOST).iter();
    let header = headers.next();
    if headers.next().is_some() {
        return Err(Refused::InvalidHost);
    }
    let header = header.map(|value| value.to_str().ok().and_then(Authority::parse));
    let address = parts.uri.authority().map(|authority| Authority::parse(authority.as_str()));
    for host in [header, address].into_iter().flatten() {
        let host = host.ok_or(Refused::InvalidHost)?;
        if named.as_ref().is_some_and(|other| *other != host) {
            return Err(Refused::InvalidHost);
        }
        named = Some(host);
    }
    Ok(named)
}
