//! Viewers of runs that other instances drive. One task reads the journals of all of them.

use std::sync::{Arc, Weak};
use std::time::Duration;

use omniassist_core::journal::{Content, of_run};
use omniassist_core::{Error, RunEvent};
use tokio::time::sleep;

use super::stop::head_of;
use crate::engine::stores::Stores;
use crate::engine::stores::answers::{answers_of, apply_answers};
use crate::engine::stores::followed::Round;
use crate::engine::stores::journal::{self, PIECE, Position};
use crate::engine::stores::refused;
use crate::engine::stores::shown_leg::ShownLeg;
use crate::engine::stores::tail::Tail;
use crate::engine::{Admission, Assistant};
use crate::one_line;
use crate::store::{RunHead, RunId, RunState, Scope, StoreError};

/// The time between two reads of the journals: without hints, and where a hint tells of most changes.
const LOOK: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// The time for which the instance of a run knows that it has a viewer here.
const WATCH: Duration = Duration::from_secs(9);

impl Assistant {
    /// Returns the leg of a run that goes on, here or on another instance. `None` if it has just begun or ended, so that the
    /// caller looks at the run again.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the journal cannot be read.
    pub(in crate::engine::stored) async fn shown_leg(
        &self,
        stores: &Arc<Stores>,
        head: &RunHead,
    ) -> Result<Option<ShownLeg>, Error> {
        if let Some(leg) = stores.live_in(head) {
            return Ok(Some(leg.shown));
        }
        if head.state != RunState::Running || head.instance.is_none_or(|other| other == stores.instance) {
            return Ok(None);
        }
        if let Some(leg) = stores.followed.leg(head) {
            return Ok(Some(leg));
        }
        let read = refused::unless_gone(self.leg_elsewhere(stores, head).await)?;
        Ok(read.flatten().map(|(leg, at)| {
            let (leg, begins) = stores.followed.insert(head, leg, at);
            if begins {
                stores.spawn(read_followed(Arc::downgrade(stores)));
            }
            leg
        }))
    }

    /// Reads a leg that another instance drives, and returns it with the end of its journal.
    async fn leg_elsewhere(
        &self,
        stores: &Stores,
        head: &RunHead,
    ) -> Result<Option<(ShownLeg, Position)>, StoreError> {
        let (mut from, mut at) = (Position::default(), Position::default());
        let mut message_id = None;
        let read =
            journal::for_each_segment(&*stores.runs, &head.scope, head.run, at, |_, records, after| {
                at = after;
                for content in of_run(&records) {
                    match content {
                        Content::Event(RunEvent::Start { message_id: id, .. }) => {
                            message_id = Some(id.clone());
                        }
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
        let tail = Arc::new(Tail::new(at.events, head.epoch).copied());
        // The other instance has begun it.
        tail.admit(Admission::Granted);
        let earlier = earlier.map(Arc::new);
        Ok(Some((ShownLeg { tail, earlier, parent: None, state: None, from }, at)))
    }
}

/// Reads the journals of the followed runs until there are none.
async fn read_followed(stores: Weak<Stores>) {
    loop {
        let Some(stores) = stores.upgrade() else { return };
        let Some(Round { questions, announced }) = stores.followed.next(stores.is_released()) else { return };
        if !announced.is_empty() {
            tokio::spawn(announce(Arc::clone(&stores), announced));
        }
        let has_more = match stores.runs.read(&questions, PIECE).await {
            Ok(tails) => {
                let read = questions.iter().zip(tails);
                read.fold(false, |more, (question, tail)| stores.followed.show(question.run, tail) | more)
            }
            Err(error) => {
                tracing::warn!(error = %one_line::chain(&error), "the runs of other instances were not read");
                false
            }
        };
        if has_more {
            continue;
        }
        let has_hints = stores.wake.as_ref().is_some_and(|wake| wake.arrives());
        let look = if has_hints { LOOK.1 } else { LOOK.0 };
        let (grown, released) = (Arc::clone(&stores.followed.grown), stores.released.clone());
        drop(stores);
        tokio::select! {
            () = grown.notified() => {}
            () = released.cancelled() => {}
            () = sleep(look) => {}
        }
    }
}

/// Tells the instances of runs that they have viewers here. No read waits for it.
async fn announce(stores: Arc<Stores>, runs: Vec<(Scope, RunId)>) {
    if let Err(error) = stores.runs.watch(&runs, WATCH).await {
        tracing::warn!(error = %one_line::chain(&error), "viewers were not announced");
    }
}
