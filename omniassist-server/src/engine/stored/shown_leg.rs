//! The legs that viewers of this process join: those that it drives, and those that another instance drives.

use std::sync::Arc;

use omniassist_core::journal::Content;
use omniassist_core::message::Message;
use omniassist_core::{Error, JsonText, RunEvent};

use super::answers::{answers_of, apply_answers};
use super::journal::{self, Position};
use super::refused;
use super::stop::head_of;
use super::stores::Stores;
use super::tail::Tail;
use crate::engine::Assistant;
use crate::store::{RunHead, RunState, StoreError};

/// The tail of a leg, and what came before the leg.
#[derive(Clone)]
pub(super) struct ShownLeg {
    pub(super) tail: Arc<Tail>,
    /// The message as it was before the leg. `None` if the leg begins it.
    pub(super) earlier: Option<Arc<Message>>,
    /// The client's shared state before the leg. `None` for a leg of another instance.
    pub(super) state: Option<JsonText>,
    /// The position in the journal before the leg.
    pub(super) from: Position,
}

impl Assistant {
    /// Returns the leg of a run that goes on, here or on another instance. `None` if it has just begun or ended, so that the
    /// caller looks at the run again.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the journal cannot be read.
    pub(super) async fn shown_leg(
        &self,
        stores: &Arc<Stores>,
        head: &RunHead,
    ) -> Result<Option<ShownLeg>, Error> {
        if let Some(leg) = stores.live(head.run) {
            return Ok(Some(leg.shown));
        }
        if head.state != RunState::Running || head.instance.is_none_or(|other| other == stores.instance) {
            return Ok(None);
        }
        if let Some(leg) = stores.followed.leg(head) {
            return Ok(Some(leg));
        }
        let read = self.leg_elsewhere(stores, head).await.map_err(|error| refused::by_store(&error))?;
        Ok(read.map(|(leg, at)| stores.follow(head, leg, at)))
    }

    /// Reads a leg that another instance drives, and returns it with the end of its journal.
    async fn leg_elsewhere(
        &self,
        stores: &Stores,
        head: &RunHead,
    ) -> Result<Option<(ShownLeg, Position)>, StoreError> {
        let (mut from, mut at) = (Position::default(), Position::default());
        let mut message_id = None;
        let read = journal::for_each_segment(&*stores.runs, &head.scope, head.run, at, |_, records, after| {
            at = after;
            for record in records {
                match record.content {
                    Content::Event(RunEvent::Start { message_id: id, .. }) => message_id = Some(id),
                    Content::Event(event) if event.is_terminal() => (from, message_id) = (after, None),
                    _ => {}
                }
            }
        });
        read.await?;
        let Some(id) = message_id else { return Ok(None) };
        let mut earlier = self.stored(stores, &head.scope, &head.chat, &id).await?;
        if let Some(message) = &mut earlier {
            let answers = head.obligations.iter().filter_map(|asked| asked.answer.clone());
            apply_answers(message, &answers_of(&answers.collect::<Vec<_>>())?);
        }
        // The message was read before the leg ended.
        let now = head_of(stores, &head.scope, head.run).await?;
        if now.is_none_or(|now| now.state != RunState::Running || now.epoch != head.epoch) {
            return Ok(None);
        }
        let tail = Arc::new(Tail::new(at.events, head.epoch));
        tail.begin();
        let earlier = earlier.map(Arc::new);
        Ok(Some((ShownLeg { tail, earlier, state: None, from }, at)))
    }
}
