//! Ids of interrupts.

use crate::event::ApprovalRequest;
use crate::message::Approval;
use crate::{JsonText, Text};

/// The content of an interrupt's id.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Interrupt<'a> {
    /// Requests approval of a call.
    Approval { call_id: &'a str, signature: Option<&'a str> },
    /// Requests input by a form.
    Form { call_id: &'a str },
}

impl<'a> Interrupt<'a> {
    /// Returns the id of an interrupt that requests approval. It includes the signature of this server, because the
    /// client's answer contains nothing else of the interrupt.
    pub(super) fn of_approval(request: &ApprovalRequest) -> Text {
        format!("{}~{}", request.id, request.signature.as_deref().unwrap_or_default()).into()
    }

    /// Returns the id of an interrupt that requests input.
    pub(super) fn of_form(call_id: &str) -> Text {
        format!("input-{call_id}").into()
    }

    pub(super) fn parse(id: &'a str) -> Option<Self> {
        if let Some(call_id) = id.strip_prefix("input-") {
            return Some(Self::Form { call_id });
        }
        // The signature contains no `~`; the call's id may contain one.
        let (approval, signature) = id.rsplit_once('~')?;
        let call_id = approval.strip_prefix("approval-")?;
        Some(Self::Approval { call_id, signature: Some(signature).filter(|signature| !signature.is_empty()) })
    }

    pub(super) fn call_id(&self) -> &'a str {
        match self {
            Self::Approval { call_id, .. } | Self::Form { call_id } => call_id,
        }
    }
}

/// Returns the approval to store in a tool part.
pub(super) fn approval(call_id: &str, signature: Option<&str>) -> Approval {
    let mut approval = Approval::new(ApprovalRequest::id_of(call_id));
    approval.signature = signature.map(Text::from);
    approval
}

/// A call that the client's `resume` settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settled {
    pub(super) call_id: Text,
    /// The input of a form, or the reason why there is none.
    pub(super) form: Option<Result<JsonText, Text>>,
}
