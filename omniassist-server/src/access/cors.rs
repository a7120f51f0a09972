use std::time::Duration;

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};

use super::Refused;
use super::authority::Authority;
use super::origin::Origin;
use crate::{Error, Result};

/// Request headers that pages of listed origins may send: those of the dialects' clients and of tracing.
const REQUEST_HEADERS: [&str; 13] = [
    "accept",
    "authorization",
    "cache-control",
    "content-type",
    "idempotency-key",
    "last-event-id",
    "openai-beta",
    "openai-organization",
    "openai-project",
    "traceparent",
    "tracestate",
    "user-agent",
    "x-request-id",
];

/// Prefixes of further such headers: those of OpenAI's, CopilotKit's and MCP's clients.
const REQUEST_HEADER_FAMILIES: [&str; 4] = ["x-stainless-", "x-copilotkit-", "x-copilotcloud-", "mcp-"];

/// Response headers that pages of listed origins may read.
const RESPONSE_HEADERS: [&str; 6] = [
    "content-disposition",
    "retry-after",
    "www-authenticate",
    "x-request-id",
    "x-should-retry",
    "x-vercel-ai-ui-message-stream",
];

/// Further request headers of stored runs.
const STORED_REQUEST_HEADERS: [&str; 2] = ["prefer", "x-omniassist-when-busy"];

/// Further response headers of stored runs.
const STORED_RESPONSE_HEADERS: [&str; 4] =
    ["location", "x-omniassist-run", "x-workflow-run-id", "x-workflow-stream-tail-index"];

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, DELETE");
const STORED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");

/// Rules for pages of other origins (CORS). By default no other origin may use the assistant: its posts are refused, and
/// browsers keep responses from its pages.
///
/// Pages of a listed origin may post and read responses. `Access-Control-Allow-Origin` names their origin; it is never
/// `*`, and never an origin that is not listed.
///
/// ```
/// use omniassist_server::access::Cors;
/// use omniassist_server::testing::ScriptedProvider;
/// use omniassist_server::Assistant;
///
/// let cors = Cors::new().allow_origin("https://app.example.com").allow_credentials(true).allow_header("x-tenant");
/// let assistant = Assistant::builder(ScriptedProvider::new()).allow_anonymous().cors(cors).build()?;
///
/// let wrong = Assistant::builder(ScriptedProvider::new()).allow_origin("app.example.com").build();
/// assert!(wrong.is_err_and(|error| error.to_string().contains("app.example.com")));
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "settings do nothing until they are given to a builder"]
pub struct Cors {
    origins: Vec<String>,
    credentials: bool,
    request_headers: Vec<String>,
    response_headers: Vec<String>,
    max_age: Duration,
}

impl Default for Cors {
    fn default() -> Self {
        Self::new()
    }
}

impl Cors {
    /// Creates rules without listed origins.
    pub fn new() -> Self {
        Self {
            origins: Vec::new(),
            credentials: false,
            request_headers: Vec::new(),
            response_headers: Vec::new(),
            max_age: Duration::from_secs(600),
        }
    }

    /// Lists an origin: a scheme, a host and an optional port, as in `https://app.example.com` or
    /// `http://localhost:5173`. Names beyond ASCII are written in Punycode (`xn--…`), as browsers send them. `null` lists
    /// pages without an origin, such as sandboxed frames and local files. Every page can make itself one of these.
    /// Default: none.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Lets pages of listed origins send the user's cookies. They then act as the signed-in user, so list only origins
    /// that you run. Default: `false`.
    pub fn allow_credentials(mut self, allow: bool) -> Self {
        self.credentials = allow;
        self
    }

    /// Adds a request header that pages of listed origins may send. Default: those of the dialects' clients, and
    /// `authorization`.
    pub fn allow_header(mut self, name: impl Into<String>) -> Self {
        self.request_headers.push(name.into());
        self
    }

    /// Adds a response header of the application's layers that pages of listed origins may read. Default: the
    /// assistant's own.
    pub fn expose_header(mut self, name: impl Into<String>) -> Self {
        self.response_headers.push(name.into());
        self
    }

    /// Sets how long browsers may cache the answer to a preflight, in whole seconds. Default: 10 minutes.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    pub(super) fn check(&self, is_stored: bool) -> Result<Rules> {
        let mut rules = Rules { max_age: self.max_age.as_secs(), is_stored, ..Rules::default() };
        for written in &self.origins {
            rules.origins.push(serialised(written).ok_or_else(|| {
                let form =
                    "a scheme, a host and at most a port, as in `https://app.example.com:8443`, or `null`";
                Error::configuration(format!("allowed origin `{written}`: it must be {form}"))
            })?);
        }
        rules.credentials = self.credentials;
        for name in &self.request_headers {
            rules.request_headers.push(header_name(name)?);
        }
        let stored = STORED_RESPONSE_HEADERS.iter().filter(|_| is_stored);
        let names = RESPONSE_HEADERS.iter().chain(stored);
        let mut exposed: Vec<HeaderName> = names.copied().map(HeaderName::from_static).collect();
        for name in &self.response_headers {
            exposed.push(header_name(name)?);
        }
        rules.exposed = list(&exposed);
        Ok(rules)
    }
}

