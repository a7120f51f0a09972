use std::fmt;

use crate::Text;

/// An event that nothing comes of. The stream goes on with the next one.
///
/// It names the event's type and the field; nothing of the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    reason: SkipReason,
    event_type: Option<Text>,
    field: Option<&'static str>,
}

/// Why an event was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// It is not JSON, or not an object.
    NotAnEvent,
    /// A field that it must have is missing, null or empty; [`Skipped::field`] says which.
    MissingField,
    /// A field is of another kind than it should be, or there twice.
    InvalidField,
    /// Its type is none of the vocabulary. Runtimes report more than a chat shows.
    UnknownType,
    /// It repeats what was said of a tool call before.
    Repeated,
    /// The message was over.
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

    /// Why.
    #[must_use]
    pub fn reason(&self) -> SkipReason {
        self.reason
    }

    /// The type of the event, where it has one.
    #[must_use]
    pub fn event_type(&self) -> Option<&str> {
        self.event_type.as_deref()
    }

    /// The field that is missing or wrong.
    #[must_use]
    pub fn field(&self) -> Option<&'static str> {
        self.field
    }

    /// Whether the runtime broke the rules of its events, and did not only report what a chat does not show.
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
            SkipReason::InvalidField => "a field is not what it should be",
            SkipReason::UnknownType => "its type is not known",
            SkipReason::Repeated => "it repeats what is known of the call",
            SkipReason::AfterTheEnd => "the message is over",
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
