use bytes::BytesMut;

use crate::Text;
use crate::dialect::json_write::ObjectWriter;

/// The fields that every object of one answer has: id, time and model. They come in from outside, since this crate
/// has neither a clock nor randomness.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerHead {
    /// Id of the answer, `chatcmpl-…` by custom.
    pub id: Text,
    /// The time of its beginning, in seconds since 1970.
    pub created: u64,
    /// The model, as the caller named it.
    pub model: Text,
}

impl AnswerHead {
    /// The head of one answer.
    #[must_use]
    pub fn new(id: impl Into<Text>, created: u64, model: impl Into<Text>) -> Self {
        Self { id: id.into(), created, model: model.into() }
    }

    /// Opens an object of this kind; more fields and the brace are to follow.
    pub(super) fn open(&self, kind: &'static str, out: &mut BytesMut) {
        let object = ObjectWriter::new(out).field("id", &self.id).field("object", kind);
        object.field("created", &self.created).field("model", &self.model).leave_open();
    }
}
