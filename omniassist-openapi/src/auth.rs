use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use omniassist_server::Principal;
use secrecy::{ExposeSecret, SecretString};

/// The credentials for a server: the same for all users, or those of the user of a run.
///
/// They are added to requests after the model has chosen the arguments. The model never sees them, and they are removed
/// from responses that repeat them.
#[derive(Clone)]
pub struct Auth {
    pub(crate) form: Form,
    source: Source,
}

/// The scheme that credentials are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    ApiKey,
    Bearer,
    Basic,
    /// The scheme of the document decides.
    Any,
}

#[derive(Clone)]
enum Source {
    Fixed(SecretString),
    PerPrincipal(Arc<Lookup>),
}

type Lookup = dyn Fn(Principal) -> Pin<Box<dyn Future<Output = Option<SecretString>> + Send>> + Send + Sync;

impl Auth {
    fn fixed(form: Form, secret: impl Into<SecretString>) -> Self {
        Self { form, source: Source::Fixed(secret.into()) }
    }

    /// Creates a token for `Authorization: Bearer`, for schemes of the types `http` (`bearer`), `oauth2` and
    /// `openIdConnect`.
    #[must_use]
    pub fn bearer(token: impl Into<SecretString>) -> Self {
        Self::fixed(Form::Bearer, token)
    }

    /// Creates an API key. The scheme of the document names the header, the query parameter or the cookie.
    #[must_use]
    pub fn api_key(key: impl Into<SecretString>) -> Self {
        Self::fixed(Form::ApiKey, key)
    }

    /// Creates a user name and password for `Authorization: Basic`.
    #[must_use]
    pub fn basic(user: &str, password: &str) -> Self {
        Self::fixed(Form::Basic, format!("{user}:{password}"))
    }

    /// Creates credentials that are looked up for the user of each call: a token or an API key, or for a scheme of the type
    /// `basic` the text `user:password`. On `None` the server is not called, and the model reads that the user has no access.
    ///
    /// ```
    /// use omniassist_openapi::Auth;
    /// use omniassist_server::Principal;
    ///
    /// let auth = Auth::per_principal(async |user: Principal| match user.id() {
    ///     "ann" => Some("token of Ann".into()),
    ///     _ => None,
    /// });
    /// # let _ = auth;
    /// ```
    #[must_use]
    pub fn per_principal<F, R>(lookup: F) -> Self
    where
        F: Fn(Principal) -> R + Send + Sync + 'static,
        R: Future<Output = Option<SecretString>> + Send + 'static,
    {
        let lookup = move |user| -> Pin<Box<dyn Future<Output = Option<SecretString>> + Send>> {
            Box::pin(lookup(user))
        };
        Self { form: Form::Any, source: Source::PerPrincipal(Arc::new(lookup)) }
    }

    pub(crate) async fn secret(&self, user: &Principal) -> Option<SecretString> {
        match &self.source {
            Source::Fixed(secret) => Some(secret.clone()),
            Source::PerPrincipal(lookup) => lookup(user.clone()).await,
        }
    }
}

/// Returns the text of the `Authorization` header for a user name and password.
pub(crate) fn basic(secret: &SecretString) -> String {
    format!("Basic {}", STANDARD.encode(secret.expose_secret()))
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth").field("form", &self.form).finish_non_exhaustive()
    }
}
