use http::request::Parts;
use http::{Version, header};

use super::authority::Authority;
use super::{PeerAddr, Refused};
use crate::{Error, Result};

/// The names that the server answers to.
#[derive(Debug, Clone, Default)]
pub(super) struct Hosts {
    /// As the host wrote them, until they are checked.
    written: Vec<String>,
    /// `None`: any, but for requests over loopback.
    listed: Option<Vec<Pattern>>,
}

#[derive(Debug, Clone)]
struct Pattern {
    /// With the dot that stands before it, where any name below it will do.
    below: Option<String>,
    authority: Authority,
}

impl Hosts {
    pub(super) fn list(&mut self, hosts: impl IntoIterator<Item = String>) {
        self.written.extend(hosts);
        self.listed.get_or_insert_default();
    }

    /// Reads what the host wrote.
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

    /// Whether it is known enough to tell a request for this server from one for another name that leads to it.
    pub(super) fn can_tell(&self, parts: &Parts) -> bool {
        self.listed.is_some() || parts.extensions.get::<PeerAddr>().is_some()
    }

    /// The host that a request names, where it is one that the server answers to. A request without one passes where
    /// any host would.
    pub(super) fn screen(&self, parts: &Parts) -> Result<Option<Authority>, Refused> {
        let named = named(parts)?;
        let over_loopback = parts.extensions.get::<PeerAddr>().is_some_and(PeerAddr::is_loopback);
        if self.listed.is_none() && !over_loopback {
            return Ok(named);
        }
        let Some(host) = named else {
            // Clients that old need not say it. No browser is among them.
            let may_be_silent = self.listed.is_none() && parts.version < Version::HTTP_11;
            return if may_be_silent { Ok(None) } else { Err(Refused::InvalidHost) };
        };
        let mut listed = self.listed.iter().flatten();
        if listed.any(|pattern| pattern.fits(&host)) || (over_loopback && host.is_local()) {
            return Ok(Some(host));
        }
        Err(Refused::HostNotAllowed)
    }
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

/// A `Host` without a port stands for the default one, of either scheme.
fn is_port(host: &Authority, port: u16) -> bool {
    host.port().map_or(matches!(port, 80 | 443), |named| named == port)
}

/// The one host that a request names, by its `Host` and in its address (HTTP/2, or a proxy's form of HTTP/1.1). Two that
/// differ are a way to have two servers read a request differently.
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
