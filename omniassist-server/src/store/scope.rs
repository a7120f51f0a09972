use std::fmt;

use omniassist_core::Text;

use crate::Principal;

/// The owner of conversations and runs.
///
/// A store finds nothing that belongs to another scope, and does not tell it from what does not exist. Anonymous
/// principals have no scope, since all of them would share it.
///
/// ```
/// use omniassist_server::{Principal, store::Scope};
///
/// assert_eq!(Scope::of(&Principal::new("user-7")).unwrap().owner(), "user-7");
/// assert!(Scope::of(&Principal::anonymous()).is_none());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope(Text);

impl Scope {
    /// Creates the scope of an owner that the store names.
    #[must_use]
    pub fn new(owner: impl Into<Text>) -> Self {
        Self(owner.into())
    }

    /// Returns the scope of a principal, or `None` for the anonymous one.
    #[must_use]
    pub fn of(principal: &Principal) -> Option<Self> {
        principal.known_id().map(Self::new)
    }

    /// Returns the id of the principal.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scope({})", self.0)
    }
}
