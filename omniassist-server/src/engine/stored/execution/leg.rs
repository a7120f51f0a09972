//! A leg of a stored run: from its beginning, or the answers that it waited for, to its end or the next wait.

use std::sync::Arc;

use futures_util::FutureExt;
use http::Extensions;
use omniassist_core::journal::{Content, Record, of_run};
use omniassist_core::message::{Message, Role};
use omniassist_core::{JsonText, RunRequest, Text};
use tokio::sync::oneshot;

use super::notices::Notices;
use super::recorder::Recorder;
use super::task::Task;
use crate::engine::assistant::Admission;
use crate::engine::history::Carried;
use crate::engine::meter::Meter;
use crate::engine::run::{UsedBefore, prepare};
use crate::engine::stores::journal::Position;
use crate::engine::stores::shown_leg::ShownLeg;
use crate::engine::stores::tail::Tail;
use crate::engine::stores::{Control, LiveLeg, Stores};
use crate::engine::tree::{AgentRecords, Origin, WaitingAgents};
use crate::engine::{Assistant, Run, RunHandle};
use crate::seal::Sealer;
use crate::store::{RunId, Scope, Writer};
use crate::throttle::Attempt;
use crate::tool::ToolSnapshot;
use crate::{CancellationToken, Principal, failpoint};

/// The input of a leg.
pub(in crate::engine::stored) struct Start {
    pub(in crate::engine::stored) request: RunRequest,
    pub(in crate::engine::stored) extensions: Extensions,
    pub(in crate::engine::stored) tools: ToolSnapshot,
    pub(in crate::engine::stored) carried: Carried,
    /// The messages of the request with the entries of the server, for the host and for a message that is continued.
    pub(in crate::engine::stored) posted: Option<Vec<Message>>,
    /// `None` for a run that the server continues itself.
    pub(in crate::engine::stored) admission: Option<Admission>,
    /// The agents that waited for the user before the leg.
    pub(in crate::engine::stored) waiting: WaitingAgents,
    pub(in crate::engine::stored) before: UsedBefore,
}

/// A leg that is ready to begin. Dropping it releases what the run has reserved.
pub(in crate::engine::stored) struct Built {
    run: Run,
    continued: Option<Message>,
    message_id: Text,
    records: Option<Vec<Record>>,
    posted: Option<Vec<Message>>,
    state: Option<JsonText>,
    before: UsedBefore,
}

/// The place of a leg in the store.
pub(in crate::engine::stored) struct Leg {
    pub(in crate::engine::stored) writer: Writer,
    pub(in crate::engine::stored) scope: Scope,
    pub(in crate::engine::stored) chat: Text,
    /// The message before the one that the run writes. It is not used for a message that the conversation has.
    pub(in crate::engine::stored) parent: Option<Text>,
    /// The position before the leg.
    pub(in crate::engine::stored) from: Position,
    /// The end of the journal.
    pub(in crate::engine::stored) at: Position,
}

