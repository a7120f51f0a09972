use std::fmt;

use crate::Text;

/// An upstream event that was ignored. The stream continues with the next one.
///
/// It contains the type and the field of the event, but none of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    reason: SkipReason,
    event_type: Option<Text>,
    field: Option<&'static str>,
}

/// The reason for skipping an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// The event is not a JSON object.
    NotAnEvent,
    /// A required field is missing, null or empty; see [`Skipped::field`].
    MissingField,
    /// A field has the wrong type, or occurs twice.
    InvalidField,
    /// The type is unknown. Runtimes report more than a chat shows.
    UnknownType,
    /// The event repeats an earlier report of a tool call.
    Repeated,
    /// The message was complete.
    AfterTheEnd,
}

impl Skipped {
    pub(super) fn new(reason: SkipReason) -> Self {
        Self { reason, event_type: None, field: None }
    }

    pub(super) fn of(mut self, event_type: impl Into<Text>) -> Self {
        self.event_type = Some(event_type.into());
        self
    }

    pub(super) fn at(mut self, field: &'static str) -> Self {
        self.field = Some(field);
        self
    }

    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> SkipReason {
        self.reason
    }

    /// Returns the type of the event, if it has one.
    #[must_use]
    pub fn event_type(&self) -> Option<&str> {
        self.event_type.as_deref()
    }

    /// Returns the field that is missing or not valid.
    #[must_use]
    pub fn field(&self) -> Option<&'static str> {
        self.field
    }

    /// Returns `true` if the event breaks the protocol. Events that a chat does not show are not faults.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        !matches!(self.reason, SkipReason::UnknownType | SkipReason::AfterTheEnd)
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.reason {
            SkipReason::NotAnEvent => "it is not a JSON object",
            SkipReason::MissingField => "a field is missing",
            SkipReason::InvalidField => "a field is not valid",
            SkipReason::UnknownType => "its type is unknown",
            SkipReason::Repeated => "it repeats an earlier report of the call",
            SkipReason::AfterTheEnd => "the message is complete",
        };
        write!(f, "event skipped: {why}")?;
        if let Some(event_type) = &self.event_type {
            write!(f, ", type {event_type:?}")?;
        }
        if let Some(field) = self.field {
            write!(f, ", field {field:?}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Skipped {}
