use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::request::Parts;
use http::{Extensions, HeaderMap, header};

use super::cors::{Cors, Rules, Visitor, is_preflight};
use super::hosts::Hosts;
use super::{AuthError, Authenticate, Refused};
use crate::quota::Quota;
use crate::{Principal, Result, one_line, panics};

/// The application's rules for access to the assistant over HTTP.
#[derive(Clone, Default)]
pub(crate) struct AccessPolicy {
    pub(crate) hook: Option<Arc<dyn Authenticate>>,
    pub(crate) anonymous: bool,
    pub(crate) hosts: Hosts,
    pub(crate) cors: Cors,
    rules: Rules,
    /// Counts the memory of request bodies.
    pub(crate) uploads: Arc<Quota>,
    /// Counts WebSockets.
    #[cfg(feature = "ws")]
    pub(crate) sockets: Arc<Quota>,
    warned: Arc<Warned>,
}

/// Warnings that were already logged. Each is logged once.
#[derive(Debug, Default)]
struct Warned {
    unauthenticated: AtomicBool,
    refused_host: AtomicBool,
    refused_origin: AtomicBool,
    unknown_peer: AtomicBool,
}

impl AccessPolicy {
    /// Parses and checks the configured hosts and origins, for an assistant with or without a store of runs.
    pub(crate) fn checked(mut self, is_stored: bool) -> Result<Self> {
        self.rules = self.cors.check(is_stored)?;
        self.hosts.check()?;
        Ok(self)
    }

    /// Checks the host that a request names and the origin that it comes from.
    pub(crate) fn screen(&self, parts: &Parts) -> Result<Visitor, Refused> {
        if !self.hosts.can_tell(parts) && is_first(&self.warned.unknown_peer) {
            tracing::warn!(
                "the address of the peer is unknown, so a page that points its own name at this machine (DNS \
                 rebinding) cannot be detected: pass the address on (axum: \
                 `into_make_service_with_connect_info::<SocketAddr>()`, hyper: `.peer(address)`), or list the hosts of \
                 this server with `AssistantBuilder::allowed_hosts`"
            );
        }
        let host = self.hosts.screen(parts);
        let visitor = host.and_then(|host| self.rules.screen(parts, host.as_ref()));
        visitor.inspect_err(|refused| self.report_refused(*refused, parts))
    }

    /// Authenticates a request and inserts its principal into the extensions.
    ///
    /// # Errors
    ///
    /// Returns an error if the hook refuses the request or panics, or if no principal is known and anonymous requests are not
    /// allowed.
    pub(crate) async fn identify(&self, parts: &mut Parts) -> Result<(), AuthError> {
        if let Some(hook) = &self.hook {
            let answer =
                panics::catch_async("the authentication hook", async { hook.authenticate(parts).await });
            let answer = answer.await.unwrap_or_else(|| Err(AuthError::internal()));
            if let Some(principal) = answer.inspect_err(report)? {
                parts.extensions.insert(principal);
            }
        }
        self.require_principal(&parts.extensions)
    }

    /// Requires a principal in the extensions, unless anonymous requests are allowed.
    ///
    /// # Errors
    ///
    /// Returns an error if there is none.
    pub(crate) fn require_principal(&self, extensions: &Extensions) -> Result<(), AuthError> {
        if self.anonymous || extensions.get::<Principal>().is_some() {
            return Ok(());
        }
        // With a hook, unauthenticated requests are expected.
        if self.hook.is_none() && is_first(&self.warned.unauthenticated) {
            tracing::warn!(
                "refused a request without a principal (401 unauthenticated), and will refuse others: insert a \
                 `Principal` into the request's extensions, set a hook with `AssistantBuilder::authenticate`, or \
                 allow anonymous requests with `AssistantBuilder::allow_anonymous`"
            );
        }
        Err(AuthError::unauthenticated())
    }

    /// Returns the headers that answer the CORS preflight of a listed origin; `None` for any other request.
    pub(crate) fn preflight(&self, parts: &Parts, visitor: &Visitor) -> Option<HeaderMap> {
        let Visitor::Listed(origin) = visitor else { return None };
        is_preflight(parts).then(|| {
            let mut headers = HeaderMap::new();
            self.rules.permit(parts, origin, &mut headers);
            headers
        })
    }

    /// Adds the headers that let the page of a listed origin read a response, and keep it from other pages.
    pub(crate) fn add_headers(&self, visitor: &Visitor, headers: &mut HeaderMap) {
        self.rules.add_headers(visitor, headers);
    }

    fn report_refused(&self, refused: Refused, parts: &Parts) {
        let first = match refused {
            Refused::InvalidHost => None,
            Refused::HostNotAllowed => Some(&self.warned.refused_host),
            Refused::OriginNotAllowed => Some(&self.warned.refused_origin),
        };
        let (host, origin) = (parts.headers.get(header::HOST), parts.headers.get(header::ORIGIN));
        match refused.advice().filter(|_| first.is_some_and(is_first)) {
            Some(advice) => tracing::warn!(?host, ?origin, "{advice}"),
            None => tracing::debug!(?host, ?origin, code = refused.answer().1, "a request was refused"),
        }
    }
}

fn is_first(flag: &AtomicBool) -> bool {
    !flag.swap(true, Ordering::Relaxed)
}

fn report(error: &AuthError) {
    let detail = one_line::chain(error);
    if error.is_unavailable() {
        tracing::error!(error = %detail, "a request was refused");
    } else {
        tracing::debug!(error = %detail, "a request was refused");
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