fn serialised(written: &str) -> Option<HeaderValue> {
    let text = match written {
        "null" => written.to_owned(),
        _ => Origin::parse(written)?.serialised(),
    };
    HeaderValue::from_str(&text).ok()
}

fn header_name(written: &str) -> Result<HeaderName> {
    let name = HeaderName::from_bytes(written.as_bytes()).ok().filter(|name| name != "*");
    name.ok_or_else(|| Error::configuration(format!("header `{written}`: not the name of a header")))
}

fn list(names: &[HeaderName]) -> Option<HeaderValue> {
    let names: Vec<&str> = names.iter().map(HeaderName::as_str).collect();
    HeaderValue::from_str(&names.join(", ")).ok()
}

/// The parsed form of [`Cors`].
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    origins: Vec<HeaderValue>,
    credentials: bool,
    request_headers: Vec<HeaderName>,
    exposed: Option<HeaderValue>,
    /// In seconds.
    max_age: u64,
    /// `true` if runs are stored, which have more headers and methods.
    is_stored: bool,
}

/// The origin of an accepted request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Visitor {
    /// No page, a page of the server's own origin, or a page that cannot read the response.
    Plain,
    /// A page of this listed origin.
    Listed(HeaderValue),
}

impl Rules {
    /// Checks the origin of a request for this host.
    ///
    /// Browsers send `Sec-Fetch-Site`, which no page can change. Old browsers do not, nor do others over plain HTTP under
    /// another name than localhost; then `Origin` must name the requested host. Requests with neither header do not come
    /// from a browser.
    pub(super) fn screen(&self, parts: &Parts, host: Option<&Authority>) -> Result<Visitor, Refused> {
        let mut origins = parts.headers.get_all(header::ORIGIN).iter();
        let (origin, second) = (origins.next(), origins.next());
        if let Some(listed) = origin.filter(|origin| self.origins.contains(origin)) {
            return if second.is_none() {
                Ok(Visitor::Listed(listed.clone()))
            } else {
                Err(Refused::OriginNotAllowed)
            };
        }
        // A request without effect is harmless, since the page cannot read the response. A WebSocket is not bound by that.
        if (matches!(parts.method, Method::GET | Method::HEAD)
            && !parts.headers.contains_key(header::UPGRADE))
            || (parts.method == Method::OPTIONS && !is_preflight(parts))
        {
            return Ok(Visitor::Plain);
        }
        let mut sites = parts.headers.get_all("sec-fetch-site").iter().peekable();
        let is_own = if sites.peek().is_some() {
            sites.all(|site| site == "same-origin" || site == "none")
        } else {
            let is_same_origin = |origin: &HeaderValue| {
                let origin = origin.to_str().ok().and_then(Origin::parse);
                origin.zip(host).is_some_and(|(origin, host)| origin.is_at(host))
            };
            second.is_none() && origin.is_none_or(is_same_origin)
        };
        if is_own { Ok(Visitor::Plain) } else { Err(Refused::OriginNotAllowed) }
    }

    /// Adds the headers that let the page of a listed origin read a response, and keep it from other pages.
    pub(super) fn add_headers(&self, visitor: &Visitor, headers: &mut HeaderMap) {
        if !self.origins.is_empty() {
            headers.append(header::VARY, HeaderValue::from_static("origin"));
        }
        match visitor {
            Visitor::Plain => {
                let same_origin = HeaderValue::from_static("same-origin");
                headers.insert("cross-origin-resource-policy", same_origin);
            }
            Visitor::Listed(origin) => {
                self.name(origin, headers);
                if let Some(exposed) = &self.exposed {
                    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed.clone());
                }
            }
        }
    }

    /// Adds the headers that answer the preflight of a listed origin.
    pub(super) fn permit(&self, parts: &Parts, origin: &HeaderValue, headers: &mut HeaderMap) {
        headers.append(
            header::VARY,
            HeaderValue::from_static("origin, access-control-request-method, access-control-request-headers"),
        );
        self.name(origin, headers);
        let methods = if self.is_stored { STORED_METHODS } else { METHODS };
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(self.max_age));
        let asked = parts.headers.get_all(header::ACCESS_CONTROL_REQUEST_HEADERS).iter();
        let asked = asked.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
        let mut allowed = Vec::new();
        for name in asked.filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok()) {
            if self.takes(&name) && !allowed.contains(&name) {
                allowed.push(name);
            }
        }
        if let Some(allowed) = list(&allowed).filter(|_| !allowed.is_empty()) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        }
    }

    fn takes(&self, name: &HeaderName) -> bool {
        REQUEST_HEADERS.contains(&name.as_str())
            || REQUEST_HEADER_FAMILIES.iter().any(|family| name.as_str().starts_with(family))
            || (self.is_stored && STORED_REQUEST_HEADERS.contains(&name.as_str()))
            || self.request_headers.contains(name)
    }

    fn name(&self, origin: &HeaderValue, headers: &mut HeaderMap) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        if self.credentials {
            headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
    }
}

pub(super) fn is_preflight(parts: &Parts) -> bool {
    parts.method == Method::OPTIONS && parts.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}
