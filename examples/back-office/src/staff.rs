//! The members of the staff. A real application has them in its database.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omniassist_axum::tool::{FromRun, FromToolCall, StateMap, ToolContext, ToolError};
use omniassist_axum::{AuthError, AuthRequest, Principal, RunContext};

/// The roles. Each may do what the roles before it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Viewer,
    Agent,
    Admin,
}

/// A member of the staff.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    token: &'static str,
    pub(crate) role: Role,
    /// The branch, which pays for the tokens of its members.
    pub(crate) branch: &'static str,
}

const STAFF: [Member; 4] = [
    Member { name: "vera", token: "vera-token", role: Role::Viewer, branch: "north" },
    Member { name: "alan", token: "alan-token", role: Role::Agent, branch: "north" },
    Member { name: "ada", token: "ada-token", role: Role::Admin, branch: "north" },
    Member { name: "tom", token: "tom-token", role: Role::Agent, branch: "trial" },
];

impl Member {
    pub(crate) fn named(name: &str) -> Option<Self> {
        STAFF.into_iter().find(|member| member.name == name)
    }

    pub(crate) fn with_token(token: &str) -> Option<Self> {
        STAFF.into_iter().find(|member| member.token == token)
    }
}

/// Finds the principal of a request by its bearer token. OpenAI's clients send their API key there.
pub(crate) async fn sign_in(request: AuthRequest) -> Result<Option<Principal>, AuthError> {
    let Some(token) = request.bearer() else { return Ok(None) };
    let member = Member::with_token(token).ok_or_else(AuthError::unauthenticated)?;
    Ok(Some(Principal::new(member.name)))
}

/// Makes `Member` a parameter of `prepare`.
impl FromRun for Member {
    fn from_run(run: &RunContext, _: &StateMap) -> Result<Self, ToolError> {
        Self::named(run.principal().id()).ok_or_else(|| ToolError::new("You are not a member of the staff."))
    }
}

/// Makes `Member` a parameter of tools.
impl FromToolCall for Member {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        call.extract()
    }
}

/// The members who may not use the assistant. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Suspended(Arc<Mutex<HashSet<&'static str>>>);

impl Suspended {
    fn lock(&self) -> MutexGuard<'_, HashSet<&'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn contains(&self, member: Member) -> bool {
        self.lock().contains(member.name)
    }

    pub(crate) fn add(&self, member: Member) {
        self.lock().insert(member.name);
    }
}

/// Returns the condition that a caller has this role or a higher one.
pub(crate) fn has_role(role: Role) -> impl Fn(&RunContext) -> bool + Send + Sync + 'static {
    move |run| Member::named(run.principal().id()).is_some_and(|member| member.role >= role)
}
