//! Ids of the questions that a run waits for.

use crate::event::ApprovalRequest;
use crate::message::Approval;
use crate::{JsonText, Text};

/// The content of an interrupt's id.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Interrupt<'a> {
    /// A call waits for an approval.
    Approval { call_id: &'a str, signature: Option<&'a str> },
    /// A call is a form.
    Form { call_id: &'a str },
}

impl<'a> Interrupt<'a> {
    /// The id of the interrupt that asks for an approval. It carries the proof that this server asked, since an answer
    /// holds nothing else of the interrupt.
    pub(super) fn of_approval(request: &ApprovalRequest) -> Text {
        format!("{}~{}", request.id, request.signature.as_deref().unwrap_or_default()).into()
    }

    /// The id of the interrupt that asks for a form.
    pub(super) fn of_form(call_id: &str) -> Text {
        format!("input-{call_id}").into()
    }

    pub(super) fn parse(id: &'a str) -> Option<Self> {
        if let Some(call_id) = id.strip_prefix("input-") {
            return Some(Self::Form { call_id });
        }
        // The signature has no `~`, the call's id may have one.
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

/// Returns the request for approval that a tool part stores.
pub(super) fn approval(call_id: &str, signature: Option<&str>) -> Approval {
    let mut approval = Approval::new(ApprovalRequest::id_of(call_id));
    approval.signature = signature.map(Text::from);
    approval
}

/// A call that an answer settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settled {
    pub(super) call_id: Text,
    /// The result of a form, or the reason for none.
    pub(super) form: Option<Result<JsonText, Text>>,
}
