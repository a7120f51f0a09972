use std::time::Duration;

use super::run::Run;
use super::state::State;
use crate::clock::millis;
use crate::store::{
    Appended, Beat, Begun, Claim, Claimed, InstanceId, NewRun, NotSaved, RunId, RunLease, RunState, Scope,
    Segment, Settled, Signal, Signalled, StoreError, Tail, TailOf, Which, Writer,
};

impl State {
    pub(super) fn begin(&mut self, new: &NewRun, now: u64) -> Result<Begun, StoreError> {
        match self.chats.get(&(new.scope.clone(), new.chat.clone())) {
            Some(chat) if chat.deleted_ms.is_some() => return Ok(Begun::Refused(NotSaved::Deleted)),
            Some(chat) if chat.has_other_key(new.key.as_ref()) => {
                return Ok(Begun::Refused(NotSaved::OtherKey));
            }
            _ => {}
        }
        if let Some(run) = self.runs.get(&new.run) {
            return self.begun(run, new, now);
        }
        let is_repeated = |run: &&Run| {
            run.scope == new.scope
                && run.chat == new.chat
                && new.post.as_ref().zip(run.post.as_ref()).is_some_and(|(post, earlier)| {
                    post.key == earlier.key && (post.lasting || !run.state.is_ended())
                })
        };
        if let Some(run) = self.runs.values().find(is_repeated) {
            return Ok(Begun::Repeats(Box::new(run.head(now))));
        }
        let open = self.open_runs(&new.scope, &new.chat);
        let queued = open.iter().filter(|run| run.state == RunState::Queued).count();
        let ahead = count(open.len());
        if let Some(first) = open.first() {
            if count(queued) >= new.queue {
                return Ok(Begun::Busy(Box::new(first.head(now))));
            }
        } else if let Some(change) = &new.change
            && let Err(refused) = self.check(&new.scope, &new.chat, change)
        {
            return Ok(Begun::Refused(refused));
        }
        let is_queued = ahead > 0;
        let chat = self.chat_mut(&new.scope, &new.chat, new.key.as_ref(), now);
        if let Some(change) = new.change.as_ref().filter(|_| !is_queued) {
            chat.apply(change, now);
        }
        // The sweep keeps a conversation whose messages are in another store, too.
        chat.info.updated_ms = now;
        let number = self.next_number();
        self.runs.insert(new.run, Run::new(new, number, is_queued, now));
        let writer = Writer { run: new.run, epoch: 1, instance: new.instance };
        Ok(if is_queued { Begun::Queued(ahead) } else { Begun::Started(writer) })
    }

    /// Answers a `begin` that is repeated, since its acknowledgement was lost.
    fn begun(&self, run: &Run, new: &NewRun, now: u64) -> Result<Begun, StoreError> {
        if run.scope != new.scope || run.chat != new.chat {
            return Err(StoreError::invalid("the id belongs to another run"));
        }
        let writer = Writer { run: new.run, epoch: 1, instance: new.instance };
        Ok(match run.state {
            RunState::Queued => {
                let ahead =
                    self.open_runs(&run.scope, &run.chat).iter().take_while(|open| open.id != run.id).count();
                Begun::Queued(count(ahead))
            }
            RunState::Running if run.epoch == 1 && run.instance == Some(new.instance) => {
                Begun::Started(writer)
            }
            _ => Begun::Repeats(Box::new(run.head(now))),
        })
    }

    pub(super) fn append(&mut self, segment: &Segment, now: u64) -> Appended {
        let Some(run) = self.runs.get_mut(&segment.writer.run) else { return Appended::Gone };
        if let Some(answer) = run.judge(segment, now) {
            return answer;
        }
        let (answer, scope) = (run.append(segment, now), run.scope.clone());
        self.count(&scope, &segment.used, now);
        answer
    }

    pub(super) fn tail(&self, of: &TailOf, max_bytes: usize) -> Option<Tail> {
        self.find(&of.scope, Which::Run(of.run)).map(|run| run.tail(of.after, max_bytes))
    }

    pub(super) fn find(&self, scope: &Scope, which: Which<'_>) -> Option<&Run> {
        match which {
            Which::Run(run) => self.runs.get(&run).filter(|run| run.scope == *scope),
            Which::Post { chat, key } => {
                let runs = self.runs.values().filter(|run| run.scope == *scope && run.chat == *chat);
                runs.filter(|run| run.post.as_ref().is_some_and(|post| post.key == key))
                    .max_by_key(|run| run.number)
            }
            Which::Chat(chat) => self.open_runs(scope, chat).into_iter().next().or_else(|| {
                let runs = self.runs.values().filter(|run| run.scope == *scope && run.chat == *chat);
                runs.max_by_key(|run| run.number)
            }),
        }
    }

    pub(super) fn settle(&mut self, end: &Settled, now: u64) -> Result<Appended, StoreError> {
        let Some(run) = self.runs.get(&end.last.writer.run) else { return Ok(Appended::Gone) };
        if let Some(answer) = run.judge(&end.last, now) {
            return Ok(answer);
        }
        if let Some(change) = &end.change {
            let (scope, chat) = (run.scope.clone(), run.chat.clone());
            let saved = self.save(&scope, &chat, change, now);
            saved.map_err(|refused| StoreError::invalid(format!("the change was refused: {refused:?}")))?;
        }
        let Some(run) = self.runs.get_mut(&end.last.writer.run) else { return Ok(Appended::Gone) };
        let (answer, scope) = (run.settle(end, now), run.scope.clone());
        self.count(&scope, &end.last.used, now);
        Ok(answer)
    }

    pub(super) fn signal(&mut self, scope: &Scope, run: RunId, signal: &Signal, now: u64) -> Signalled {
        let run = self.runs.get_mut(&run).filter(|run| run.scope == *scope);
        run.map_or(Signalled::Gone, |run| run.signal(signal, now))
    }

    pub(super) fn beat(&mut self, me: InstanceId, lease: Duration, room: usize, now: u64) -> Beat {
        self.leases.retain(|_, end| *end > now);
        self.leases.insert(me, now.saturating_add(millis(lease)));
        let mut runs: Vec<&Run> = self.runs.values().collect();
        runs.sort_unstable_by_key(|run| run.number);
        let mut beat = Beat::default();
        for run in runs {
            if run.instance == Some(me) {
                beat.signals.extend(run.signals.iter().cloned());
            }
            let is_due = run.state != RunState::Waiting || run.due_ms.is_some_and(|due| due <= now);
            if beat.free.len() < room && is_due && self.lease(run, now).is_free() {
                beat.free.push(run.id);
            }
        }
        beat
    }

    fn lease(&self, run: &Run, now: u64) -> RunLease {
        let is_first =
            || self.open_runs(&run.scope, &run.chat).first().is_some_and(|first| first.id == run.id);
        RunLease {
            state: run.state,
            instance: run.instance,
            is_driven: run
                .instance
                .and_then(|instance| self.leases.get(&instance))
                .is_some_and(|end| *end > now),
            is_behind: run.state == RunState::Queued && !is_first(),
        }
    }

    pub(super) fn claim(
        &mut self,
        run: RunId,
        me: InstanceId,
        condition: Claim,
        now: u64,
    ) -> Option<Claimed> {
        let found = self.runs.get(&run)?;
        if !self.lease(found, now).admits(me, condition) {
            return None;
        }
        let run = self.runs.get_mut(&run)?;
        let writer = run.take(me);
        let mut claimed = Claimed::new(writer, run.head(now), run.input.clone().unwrap_or_default());
        claimed.signals = run.signals.clone();
        claimed.takeovers = run.takeovers();
        Some(claimed)
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
