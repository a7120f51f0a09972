use std::fmt;

use http::Extensions;
use omniassist_core::{JsonText, RunRequest, Text};

use crate::{Principal, RunContext};

/// An attempt of a client to begin a run, or of a model to call a tool.
///
/// Only the principal and the extensions are trustworthy.
#[derive(Clone, Copy)]
pub struct Attempt<'a> {
    principal: &'a Principal,
    extensions: &'a Extensions,
    target: Target<'a>,
}

#[derive(Clone, Copy)]
enum Target<'a> {
    Run(&'a RunRequest),
    Call { tool: &'a Text, arguments: &'a JsonText },
}

impl<'a> Attempt<'a> {
    /// Creates an attempt of this principal to begin a run.
    #[must_use]
    pub fn new(principal: &'a Principal, request: &'a RunRequest, extensions: &'a Extensions) -> Self {
        Self { principal, extensions, target: Target::Run(request) }
    }

    /// Creates an attempt of a run to call a tool.
    #[must_use]
    pub fn of_call(run: &'a RunContext, tool: &'a Text, arguments: &'a JsonText) -> Self {
        let target = Target::Call { tool, arguments };
        Self { principal: run.principal(), extensions: run.extensions(), target }
    }

    /// Returns the principal.
    #[must_use]
    pub fn principal(&self) -> &'a Principal {
        self.principal
    }

    /// Returns the extensions of the HTTP request.
    #[must_use]
    pub fn extensions(&self) -> &'a Extensions {
        self.extensions
    }

    /// Returns the posted request of a run that is about to begin. Its history is not verified yet, and
    /// has no messages of a [history loader](crate::AssistantBuilder::history_loader).
    #[must_use]
    pub fn request(&self) -> Option<&'a RunRequest> {
        match self.target {
            Target::Run(request) => Some(request),
            Target::Call { .. } => None,
        }
    }

    /// Returns the name of the tool that is about to run.
    #[must_use]
    pub fn tool(&self) -> Option<&'a str> {
        match self.target {
            Target::Run(_) => None,
            Target::Call { tool, .. } => Some(tool),
        }
    }

    /// Returns the arguments of the tool that is about to run.
    #[must_use]
    pub fn arguments(&self) -> Option<&'a JsonText> {
        match self.target {
            Target::Run(_) => None,
            Target::Call { arguments, .. } => Some(arguments),
        }
    }
}

impl fmt::Debug for Attempt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Attempt");
        shown.field("principal", self.principal).field("tool", &self.tool()).finish_non_exhaustive()
    }
}
