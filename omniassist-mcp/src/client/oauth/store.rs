use std::collections::HashMap;
use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};

use omniassist_core::Text;
use omniassist_server::{BoxError, Principal};
use secrecy::SecretString;

use crate::sync::lock;

/// The future of a [`CredentialStore`]'s method.
pub type CredentialFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send + 'a>>;

/// A store of the OAuth credentials that users have for MCP servers.
///
/// The values are secrets. A store that keeps them on a disk encrypts them. [`MemoryCredentialStore`] keeps them until the
/// process ends. If several processes serve the same users, they need a store that they share.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store of credentials",
    label = "does not implement `CredentialStore`",
    note = "implement `CredentialStore`, or use a `MemoryCredentialStore`"
)]
pub trait CredentialStore: Send + Sync + 'static {
    /// Returns a value, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be read.
    fn get<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, Option<SecretString>>;

    /// Stores a value in place of the one before.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be written.
    fn put<'a>(&'a self, key: &'a CredentialKey, value: SecretString) -> CredentialFuture<'a, ()>;

    /// Removes a value and returns it. If two callers remove it at the same time, one of them receives it. An authorization
    /// can therefore be finished once only.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be removed.
    fn remove<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, Option<SecretString>>;
}

/// The key of a value in a [`CredentialStore`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CredentialKey {
    server: Text,
    principal: Principal,
    kind: CredentialKind,
}

/// The kind of a value in a [`CredentialStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CredentialKind {
    /// The tokens of a user, for one URL of the server. They stay until they are removed, or the authorization server refuses
    /// them.
    Tokens,
    /// An authorization that has begun. It is of no use after 10 minutes.
    Authorization,
}

impl CredentialKind {
    /// Returns the name of the kind: `tokens` or `authorization`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Authorization => "authorization",
        }
    }
}

impl CredentialKey {
    pub(super) fn new(server: Text, principal: Principal, kind: CredentialKind) -> Self {
        Self { server, principal, kind }
    }

    /// Returns the name of the MCP server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the user.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Returns the kind of the value.
    #[must_use]
    pub fn kind(&self) -> CredentialKind {
        self.kind
    }
}

/// A [`CredentialStore`] in memory. Clones share the values.
#[derive(Clone, Default)]
pub struct MemoryCredentialStore {
    values: Arc<Mutex<HashMap<CredentialKey, SecretString>>>,
}

impl MemoryCredentialStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn values(&self) -> MutexGuard<'_, HashMap<CredentialKey, SecretString>> {
        lock(&self.values)
    }
}

impl CredentialStore for MemoryCredentialStore {
    fn get<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, Option<SecretString>> {
        Box::pin(ready(Ok(self.values().get(key).cloned())))
    }

    fn put<'a>(&'a self, key: &'a CredentialKey, value: SecretString) -> CredentialFuture<'a, ()> {
        self.values().insert(key.clone(), value);
        Box::pin(ready(Ok(())))
    }

    fn remove<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, Option<SecretString>> {
        Box::pin(ready(Ok(self.values().remove(key))))
    }
}

impl fmt::Debug for MemoryCredentialStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryCredentialStore").field("values", &self.values().len()).finish()
    }
}
