use std::fmt;
use std::future::Future;
use std::pin::Pin;

use http::request::Parts;
use http::{Extensions, HeaderMap, Method, Uri, header};

use super::AuthError;
use crate::Principal;

/// What comes of an [`Authenticate`]: the principal, or `None` where the request says nothing of one.
pub type AuthFuture<'a> = Pin<Box<dyn Future<Output = Result<Option<Principal>, AuthError>> + Send + 'a>>;

/// Says whose request it is, by the host's own sessions, tokens or keys.
///
/// Asked once for each request, on every route, before anything of the body is read. Closures that take an
/// [`AuthRequest`] and give a future are hooks too; implement the trait to look at the request without the copy that
/// an `AuthRequest` is, or to keep a type of one's own.
///
/// - `Ok(Some(principal))`: this is who it is. It takes the place of a [`Principal`] in the request's extensions.
/// - `Ok(None)`: the hook knows nobody. A principal in the extensions stays; without one the request is refused,
///   unless [anonymous requests are allowed](crate::AssistantBuilder::allow_anonymous).
/// - `Err(…)`: the request is refused, as the [`AuthError`] says.
///
/// Nothing bounds how long it takes, so give what it waits for a timeout. A client that leaves drops the future. Where it
/// panics, the request is answered 500 `internal`.
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
    message = "`{Self}` cannot say whose request it is",
    label = "not an authentication hook",
    note = "a hook is a closure or function `async fn(AuthRequest) -> Result<Option<Principal>, AuthError>` whose future is `Send`, or implements `Authenticate`"
)]
pub trait Authenticate: Send + Sync + 'static {
    /// Says who sent a request with this head.
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

/// The head of a request, for a hook that is a closure: a copy, so that its future may keep it.
#[derive(Clone)]
pub struct AuthRequest {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    extensions: Extensions,
}

impl AuthRequest {
    /// A copy of this head.
    #[must_use]
    pub fn new(parts: &Parts) -> Self {
        Self {
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            headers: parts.headers.clone(),
            extensions: parts.extensions.clone(),
        }
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The address; its path is the one below the mount point where the framework cuts that off.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The extensions: what the host's layers put there.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// The bearer token; see [`bearer`].
    #[must_use]
    pub fn bearer(&self) -> Option<&str> {
        bearer(&self.headers)
    }
}

impl fmt::Debug for AuthRequest {
    /// Without headers and query, where secrets stand.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthRequest")
            .field("method", &self.method)
            .field("path", &self.uri.path())
            .finish_non_exhaustive()
    }
}

/// The token of `Authorization: Bearer …`, where OpenAI's clients send their key. `None` without one, with another
/// scheme, and where the header comes twice.
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

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn a_bearer_token_is_read_once() {
        let token = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(token(&["Bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(token(&["bearer  a b"]).as_deref(), Some("a b"));
        for values in
            [&[][..], &["Basic abc"], &["Bearer"], &["Bearer "], &["Bearerabc"], &["Bearer a", "Bearer b"]]
        {
            assert_eq!(token(values), None, "{values:?}");
        }
    }

    #[test]
    fn no_secret_is_printed() {
        let request =
            Request::get("/x?token=canary").header("authorization", "Bearer canary").body(()).unwrap();
        let printed = format!("{:?}", AuthRequest::new(&request.into_parts().0));
        assert!(printed.contains("/x") && !printed.contains("canary"), "{printed}");
    }
}
