use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::request::Parts;
use http::{Extensions, HeaderMap, header};

use super::cors::{Cors, Rules, Visitor, is_preflight};
use super::hosts::Hosts;
use super::{AuthError, Authenticate, Refused};
use crate::{Principal, Result};

/// What the host says of who may use the assistant over HTTP.
#[derive(Clone, Default)]
pub(crate) struct AccessPolicy {
    hook: Option<Arc<dyn Authenticate>>,
    anonymous: bool,
    hosts: Hosts,
    cors: Cors,
    rules: Rules,
    warned: Arc<Warned>,
}

/// What the host was told already.
#[derive(Debug, Default)]
struct Warned {
    of_nobody: AtomicBool,
    of_a_host: AtomicBool,
    of_an_origin: AtomicBool,
    of_no_peer: AtomicBool,
}

impl AccessPolicy {
    pub(crate) fn authenticate(&mut self, hook: Arc<dyn Authenticate>) {
        self.hook = Some(hook);
    }

    pub(crate) fn allow_anonymous(&mut self) {
        self.anonymous = true;
    }

    pub(crate) fn allow_origin(&mut self, origin: String) {
        self.cors = std::mem::take(&mut self.cors).allow_origin(origin);
    }

    pub(crate) fn cors(&mut self, cors: Cors) {
        self.cors = cors;
    }

    pub(crate) fn allowed_hosts(&mut self, hosts: impl IntoIterator<Item = String>) {
        self.hosts.list(hosts);
    }

    /// Reads what the host wrote.
    pub(crate) fn checked(mut self) -> Result<Self> {
        self.rules = self.cors.check()?;
        self.hosts.check()?;
        Ok(self)
    }

    /// Judges where a request goes and where it comes from.
    pub(crate) fn screen(&self, parts: &Parts) -> Result<Visitor, Refused> {
        if !self.hosts.can_tell(parts) && is_first(&self.warned.of_no_peer) {
            tracing::warn!(
                "nothing says where requests come from, so a page that points its own name at this machine (DNS rebinding) \
                 is not found out: have the framework tell the peer's address (axum: \
                 `into_make_service_with_connect_info::<SocketAddr>()`, hyper: `.peer(address)`), or name the hosts that \
                 this server answers to with `AssistantBuilder::allowed_hosts`"
            );
        }
        let host = self.hosts.screen(parts);
        let visitor = host.and_then(|host| self.rules.screen(parts, host.as_ref()));
        visitor.inspect_err(|refused| self.report_refused(*refused, parts))
    }

    /// Finds out whose request it is; afterwards its extensions say so.
    pub(crate) async fn identify(&self, parts: &mut Parts) -> Result<(), AuthError> {
        if let Some(hook) = &self.hook {
            let told = hook.authenticate(parts).await;
            let principal = told.inspect_err(report)?;
            if let Some(principal) = principal {
                parts.extensions.insert(principal);
            }
        }
        self.require(&parts.extensions)
    }

    /// Refuses what comes from nobody, unless everybody is welcome.
    pub(crate) fn require(&self, extensions: &Extensions) -> Result<(), AuthError> {
        if self.anonymous || extensions.get::<Principal>().is_some() {
            return Ok(());
        }
        // Where there is a hook, a request that it knows nobody for is nothing strange.
        if self.hook.is_none() && is_first(&self.warned.of_nobody) {
            tracing::warn!(
                "refused a request that says nothing of who it is from (401 unauthenticated), and will refuse others: \
                 put a `Principal` into the request's extensions, give the assistant a hook with \
                 `AssistantBuilder::authenticate`, or serve everybody with `AssistantBuilder::allow_anonymous`"
            );
        }
        Err(AuthError::unauthenticated())
    }

    /// The answer's headers for a browser that asks what a page of a listed origin may send; `None` for any other
    /// request.
    pub(crate) fn preflight(&self, parts: &Parts, visitor: &Visitor) -> Option<HeaderMap> {
        let Visitor::Listed(origin) = visitor else { return None };
        is_preflight(parts).then(|| {
            let mut headers = HeaderMap::new();
            self.rules.permit(parts, origin, &mut headers);
            headers
        })
    }

    /// The headers by which a browser lets a page read a response, or keeps it from it.
    pub(crate) fn add_headers(&self, visitor: &Visitor, headers: &mut HeaderMap) {
        self.rules.add_headers(visitor, headers);
    }

    fn report_refused(&self, refused: Refused, parts: &Parts) {
        let first = match refused {
            Refused::InvalidHost => None,
            Refused::HostNotAllowed => Some(&self.warned.of_a_host),
            Refused::OriginNotAllowed => Some(&self.warned.of_an_origin),
        };
        let (host, origin) = (parts.headers.get(header::HOST), parts.headers.get(header::ORIGIN));
        match refused.advice().filter(|_| first.is_some_and(is_first)) {
            Some(advice) => tracing::warn!(?host, ?origin, "{advice}"),
            None => tracing::debug!(?host, ?origin, code = refused.code(), "a request was refused"),
        }
    }
}

fn is_first(flag: &AtomicBool) -> bool {
    !flag.swap(true, Ordering::Relaxed)
}

fn report(error: &AuthError) {
    let detail = error as &(dyn std::error::Error + 'static);
    if error.is_unavailable() {
        tracing::error!(error = detail, "a request was refused");
    } else {
        tracing::debug!(error = detail, "a request was refused");
    }
}

impl fmt::Debug for AccessPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessPolicy")
            .field("has_hook", &self.hook.is_some())
            .field("anonymous", &self.anonymous)
            .field("hosts", &self.hosts)
            .field("cors", &self.cors)
            .finish_non_exhaustive()
    }
}
