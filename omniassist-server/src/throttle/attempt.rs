use std::fmt;

use http::Extensions;
use omniassist_core::RunRequest;

use crate::Principal;

/// A run that a client wants to begin. Only the principal and the extensions are trustworthy.
#[derive(Clone, Copy)]
pub struct RunAttempt<'a> {
    principal: &'a Principal,
    request: &'a RunRequest,
    extensions: &'a Extensions,
}

impl<'a> RunAttempt<'a> {
    /// Creates an attempt of this principal.
    #[must_use]
    pub fn new(principal: &'a Principal, request: &'a RunRequest, extensions: &'a Extensions) -> Self {
        Self { principal, request, extensions }
    }

    /// Returns the principal.
    #[must_use]
    pub fn principal(&self) -> &'a Principal {
        self.principal
    }

    /// Returns the posted request. Its history is not verified yet.
    #[must_use]
    pub fn request(&self) -> &'a RunRequest {
        self.request
    }

    /// Returns the extensions of the HTTP request.
    #[must_use]
    pub fn extensions(&self) -> &'a Extensions {
        self.extensions
    }
}

impl fmt::Debug for RunAttempt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunAttempt").field("principal", self.principal).finish_non_exhaustive()
    }
}
