use omniassist_core::Text;

/// The client's id of a run, in the extensions of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientRun(pub(crate) Text);
