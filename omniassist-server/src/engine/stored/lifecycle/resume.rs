//! Viewers that come back to a stored run.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use omniassist_core::journal::{self as format, Content, Record, Replay};
use omniassist_core::{Error, RunEvent};
use tokio::time::sleep;

use super::stop::head_of;
use crate::Principal;
use crate::engine::Assistant;
use crate::engine::end::RETRY_ELSEWHERE;
use crate::engine::stored::viewers::View;
use crate::engine::stores::Stores;
use crate::engine::stores::journal::{self, Position};
use crate::engine::stores::queue::was_stopped_in_queue;
use crate::engine::stores::refused;
use crate::engine::stores::shown_leg::ShownLeg;
use crate::store::{Claim, RunHead, RunId, RunState, Scope};

/// The looks at a run that another task of this process may be taking over, and the pause between them.
const CLAIM_LOOKS: usize = 100;
const CLAIM_PAUSE: Duration = Duration::from_millis(10);

impl Assistant {
    /// Returns a viewer of the message of a run: with one delta for each block that is written already, for a client that has
    /// nothing of it. `None` if the owner has no such run.
    ///
    /// A run whose server has stopped is continued here.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, the journal was swept, or the run goes on and has no event yet.
    pub(crate) async fn view_message(&self, scope: &Scope, run: RunId) -> Result<Option<View>, Error> {
        let Some(stores) = self.stores() else { return Ok(None) };
        let Some((head, leg)) = self.revived(stores, scope, run).await? else { return Ok(None) };
        if head.state == RunState::Queued {
            return Ok(Some(self.view_queued(stores, &head)));
        }
        if was_stopped_in_queue(&head) {
            return Ok(None);
        }
        let tail = leg.as_ref().map(|leg| Arc::clone(&leg.tail));
        let (queue, read, ahead) = match &leg {
            Some(leg) => {
                let shown = leg.tail.begun().await;
                let read = journal::records_after(&*stores.runs, scope, run, leg.from).await;
                let Some((mut records, at)) = refused::unless_gone(read)? else { return Ok(None) };
                let shown = shown.after(at.events);
                let ahead = shown.len();
                let record = |event| Record::from(Content::Event(event));
                records.extend(shown.into_iter().map(record));
                let mut replay = Replay::new().quiet_calls(true);
                if let Some(earlier) = &leg.earlier {
                    replay = replay.continuing(earlier);
                }
                (replay.events(&records), at, ahead)
            }
            None if head.state.is_ended() || head.state == RunState::Waiting => {
                match self.ended_events(stores, scope, &head).await? {
                    Some(events) => (events, Position::default(), 0),
                    None => return Ok(None),
                }
            }
            // The run goes on and has no event yet. A client would take an answer without content for its end.
            None => return Err(Error::store_unavailable(refused::RETRY)),
        };
        Ok(Some(View::new(stores, scope.clone(), run, VecDeque::from(queue), read, tail).ahead(ahead)))
    }

    /// Returns a run of an owner, and its leg if it goes on. A run whose server has stopped is continued here.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the run cannot be continued.
    pub(in crate::engine::stored) async fn revived(
        &self,
        stores: &Arc<Stores>,
        scope: &Scope,
        run: RunId,
    ) -> Result<Option<(RunHead, Option<ShownLeg>)>, Error> {
        let failed = |error| refused::by_store(&error);
        self.begin_lease(stores).await?;
        let mut looks = CLAIM_LOOKS;
        loop {
            let Some(head) = head_of(stores, scope, run).await.map_err(failed)? else { return Ok(None) };
            if let Some(leg) = stores.live_in(&head) {
                // A viewer would be cut at once, and a client that comes back at once would read the journal in a loop.
                if leg.shown.tail.is_broken() {
                    return Err(Error::store_unavailable(refused::RETRY));
                }
                return Ok(Some((head, Some(leg.shown))));
            }
            if head.state != RunState::Running || looks == 0 {
                return Ok(Some((head, None)));
            }
            if self.is_draining() {
                return Err(Error::shutting_down(RETRY_ELSEWHERE));
            }
            looks -= 1;
            match self.take_over(stores, run, Claim::IfFree, Extensions::new(), None).await? {
                // The viewer of what follows is not needed, since the caller's begins earlier.
                Some(view) => {
                    view.detach();
                    looks = 0;
                }
                None => match self.shown_leg(stores, &head).await? {
                    Some(leg) => return Ok(Some((head, Some(leg)))),
                    None => sleep(CLAIM_PAUSE).await,
                },
            }
        }
    }

    /// Returns the events that build the message of a run that has ended, from the stored message. `None` if the run was
    /// deleted.
    async fn ended_events(
        &self,
        stores: &Stores,
        scope: &Scope,
        head: &RunHead,
    ) -> Result<Option<Vec<RunEvent>>, Error> {
        let read = journal::after(&*stores.runs, scope, head.run, Position::default(), None).await;
        let Some((events, _)) = refused::unless_gone(read)? else { return Ok(None) };
        let id = events.iter().find_map(|event| match event {
            RunEvent::Start { message_id, .. } => Some(message_id.clone()),
            _ => None,
        });
        let Some(id) = id else { return Ok(Some(events)) };
        let mut message =
            self.stored(stores, scope, &head.chat, &id).await.map_err(|error| refused::by_store(&error))?;
        // The user may have changed the state of a component since.
        let principal = Principal::new(scope.owner());
        self.refresh_states(&principal, &head.chat, message.iter_mut()).await?;
        let mut shown = match message {
            Some(message) => format::message_events(&message),
            None => vec![RunEvent::Start { message_id: id, metadata: None }],
        };
        shown.extend(events.into_iter().rfind(RunEvent::is_terminal));
        Ok(Some(shown))
    }
}
