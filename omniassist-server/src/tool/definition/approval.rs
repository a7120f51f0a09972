use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use omniassist_core::run::Gate;
use omniassist_core::{JsonText, Text};
use serde::de::DeserializeOwned;

use crate::Principal;
use crate::tool::typed;

/// A policy that decides which calls of a tool need an approval, with the question for the user.
///
/// The user sees the arguments, and an approved call runs with exactly these. An answer counts only with this server's
/// proof that it asked, for [`Limits::approval_lifetime`](omniassist_core::Limits::approval_lifetime), and once. If the
/// client cannot ask, the call does not run, and the model reads the reason.
///
/// The policy decides when the model makes the call, and again before an approved call runs. The second time it can still
/// refuse the call, but it can no longer ask.
///
/// ```
/// use omniassist_server::tool::{Approval, ApprovalDecision, Args, Tool, ToolError};
/// use omniassist_server::Principal;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Refund {
///     order: u64,
///     cents: u64,
/// }
///
/// async fn refund(Args(refund): Args<Refund>) -> Result<String, ToolError> {
///     Ok(format!("Refunded {} cents for order {}.", refund.cents, refund.order))
/// }
///
/// let always = Tool::new("refund", "Gives money back", refund).requires_approval(Approval::always());
/// let large = Tool::new("refund", "Gives money back", refund)
///     .requires_approval(Approval::when(|refund: &Refund, _: &Principal| refund.cents > 10_000));
/// let policy = Approval::decide(|refund: &Refund, user: &Principal| match refund.cents {
///     0..=1_000 => ApprovalDecision::Allow,
///     _ if user.is_anonymous() => ApprovalDecision::Refuse("Sign in first.".into()),
///     _ => ApprovalDecision::Ask,
/// });
/// let mixed = Tool::new("refund", "Gives money back", refund).requires_approval(policy.message("Give this back?"));
/// ```
#[derive(Clone)]
#[must_use = "a policy does nothing until a tool has it"]
pub struct Approval {
    decide: Arc<Decide>,
    message: Option<Text>,
    editable: bool,
}

type Decide = dyn Fn(&JsonText, &Principal) -> ApprovalDecision + Send + Sync;

/// The decision of a policy about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalDecision {
    /// The call runs.
    Allow,
    /// The call needs the user's approval.
    Ask,
    /// The call does not run. The user and the model read the reason.
    Refuse(Text),
}

impl Approval {
    fn new(decide: impl Fn(&JsonText, &Principal) -> ApprovalDecision + Send + Sync + 'static) -> Self {
        Self { decide: Arc::new(decide), message: None, editable: false }
    }

    /// Creates a policy that asks for every call.
    pub fn always() -> Self {
        Self::new(|_, _| ApprovalDecision::Ask)
    }

    /// Creates a policy that asks for the calls for which the closure returns `true`. The others run. Arguments that are
    /// not a `T` need an approval too.
    pub fn when<T: DeserializeOwned>(
        needed: impl Fn(&T, &Principal) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::decide(move |arguments: &T, principal: &Principal| {
            if needed(arguments, principal) { ApprovalDecision::Ask } else { ApprovalDecision::Allow }
        })
    }

    /// Creates a policy that decides each call. A call whose arguments are not a `T` needs an approval. A policy that
    /// panics refuses the call.
    pub fn decide<T: DeserializeOwned>(
        decide: impl Fn(&T, &Principal) -> ApprovalDecision + Send + Sync + 'static,
    ) -> Self {
        Self::new(move |arguments, principal| match typed::read::<T>(arguments) {
            Ok(arguments) => decide(&arguments, principal),
            Err(_) => ApprovalDecision::Ask,
        })
    }

    /// Sets the question for the user. The tool's [`summary`](crate::Tool::summary) follows it. AG-UI and CopilotKit
    /// show the question. Pages of the AI SDK read it from the message's
    /// `metadata.omniassist.approvals[toolCallId].message`. Default: the tool's title and summary. Without a summary
    /// there is no question, and clients show the tool and its arguments.
    pub fn message(mut self, message: impl Into<Text>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Lets the user change the arguments before approving, in clients that support it (the widget, AG-UI, CopilotKit).
    /// Pages of the AI SDK read `metadata.omniassist.approvals[toolCallId].editable` and post the arguments as
    /// `approval.arguments` of the part. Changed arguments are checked against the schema, and the policy can refuse them.
    /// Default: the call runs as shown.
    pub fn editable(mut self) -> Self {
        self.editable = true;
        self
    }

    pub(in crate::tool) fn gate(&self, tool: &str, arguments: &JsonText, principal: &Principal) -> Gate {
        let decision = catch_unwind(AssertUnwindSafe(|| (self.decide)(arguments, principal)));
        match decision {
            Ok(ApprovalDecision::Allow) => Gate::Open,
            Ok(ApprovalDecision::Ask) => {
                Gate::Approval { message: self.message.clone(), editable: self.editable }
            }
            Ok(ApprovalDecision::Refuse(reason)) => Gate::Refused { reason },
            Err(_) => {
                tracing::error!(tool, "the approval policy panicked; the call is refused");
                Gate::Refused { reason: Text::from_static("This call could not be checked; it was not run.") }
            }
        }
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval")
            .field("message", &self.message)
            .field("editable", &self.editable)
            .finish_non_exhaustive()
    }
}
