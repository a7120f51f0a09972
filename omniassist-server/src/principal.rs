use std::fmt;
use std::sync::Arc;

/// Who a run is for, as the host's authentication says.
///
/// Put one into the request's extensions (in an authentication middleware, say); tools then take it as a parameter,
/// and limits are kept per principal. Or give the assistant a [hook](crate::AssistantBuilder::authenticate) that says who
/// it is. A request without one is refused, unless [anonymous ones are allowed](crate::AssistantBuilder::allow_anonymous);
/// a run in process without one is anonymous.
///
/// ```
/// use omniassist_server::Principal;
///
/// assert_eq!(Principal::new("user-7").id(), "user-7");
/// assert!(Principal::anonymous().is_anonymous());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Principal(Option<Arc<str>>);

impl Principal {
    /// A known principal. The id must name exactly one user or service of the host.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(Some(id.into()))
    }

    /// Nobody in particular. In a request's extensions, it says that the host serves this request all the same.
    #[must_use]
    pub const fn anonymous() -> Self {
        Self(None)
    }

    /// The id; empty for an anonymous principal.
    #[must_use]
    pub fn id(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The id of a known principal.
    pub(crate) fn known_id(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Whether nobody was authenticated.
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
