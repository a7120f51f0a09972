//! Runs that wait until the earlier ones of their chat have ended.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use http::Extensions;
use omniassist_core::{Error, RunEvent, RunRequest, Text};
use tokio::time::sleep;
use uuid::Uuid;

use super::input::Input;
use super::post;
use super::stored_post::StoredPost;
use super::verifier::Stored;
use crate::engine::Assistant;
use crate::engine::agents::Verified;
use crate::engine::assistant::Admission;
use crate::engine::end::STOPPED;
use crate::engine::run::LiveRuns;
use crate::engine::settings::Setup;
use crate::engine::stored::chat::branches::Branches;
use crate::engine::stored::chat::message_id;
use crate::engine::stored::viewers::{LegEvents, View};
use crate::engine::stores::journal::Position;
use crate::engine::stores::queue::was_stopped_in_queue;
use crate::engine::stores::refused;
use crate::engine::stores::{LiveLeg, Stores};
use crate::quota::Held;
use crate::store::{Begun, Claim, Claimed, NewRun, Post, RunHead, RunId, RunState, Scope, Which};
use crate::{CancellationToken, Principal, failpoint};

/// The number of runs of a chat that may wait.
const MOST_QUEUED: u32 = 8;

/// The shortest and the longest time between two looks at a queue.
const LOOK: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// The longest time between two looks at a queue whose first run waits for an answer. Each beat looks for runs that may begin.
const LOOK_AT_OWED: Duration = Duration::from_secs(30);

/// The time in which the viewers of a run that begins join it.
const JOIN: Duration = Duration::from_secs(1);

impl Assistant {
    /// Stores a post whose run begins when `before` and those in the queue have ended, and returns a viewer of it.
    ///
    /// # Errors
    ///
    /// Returns an error if the post is refused, the queue is full, or the store is not available.
    pub(super) async fn enqueue(
        &self,
        post: &StoredPost<'_>,
        before: &RunHead,
        mut request: RunRequest,
        mut extensions: Extensions,
        mut admission: Admission,
        identity: Post,
    ) -> Result<View, Error> {
        let StoredPost { stores, scope, chat, principal, .. } = post;
        if let Some(last) = request.messages.last_mut().filter(|last| last.id.is_empty()) {
            last.id = format!("msg_{}", Uuid::now_v7().simple()).into();
        }
        let tools = self.possible_tools(&request, &extensions)?;
        let answered = self.answered_before(&request, before).await?.cloned();
        if self.follows(post, before, &request).await? {
            let last = request.messages.pop();
            request.messages.clear();
            request.messages.extend(last);
            request.awaits_history = true;
        }
        // What cannot be answered is refused now.
        let mut checked = request.clone();
        if !request.awaits_history {
            let branches = Branches::new(&*stores.conversations, scope, chat);
            post::merge(branches, &mut checked, &tools).await?;
        }
        let verifier = Stored(&*self.setup.verifier);
        self.verified(&mut checked, &extensions, principal, &verifier, false, Some(&tools))?;
        if let Some(answered) = answered {
            let input = Input::of_answers(&request, &extensions);
            self.answer_before(post, before, &answered, input, &extensions, &tools).await?;
        }
        let run = RunId::random();
        let mut new = NewRun::new(run, scope.clone(), chat.clone(), stores.instance);
        new.post = Some(identity);
        new.queue = MOST_QUEUED;
        let input = Input::queued(&request, &extensions, self.agent_name());
        let input = input.and_then(|input| input.to_bytes());
        new.input = input.map_err(|error| refused::by_store(&error))?;
        admission.run.release_slot();
        extensions.remove::<Held>();
        self.keep_admission(admission, &mut extensions);
        // A client that leaves does not keep a run without a driver.
        let (assistant, own) = (self.clone(), Arc::clone(stores));
        let begun = stores.spawn(async move { assistant.begin_queued(&own, new, extensions).await });
        begun.await.unwrap_or_else(|_| Err(Error::internal()))
    }

