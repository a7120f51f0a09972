use crate::store::{RunId, Segment, Signal, TailPiece};

/// The place of a value in a conversation. A value can be decrypted in its own place only.
///
/// The conversation itself is not part of it, since each has a key of its own.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Title,
    Meta,
    /// The body of the message with this id.
    Message(&'a str),
    Input(RunId),
    Segment(&'a Segment),
    Piece(&'a TailPiece),
    /// The question of a call.
    Question(RunId, &'a str),
    Signal(RunId, &'a Signal),
}

impl Place<'_> {
    /// Returns the place as bytes.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::Title => fields("title", &[]),
            Self::Meta => fields("meta", &[]),
            Self::Message(id) => fields("message", &[id.as_bytes()]),
            Self::Input(run) => fields("input", &[run.as_bytes()]),
            // Without the epoch, which is not known when a run begins.
            Self::Segment(segment) => fields(
                "segment",
                &[
                    segment.writer.run.as_bytes(),
                    &segment.pos.to_be_bytes(),
                    &[segment.kind.number()],
                    &segment.events.to_be_bytes(),
                ],
            ),
            Self::Piece(piece) => fields(
                "piece",
                &[
                    piece.run.as_bytes(),
                    &piece.epoch.to_be_bytes(),
                    &piece.from.to_be_bytes(),
                    &piece.until.to_be_bytes(),
                ],
            ),
            Self::Question(run, call) => fields("question", &[run.as_bytes(), call.as_bytes()]),
            Self::Signal(run, signal) => {
                let key = signal.kind.key().unwrap_or_default();
                fields("signal", &[run.as_bytes(), key.as_bytes(), signal.by.as_bytes()])
            }
        }
    }
}

/// Returns a kind and its fields, each after its length.
pub(super) fn fields(kind: &str, fields: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64);
    for field in [kind.as_bytes()].iter().chain(fields) {
        bytes.extend_from_slice(&u64::try_from(field.len()).unwrap_or(u64::MAX).to_be_bytes());
        bytes.extend_from_slice(field);
    }
    bytes
}
