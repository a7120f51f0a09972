//! The agents that work for a stored run, from its journal.

use omniassist_core::event::{AgentState, AgentStatus};
use omniassist_core::journal::Content;
use omniassist_core::{Error, RunEvent, Text};
use tokio::time::{Instant, sleep};

use super::stop::{LOOK, head_of};
use crate::engine::Assistant;
use crate::engine::stores::Stores;
use crate::engine::stores::journal::{self, Position};
use crate::engine::stores::refused;
use crate::engine::tree::keep_latest;
use crate::store::{Hint, RunHead, RunState, Signal, SignalKind, StoreError};

/// The agents of a run, as far as its journal was read. Those above come before those below.
#[derive(Default)]
struct Agents {
    states: Vec<AgentState>,
    at: Position,
}

impl Agents {
    /// Reads on in the journal of a run. Events that are only shown yet count too, if this process drives the run.
    async fn read(&mut self, stores: &Stores, head: &RunHead) -> Result<(), StoreError> {
        // First, since a write in between drops them from the tail.
        let shown = stores.live_in(head).map(|leg| leg.shown.tail.events());
        let (runs, from) = (&*stores.runs, self.at);
        journal::for_each_segment(runs, &head.scope, head.run, from, |_, records, at| {
            self.at = at;
            for record in records.into_iter().filter(|record| record.head.is_empty()) {
                if let Content::Event(event) = record.content {
                    self.take(event);
                }
            }
        })
        .await?;
        let shown = shown.map(|shown| shown.after(self.at.events));
        shown.into_iter().flatten().for_each(|event| self.take(event));
        Ok(())
    }

    fn take(&mut self, event: RunEvent) {
        if let RunEvent::AgentState(state) = event {
            keep_latest(&mut self.states, *state);
        }
    }

    fn status_of(&self, agent_id: &str) -> Option<AgentStatus> {
        self.states.iter().find(|state| state.agent_id == agent_id).map(|state| state.status)
    }
}

impl Assistant {
    /// Returns the agents that work, or have worked, for a run, with the latest state of each. Agents whose run ended before
    /// their end was written are cancelled.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal cannot be read.
    pub(crate) async fn agents_of(&self, head: &RunHead) -> Result<Vec<AgentState>, Error> {
        let Some(stores) = self.stores() else { return Ok(Vec::new()) };
        let mut agents = Agents::default();
        agents.read(stores, head).await.map_err(|error| refused::by_store(&error))?;
        if head.state.is_ended() {
            let reason = if head.state == RunState::Interrupted { "interrupted" } else { "stopped" };
            for state in agents.states.iter_mut().filter(|state| is_at_work(state.status)) {
                (state.status, state.reason) = (AgentStatus::Cancelled, Some(Text::from_static(reason)));
            }
        }
        Ok(agents.states)
    }

    /// Stops an agent that works for a run, at whichever instance. Returns `false` if no such agent works, or if it has ended
    /// in another way meanwhile.
    ///
    /// An instance that has not applied the stop within [`supersede_grace`](omniassist_core::Limits::supersede_grace)
    /// applies it later.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the journal cannot be read.
    pub(crate) async fn stop_agent_of(&self, head: &RunHead, agent_id: &str) -> Result<bool, Error> {
        let Some(stores) = self.stores() else { return Ok(false) };
        if let Some(leg) = stores.live_in(head) {
            return Ok(leg.control.stop_agent(agent_id));
        }
        self.stop_agent_elsewhere(stores, head, agent_id).await.map_err(|error| refused::by_store(&error))
    }

    async fn stop_agent_elsewhere(
        &self,
        stores: &Stores,
        head: &RunHead,
        agent_id: &str,
    ) -> Result<bool, StoreError> {
        let until = Instant::now() + self.limits().supersede_grace;
        let mut agents = Agents::default();
        let mut is_sent = false;
        loop {
            let now = head_of(stores, &head.scope, head.run).await?;
            let goes_on = now.is_some_and(|now| now.state == RunState::Running);
            agents.read(stores, head).await?;
            match agents.status_of(agent_id) {
                // A client may know an agent before the journal.
                None => {}
                Some(status) if !is_at_work(status) => return Ok(is_sent && status == AgentStatus::Cancelled),
                Some(_) if !goes_on => {}
                Some(_) if !is_sent => {
                    let signal = Signal::new(SignalKind::StopAgent(agent_id.into()), head.scope.owner());
                    stores.runs.signal(&head.scope, head.run, &signal).await?;
                    stores.hint(Hint::Signalled(head.run));
                    is_sent = true;
                }
                Some(_) => {}
            }
            if !goes_on || Instant::now() >= until {
                return Ok(is_sent);
            }
            sleep(LOOK).await;
        }
    }
}

fn is_at_work(status: AgentStatus) -> bool {
    matches!(status, AgentStatus::Running | AgentStatus::Waiting)
}