    async fn begin_queued(
        &self,
        stores: &Arc<Stores>,
        new: NewRun,
        extensions: Extensions,
    ) -> Result<View, Error> {
        let run = new.run;
        // Before the run can be claimed.
        let over = stores.queue.keep(run, &new.scope, &new.chat, extensions);
        failpoint::hit("queue.kept");
        let begun = stores.begin(&new).await;
        failpoint::hit("queue.begun");
        let refusal = match begun {
            Ok(Begun::Queued(_)) => {
                self.spawn_wait(stores, new.scope.clone(), run);
                return Ok(self.queued_view(stores, new.scope, run, over));
            }
            Ok(Begun::Started(writer)) => {
                let kept = stores.queue.take(run);
                stores.queue.end(run);
                let Some(mut extensions) = kept else { return Err(Error::internal()) };
                let admission = self.early_admission(&mut extensions);
                let mut head = RunHead::new(run, new.scope, new.chat, RunState::Running);
                (head.epoch, head.head) = (writer.epoch, 1);
                let claimed = Claimed::new(writer, head, new.input);
                return self.go_on(stores, claimed, extensions, admission).await;
            }
            Ok(Begun::Busy(_)) => Error::queue_full(usize::try_from(MOST_QUEUED).unwrap_or(usize::MAX)),
            Ok(Begun::Repeats(_)) => Error::duplicate_run(),
            Ok(Begun::Refused(refusal)) => refused::by_conversation(&refusal),
            Err(error) => error,
        };
        stores.queue.end(run);
        Err(refusal)
    }

    /// Returns a viewer of a run that waits in a queue.
    pub(in crate::engine::stored) fn view_queued(&self, stores: &Arc<Stores>, head: &RunHead) -> View {
        let (over, is_new) = stores.queue.join(head);
        if is_new {
            self.spawn_wait(stores, head.scope.clone(), head.run);
        }
        self.queued_view(stores, head.scope.clone(), head.run, over)
    }

    fn queued_view(&self, stores: &Arc<Stores>, scope: Scope, run: RunId, over: CancellationToken) -> View {
        let (assistant, its_stores, its_scope) = (self.clone(), Arc::clone(stores), scope.clone());
        let begins = Box::pin(async move {
            over.cancelled().await;
            match assistant.view_begun(&its_stores, &its_scope, run).await {
                Ok(view) => view,
                Err(error) => {
                    tracing::error!(run_id = %run, %error, "a run that was queued cannot be read; its viewer is cut");
                    None
                }
            }
        });
        View::queued(stores, scope, run, begins)
    }

    /// Returns a viewer of a run that was queued, from its first event. `None` if it still is, or went on after its server
    /// had stopped, so that its client has to come back.
    async fn view_begun(
        &self,
        stores: &Arc<Stores>,
        scope: &Scope,
        run: RunId,
    ) -> Result<Option<View>, Error> {
        let Some(head) = self.find_run(scope, Which::Run(run)).await? else { return Ok(None) };
        if head.state == RunState::Queued {
            return Ok(None);
        }
        if was_stopped_in_queue(&head) {
            return Ok(Some(stopped_view(stores, scope, run)));
        }
        let rest = self.leg_events(scope, run, Some(1)).await?;
        Ok(rest.filter(|rest| rest.epoch == 1).map(LegEvents::into_view))
    }

    fn spawn_wait(&self, stores: &Stores, scope: Scope, run: RunId) {
        stores.spawn(wait(Arc::downgrade(&self.setup), Arc::downgrade(&self.live), scope, run));
    }

    /// Begins the next queued run of a chat as soon as a run that this process has taken over is over. A queued run for
    /// which this process waits is begun by the task that waits.
    pub(in crate::engine::stored) fn spawn_next(
        &self,
        stores: &Stores,
        scope: Scope,
        chat: Text,
        run: RunId,
    ) {
        let over = stores.live(run).map(|leg| leg.over);
        let (setup, live) = (Arc::downgrade(&self.setup), Arc::downgrade(&self.live));
        tokio::spawn(async move {
            if let Some(over) = over {
                over.cancelled().await;
            }
            let (Some(setup), Some(live)) = (setup.upgrade(), live.upgrade()) else { return };
            let assistant = Self { setup, live, agent: None, team: None };
            let Some(stores) = assistant.stores().filter(|_| !assistant.is_draining()) else { return };
            // Errors were logged. The next beat tries again.
            if let Ok(Some(next)) = assistant.find_run(&scope, Which::Chat(&chat)).await
                && next.state == RunState::Queued
                && !stores.queue.look_at(next.run)
            {
                assistant.take_over(stores, next.run, Claim::IfFree, Extensions::new(), None).await.ok();
            }
        });
    }

