use std::fmt;
use std::sync::Arc;

/// The user or service that a request acts for, as authenticated by the application.
///
/// Insert one into the request's extensions, for example in an authentication middleware, or set an
/// [authentication hook](crate::AssistantBuilder::authenticate). Tools take the principal as a parameter, and limits are
/// counted per principal. A request without a principal is refused unless the assistant
/// [allows anonymous requests](crate::AssistantBuilder::allow_anonymous). A run that the application starts itself, with
/// [`Assistant::run`](crate::Assistant::run), is anonymous.
///
/// ```
/// use omniassist_server::Principal;
///
/// let session_user = String::from("user-7");
/// assert_eq!(Principal::new(&session_user).id(), "user-7");
/// assert!(Principal::anonymous().is_anonymous());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Principal(Option<Arc<str>>);

impl Principal {
    /// Creates a named principal. The id must identify exactly one user or service of the application.
    #[must_use]
    pub fn new(id: impl AsRef<str>) -> Self {
        Self(Some(id.as_ref().into()))
    }

    /// Creates the anonymous principal. In a request's extensions it admits the request without authentication.
    #[must_use]
    pub const fn anonymous() -> Self {
        Self(None)
    }

    /// Returns the id; an empty string for the anonymous principal.
    #[must_use]
    pub fn id(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the id of a named principal.
    pub(crate) fn known_id(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Returns `true` for the anonymous principal.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("anonymous"))
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({self})")
    }
}