impl Assistant {
    /// Builds a leg. `records` are those of a leg that was interrupted.
    ///
    /// # Errors
    ///
    /// Returns an error if the assistant is draining, or the chat has become busy.
    pub(in crate::engine::stored) fn build_leg(
        &self,
        run: RunId,
        start: Start,
        records: Option<Vec<Record>>,
        has_stored_answers: bool,
    ) -> Result<Built, omniassist_core::Error> {
        let setup = &self.setup;
        let Start { request, extensions, tools, carried, posted, admission, waiting, mut before } = start;
        if records.iter().flatten().any(is_turn) {
            // The journal does not have the names by which the models of the calls are priced.
            before.cost = None;
        }
        let (chat_id, state) = (request.chat_id.clone(), request.state.clone());
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        let meter = match (&admission, &setup.config.budget) {
            (Some(admission), _) => admission.meter.clone(),
            (None, Some(budget)) => {
                let attempt = Attempt::new(&principal, &request, &extensions);
                Some(Meter::unreserved_for(budget, &attempt, setup.config.longest_run())?)
            }
            (None, None) => None,
        };
        let (own, agents) = records.clone().map(AgentRecords::split).unzip();
        let agents = Some(agents.unwrap_or_default().after(waiting));
        let instances = self.instances(&request, &tools, &principal);
        let origin =
            Origin { id: run.uuid(), has_stored_answers, branch: None, agents, instances, asked_by: None };
        let (mut driver, continued, message_id) =
            self.driver(request, extensions, tools, prepare, carried, origin);
        if let Some(seals) = &setup.seals {
            let sealer = Sealer::new(&seals.keys, chat_id, &principal, Text::new());
            let sealer =
                sealer.lifetime(setup.config.limits.approval_lifetime).agent(self.agent_name().cloned());
            driver.seal_with(sealer, continued.as_ref(), &message_id);
        }
        driver.store_with(own, before);
        if let Some(meter) = meter {
            driver.meter_with(meter);
        }
        let limits = &setup.config.limits;
        let live = match admission {
            Some(admission) => self.live.insert_posted(driver, admission.run, limits)?,
            None => self.live.insert(driver, limits),
        };
        let run = Run::new(Arc::clone(&self.live), live, continued.clone(), message_id.clone());
        // The same message, with the entries of the server in its metadata: they are stored with it, and shown.
        let with_entries = posted.as_ref().and_then(|posted| posted.last()).filter(|_| continued.is_some());
        let continued = with_entries.cloned().or(continued);
        Ok(Built { run, continued, message_id, records, posted, state, before })
    }

    /// Starts the task of a leg, and returns its tail.
    pub(in crate::engine::stored) fn spawn_leg(
        &self,
        stores: &Arc<Stores>,
        built: Built,
        leg: Leg,
    ) -> Arc<Tail> {
        let Built { run, continued, message_id, records, posted, state, before } = built;
        run.start(continued.as_ref(), &message_id, posted);
        let (settled, is_settled) = oneshot::channel();
        run.finish_after(is_settled.shared());
        let earlier = continued.clone().map(Arc::new);
        let new = || Message { id: message_id, role: Role::Assistant, parts: Vec::new(), metadata: None };
        let mut recorder = Recorder::new(leg.at.events, continued.unwrap_or_else(new)).after(before.usage);
        of_run(records.as_deref().unwrap_or_default()).for_each(|content| recorder.replay(content));
        failpoint::hit("leg.replayed");
        // Earlier legs had model calls.
        let is_counted = leg.from.events > 0 || records.iter().flatten().any(is_turn);
        let tail = Arc::new(Tail::new(leg.at.events, leg.writer.epoch));
        if records.is_none() {
            tail.begin();
        }
        let over = CancellationToken::new();
        let control = Arc::new(run.handle());
        let (parent, from) = (leg.parent.clone(), leg.from);
        let shown = ShownLeg { tail: Arc::clone(&tail), earlier, parent, state, from };
        let live = LiveLeg { scope: leg.scope.clone(), shown, control, over: over.clone() };
        stores.insert(leg.writer.run, live);
        let task = Task {
            stores: Arc::clone(stores),
            run,
            scope: leg.scope,
            chat: leg.chat,
            writer: leg.writer,
            at: leg.at,
            tail: Arc::clone(&tail),
            recorder,
            parent: leg.parent,
            on_disconnect: self.setup.config.on_disconnect,
            over,
            is_admitted: false,
            is_begun: false,
            is_counted,
            notices: Notices::default(),
            settled: Some(settled),
        };
        failpoint::hit("leg.listed");
        tokio::spawn(task.drive());
        failpoint::hit("leg.spawned");
        tail
    }
}

/// Returns `true` for the record of a model call.
fn is_turn(record: &Record) -> bool {
    matches!(&record.content, Content::Turn(turn) if turn.is_of_model())
}

impl Control for RunHandle {
    fn abort(&self, reason: Text) {
        self.abort(reason);
    }

    fn stop_agent(&self, agent_id: &str) -> bool {
        self.stop_agent(agent_id)
    }

    fn release(&self) {
        self.release();
    }
}