    /// Begins a queued run if it is its turn.
    async fn look_at_queue(&self, stores: &Arc<Stores>, scope: &Scope, run: RunId) -> Result<Look, Error> {
        let Some(head) = self.find_run(scope, Which::Run(run)).await? else { return Ok(Look::Over) };
        let is_driven_here = head.instance == Some(stores.instance);
        match head.state {
            RunState::Queued => {}
            // It was claimed, and its leg is not listed yet.
            RunState::Running if is_driven_here && stores.live(run).is_none() => {
                return Ok(Look::Waits(None));
            }
            _ => return Ok(Look::Over),
        }
        let first = self.find_run(scope, Which::Chat(&head.chat)).await?;
        let Some(first) = first.filter(|first| first.run != run) else {
            failpoint::hit("queue.first");
            let view = self.take_over(stores, run, Claim::IfFree, Extensions::new(), None).await?;
            return Ok(view.map_or(Look::Waits(None), Look::Begun));
        };
        let leg = stores.live(first.run);
        Ok(if first.state == RunState::Waiting && leg.is_none() { Look::Owed } else { Look::Waits(leg) })
    }

    /// Completes the request of a run that was queued with the conversation as it is now, and stores its new messages, as for
    /// a run that begins at once. Returns the posted messages for the host.
    ///
    /// # Errors
    ///
    /// Returns an error if the post does not fit the conversation, or the store is not available.
    pub(in crate::engine::stored) async fn take_queued(
        &self,
        stores: &Stores,
        scope: &Scope,
        request: &mut RunRequest,
        extensions: &Extensions,
        principal: &Principal,
    ) -> Result<Verified, Error> {
        let chat = request.chat_id.clone().unwrap_or_default();
        let branches = Branches::new(&*stores.conversations, scope, &chat);
        let tools = self.possible_tools(request, extensions)?;
        let taken = post::merge(branches, request, &tools).await?;
        let keeps_seals = !self.setup.config.on_finish.is_empty();
        let verifier = Stored(&*self.setup.verifier);
        let verified = self.verified(request, extensions, principal, &verifier, keeps_seals, Some(&tools))?;
        let change = taken.change(&request.messages).map_err(|error| refused::by_store(&error))?;
        failpoint::hit("queue.taken");
        stores.save(scope, &chat, &change).await?;
        failpoint::hit("queue.saved");
        Ok(verified)
    }
}

/// The result of a look at a queue.
enum Look {
    /// The run does not wait any more.
    Over,
    /// The run begins here.
    Begun(View),
    /// Another run comes first, perhaps in this process, or somebody begins this one.
    Waits(Option<LiveLeg>),
    /// The run that comes first waits for an answer.
    Owed,
}

/// Begins a queued run when the earlier ones have ended, and lets its viewers know.
async fn wait(setup: Weak<Setup>, live: Weak<LiveRuns>, scope: Scope, run: RunId) {
    let mut delay = LOOK.0;
    loop {
        let (Some(setup), Some(live)) = (setup.upgrade(), live.upgrade()) else { return };
        let assistant = Assistant { setup, live, agent: None, team: None };
        let Some(stores) = assistant.stores().cloned() else { return };
        if assistant.is_draining() {
            stores.queue.end(run);
            return;
        }
        let leg = match assistant.look_at_queue(&stores, &scope, run).await {
            Ok(Look::Begun(view)) => {
                if stores.queue.end(run) {
                    view.detach();
                } else {
                    // A run without a viewer may end; see `OnDisconnect`.
                    sleep(JOIN).await;
                    drop(view);
                }
                return;
            }
            Ok(Look::Over) => {
                stores.queue.end(run);
                return;
            }
            Ok(Look::Waits(leg)) => leg,
            Ok(Look::Owed) => {
                delay = LOOK_AT_OWED;
                None
            }
            // It was logged.
            Err(_) => None,
        };
        let (changed, closing) = (stores.queue.changed(run), assistant.live.closing.clone());
        drop((assistant, stores));
        let ended = async {
            match &leg {
                Some(leg) => leg.over.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = ended => delay = LOOK.0,
            () = changed.notified() => delay = delay.min(LOOK.1),
            () = closing.cancelled() => {}
            () = sleep(delay) => delay = (delay * 2).min(LOOK.1),
        }
    }
}

/// Returns a viewer of a run that was stopped in its queue.
pub(super) fn stopped_view(stores: &Arc<Stores>, scope: &Scope, run: RunId) -> View {
    let events = [
        RunEvent::Start { message_id: message_id(run), metadata: None },
        RunEvent::Abort { reason: Text::from_static(STOPPED) },
    ];
    View::new(stores, scope.clone(), run, VecDeque::from(events), Position::default(), None).of_epoch(1)
}
