use bytes::BytesMut;

use crate::Text;
use crate::dialect::json_write::ObjectWriter;

/// The fields that all objects of one answer contain: id, time and model. The caller supplies them, because this crate
/// has no clock and no random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerHead {
    /// The id of the answer, by convention `chatcmpl-…`.
    pub id: Text,
    /// The start time, in seconds since 1970.
    pub created: u64,
    /// The model, as named by the caller.
    pub model: Text,
}

impl AnswerHead {
    /// Returns the head of one answer.
    #[must_use]
    pub fn new(id: impl Into<Text>, created: u64, model: impl Into<Text>) -> Self {
        Self { id: id.into(), created, model: model.into() }
    }

    /// Opens an object of this kind. The remaining fields and the closing brace follow.
    pub(super) fn open(&self, kind: &'static str, out: &mut BytesMut) {
        let object = ObjectWriter::new(out).field("id", &self.id).field("object", kind);
        object.field("created", &self.created).field("model", &self.model).leave_open();
    }
}
