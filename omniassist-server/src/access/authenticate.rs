use std::fmt;
use std::future::Future;
use std::pin::Pin;

use http::request::Parts;
use http::{Extensions, HeaderMap, Method, Uri, header};

use super::AuthError;
use crate::Principal;

/// The future of an [`Authenticate`] hook: the principal, or `None` for a request without credentials.
pub type AuthFuture<'a> = Pin<Box<dyn Future<Output = Result<Option<Principal>, AuthError>> + Send + 'a>>;

/// Authenticates requests by the application's sessions, tokens or keys.
///
/// The hook is called once for each request, on every route, before the body is read. Closures that take an
/// [`AuthRequest`] and return a future are hooks. Implement the trait to avoid the copy of the head that an
/// `AuthRequest` is, or to use a named type.
///
/// - `Ok(Some(principal))`: the request acts for this principal, which replaces a [`Principal`] in the extensions.
/// - `Ok(None)`: the request has no credentials. A principal in the extensions stays. Without one the request is
///   refused, unless [anonymous requests are allowed](crate::AssistantBuilder::allow_anonymous).
/// - `Err(…)`: the request is refused with the [`AuthError`].
///
/// The duration is not bounded, so set timeouts in the hook. A client that disconnects drops the future.
/// If the hook panics, the request is answered 500 `internal`.
///
/// ```
/// use http::request::Parts;
/// use omniassist_server::Principal;
/// use omniassist_server::access::{AuthError, AuthFuture, Authenticate, bearer};
///
/// struct ApiKeys;
///
/// impl ApiKeys {
///     async fn owner(&self, key: &str) -> std::io::Result<Option<Principal>> {
///         Ok((key == "k-7").then(|| Principal::new("shop-7")))
///     }
/// }
///
/// impl Authenticate for ApiKeys {
///     fn authenticate<'a>(&'a self, parts: &'a Parts) -> AuthFuture<'a> {
///         Box::pin(async move {
///             let Some(key) = bearer(&parts.headers) else { return Ok(None) };
///             let owner = self.owner(key).await.map_err(|error| AuthError::unavailable().with_source(error))?;
///             owner.map(Some).ok_or_else(AuthError::unauthenticated)
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot authenticate requests",
    label = "not an authentication hook",
    note = "a hook is a closure or function `async fn(AuthRequest) -> Result<Option<Principal>, AuthError>` whose future is `Send`, or implements `Authenticate`"
)]
pub trait Authenticate: Send + Sync + 'static {
    /// Authenticates a request by its head.
    fn authenticate<'a>(&'a self, parts: &'a Parts) -> AuthFuture<'a>;
}

impl<F, Fut> Authenticate for F
where
    F: Fn(AuthRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Option<Principal>, AuthError>> + Send + 'static,
{
    fn authenticate<'a>(&'a self, parts: &'a Parts) -> AuthFuture<'a> {
        Box::pin(self(AuthRequest::new(parts)))
    }
}

/// A copy of a request's head, for hooks that are closures. Their futures may keep it.
#[derive(Clone)]
pub struct AuthRequest {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    extensions: Extensions,
}

impl AuthRequest {
    /// Copies a request's head.
    #[must_use]
    pub fn new(parts: &Parts) -> Self {
        Self {
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            headers: parts.headers.clone(),
            extensions: parts.extensions.clone(),
        }
    }

    /// Returns the method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the URI. Its path is the one below the mount point if the framework cuts off the rest.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the extensions, with the values of the application's layers.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// Returns the bearer token; see [`bearer`].
    #[must_use]
    pub fn bearer(&self) -> Option<&str> {
        bearer(&self.headers)
    }
}

impl fmt::Debug for AuthRequest {
    /// Leaves out headers and query, which hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthRequest")
            .field("method", &self.method)
            .field("path", &self.uri.path())
            .finish_non_exhaustive()
    }
}

/// Returns the token of `Authorization: Bearer …`, where OpenAI's clients send their key. Returns `None` without such a
/// header, with another scheme, and if the header is repeated.
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
