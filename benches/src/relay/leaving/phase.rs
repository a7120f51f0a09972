//! The phases in which a client leaves.

/// The activity of the run when its client leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The provider has the request and has not answered.
    FirstByte,
    /// The model sends text.
    Text,
    /// A tool runs.
    Tool,
    /// The client has just read the output of a tool.
    Steps,
    /// The provider has answered 429, and the request is repeated after a second.
    Retry,
}

impl Phase {
    pub(super) const ALL: [Self; 5] = [Self::FirstByte, Self::Text, Self::Tool, Self::Steps, Self::Retry];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::FirstByte => "before the first byte",
            Self::Text => "in the middle of text",
            Self::Tool => "in the middle of a tool",
            Self::Steps => "between steps",
            Self::Retry => "while a retry is awaited",
        }
    }

    /// Returns the text that the client reads before it leaves.
    pub(super) fn last_read(self) -> &'static str {
        match self {
            Self::FirstByte | Self::Retry => r#""type":"start""#,
            Self::Text => r#""type":"text-delta""#,
            Self::Tool => r#""type":"tool-input-available""#,
            Self::Steps => r#""type":"tool-output-available""#,
        }
    }

    /// Returns the phase of a request to the provider. The client's message contains its name.
    pub(super) fn of_request(body: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| memchr::memmem::find(body, phase.name().as_bytes()).is_some())
    }
}
