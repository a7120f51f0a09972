//! Viewers that come back to a stored run.

use std::collections::VecDeque;
use std::sync::Arc;

use http::Extensions;
use omniassist_core::journal::{self as format, Replay};
use omniassist_core::{Error, RunEvent};

use super::journal::{self, Position};
use super::refused;
use super::stop::head_of;
use super::stores::Stores;
use super::view::View;
use crate::engine::Assistant;
use crate::engine::end::RETRY_ELSEWHERE;
use crate::store::{Claim, RunHead, RunId, RunState, Scope};

impl Assistant {
    /// Returns a viewer of the message of a run: with one delta for each block that is written already, for a client that has
    /// nothing of it. `None` if the owner has no such run.
    ///
    /// A run whose server has stopped is continued here.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the journal was swept.
    pub(crate) async fn view_message(&self, scope: &Scope, run: RunId) -> Result<Option<View>, Error> {
        let Some(stores) = self.stores() else { return Ok(None) };
        let Some(head) = self.revived(stores, scope, run).await? else { return Ok(None) };
        let live = stores.live(run);
        let tail = live.as_ref().map(|leg| Arc::clone(&leg.tail));
        let (queue, read) = match &live {
            Some(leg) => {
                let (records, at) = journal::records_after(&*stores.runs, scope, run, leg.from)
                    .await
                    .map_err(|error| refused::by_store(&error))?;
                let mut replay = Replay::new().quiet_calls(true);
                if let Some(earlier) = &leg.earlier {
                    replay = replay.continuing(earlier);
                }
                (replay.events(&records), at)
            }
            None if head.state.is_ended() || head.state == RunState::Waiting => {
                (self.ended_events(stores, scope, &head).await?, Position::default())
            }
            None => return Ok(None),
        };
        Ok(Some(View::new(stores, scope.clone(), run, VecDeque::from(queue), read, tail)))
    }

    /// Returns a run of an owner. A run whose server has stopped is continued here.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the run cannot be continued.
    pub(super) async fn revived(
        &self,
        stores: &Arc<Stores>,
        scope: &Scope,
        run: RunId,
    ) -> Result<Option<RunHead>, Error> {
        let failed = |error| refused::by_store(&error);
        self.begin_lease(stores).await?;
        let Some(head) = head_of(stores, scope, run).await.map_err(failed)? else { return Ok(None) };
        if head.state != RunState::Running || stores.live(run).is_some() {
            return Ok(Some(head));
        }
        if self.is_draining() {
            return Err(Error::shutting_down(RETRY_ELSEWHERE));
        }
        // The viewer of what follows is not needed, since the caller's begins earlier.
        if let Some(view) = self.take_over(stores, run, Claim::IfFree, Extensions::new(), None).await? {
            view.detach();
        }
        Ok(head_of(stores, scope, run).await.map_err(failed)?.or(Some(head)))
    }

    /// Returns the events that build the message of a run that has ended, from the stored message.
    async fn ended_events(
        &self,
        stores: &Stores,
        scope: &Scope,
        head: &RunHead,
    ) -> Result<Vec<RunEvent>, Error> {
        let (events, _) = journal::after(&*stores.runs, scope, head.run, Position::default())
            .await
            .map_err(|error| refused::by_store(&error))?;
        let id = events.iter().find_map(|event| match event {
            RunEvent::Start { message_id, .. } => Some(message_id.clone()),
            _ => None,
        });
        let Some(id) = id else { return Ok(events) };
        let message =
            self.stored(stores, scope, &head.chat, &id).await.map_err(|error| refused::by_store(&error))?;
        let mut shown = match message {
            Some(message) => format::message_events(&message),
            None => vec![RunEvent::Start { message_id: id, metadata: None }],
        };
        shown.extend(events.into_iter().rfind(RunEvent::is_terminal));
        Ok(shown)
    }
}
