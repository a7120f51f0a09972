use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use omniassist_core::Text;

use super::blob::BlobKey;
use super::place::Place;
use crate::store::{
    Change, ConversationInfo, Ending, Obligation, Post, Received, RunId, Segment, SegmentKind, Signal,
    StoreError, StoredMessage, TailPiece,
};

/// The data key of a conversation, or none for one that is not encrypted.
#[derive(Clone)]
pub(super) struct ContentKey(Option<Arc<BlobKey>>);

impl ContentKey {
    pub(super) fn plain() -> Self {
        Self(None)
    }

    pub(super) fn of(key: Arc<BlobKey>) -> Self {
        Self(Some(key))
    }

    pub(super) fn seal(&self, place: Place<'_>, content: &Bytes) -> Result<Bytes, StoreError> {
        match &self.0 {
            Some(key) => Ok(key.seal(&place.to_bytes(), content)?.into()),
            None => Ok(content.clone()),
        }
    }

    pub(super) fn open(&self, place: Place<'_>, blob: &Bytes) -> Result<Bytes, StoreError> {
        let Some(key) = &self.0 else { return Ok(blob.clone()) };
        let content = key.open(&place.to_bytes(), blob);
        content.map(Bytes::from).ok_or_else(|| StoreError::corrupt("an encrypted value was changed or moved"))
    }

    /// Decrypts a value that a run needs in order to end. One that was changed is empty, which is no value, so that the
    /// run is interrupted.
    pub(super) fn open_or_empty(&self, place: Place<'_>, blob: &Bytes) -> Bytes {
        self.open(place, blob).unwrap_or_else(|error| {
            tracing::error!(error = %crate::one_line::chain(&error), "a part of a run cannot be read");
            Bytes::new()
        })
    }

    /// Replaces the key of a post by a digest that tells nothing about the post.
    pub(super) fn post(&self, mut post: Post) -> Post {
        post.key = self.post_key(&post.key);
        post
    }

    pub(super) fn post_key(&self, key: &[u8]) -> Bytes {
        self.0.as_ref().map_or_else(|| Bytes::copy_from_slice(key), |own| own.digest(key).into())
    }

    pub(super) fn seal_change(&self, change: &Change) -> Result<Change, StoreError> {
        let seal = |message: &StoredMessage| {
            let body = self.seal(Place::Message(&message.id), &message.body)?;
            Ok(StoredMessage { body, ..message.clone() })
        };
        Ok(Change {
            messages: change.messages.iter().map(seal).collect::<Result<_, StoreError>>()?,
            title: change.title.as_ref().map(|title| self.seal_title(title)).transpose()?,
            meta: change.meta.as_ref().map(|meta| self.seal(Place::Meta, meta)).transpose()?,
            ..change.clone()
        })
    }

    /// A title is text in every store.
    fn seal_title(&self, title: &Text) -> Result<Text, StoreError> {
        match &self.0 {
            Some(key) => {
                let blob = key.seal(&Place::Title.to_bytes(), title.as_bytes())?;
                Ok(STANDARD_NO_PAD.encode(blob).into())
            }
            None => Ok(title.clone()),
        }
    }

    fn open_title(&self, title: &Text) -> Result<Text, StoreError> {
        if self.0.is_none() {
            return Ok(title.clone());
        }
        let blob = STANDARD_NO_PAD.decode(title.as_bytes()).map_err(StoreError::corrupt)?;
        let opened = self.open(Place::Title, &blob.into())?;
        Ok(str::from_utf8(&opened).map_err(StoreError::corrupt)?.into())
    }

    pub(super) fn open_info(&self, info: &mut ConversationInfo) -> Result<(), StoreError> {
        info.title = info.title.as_ref().map(|title| self.open_title(title)).transpose()?;
        info.meta = info.meta.as_ref().map(|meta| self.open(Place::Meta, meta)).transpose()?;
        info.key = None;
        Ok(())
    }

    pub(super) fn open_message(&self, message: &mut StoredMessage) -> Result<(), StoreError> {
        message.body = self.open(Place::Message(&message.id), &message.body)?;
        Ok(())
    }

    pub(super) fn seal_segment(&self, segment: &Segment) -> Result<Segment, StoreError> {
        Ok(Segment { data: self.seal(Place::Segment(segment), &segment.data)?, ..segment.clone() })
    }

    pub(super) fn open_segment(&self, segment: &mut Segment) -> Result<(), StoreError> {
        // The store writes marks, and they have no data.
        let is_mark = matches!(segment.kind, SegmentKind::Takeover | SegmentKind::Handover);
        if !(is_mark && segment.data.is_empty()) {
            segment.data = self.open(Place::Segment(segment), &segment.data)?;
        }
        Ok(())
    }

    pub(super) fn seal_piece(&self, piece: &TailPiece) -> Result<TailPiece, StoreError> {
        Ok(TailPiece { data: self.seal(Place::Piece(piece), &piece.data)?, ..piece.clone() })
    }

    pub(super) fn open_piece(&self, mut piece: TailPiece) -> Result<TailPiece, StoreError> {
        piece.data = self.open(Place::Piece(&piece), &piece.data)?;
        Ok(piece)
    }

    pub(super) fn seal_ending(&self, run: RunId, ending: &Ending) -> Result<Ending, StoreError> {
        let seal = |question: &Obligation| {
            let data = self.seal(Place::Question(run, &question.call), &question.data)?;
            Ok(Obligation { data, ..question.clone() })
        };
        match ending {
            Ending::Waiting(questions) => {
                Ok(Ending::Waiting(questions.iter().map(seal).collect::<Result<_, _>>()?))
            }
            ending => Ok(ending.clone()),
        }
    }

    pub(super) fn open_question(&self, run: RunId, question: &mut Obligation) {
        question.data = self.open_or_empty(Place::Question(run, &question.call), &question.data);
        if let Some(answer) = &mut question.answer {
            self.open_received(answer);
        }
    }

    pub(super) fn seal_signal(&self, run: RunId, signal: &Signal) -> Result<Signal, StoreError> {
        Ok(Signal { data: self.seal(Place::Signal(run, signal), &signal.data)?, ..signal.clone() })
    }

    pub(super) fn open_received(&self, received: &mut Received) {
        let place = Place::Signal(received.run, &received.signal);
        received.signal.data = self.open_or_empty(place, &received.signal.data);
    }
}
