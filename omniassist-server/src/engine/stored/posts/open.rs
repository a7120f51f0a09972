//! A post as a stored run.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use omniassist_core::message::Role;
use omniassist_core::run::Trigger;
use omniassist_core::{Error, ErrorCode, RunRequest, Text};
use tokio::time::{Instant, sleep};

use super::busy::{Turn, busy};
use super::enqueue::stopped_view;
use super::input::Input;
use super::post::{self, NewPart, PostKind};
use super::question_order::put_new_last;
use super::stored_post::StoredPost;
use super::verifier::Stored;
use crate::engine::agents::{PossibleTools, Verified};
use crate::engine::assistant::{Admission, CountedOnce, post_digest};
use crate::engine::run::UsedBefore;
use crate::engine::stored::chat::branches::{self, Branches, PreloadedBranches};
use crate::engine::stored::execution::{Built, Leg, Start};
use crate::engine::stored::viewers::{LegEvents, View};
use crate::engine::stores::Stores;
use crate::engine::stores::journal::Position;
use crate::engine::stores::queue::was_stopped_in_queue;
use crate::engine::stores::refused;
use crate::engine::tree::WaitingAgents;
use crate::engine::{Assistant, Run, WhenBusy};
use crate::quota::Held;
use crate::store::{Begun, NewRun, NotSaved, Post, RunHead, RunId, RunState, Scope, Which};
use crate::{Principal, failpoint};

/// The time for which a post waits for the run of the same post, or of another one that came first.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The time between two tries of such a post.
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// The source of the events that answer a post.
pub(crate) enum Opened {
    /// A run that is not stored. Its reader drives it.
    Run(Run),
    /// A viewer of a stored run.
    View(View),
}

impl Assistant {
    /// Returns the stores, if runs are stored.
    pub(crate) fn stores(&self) -> Option<&Arc<Stores>> {
        self.setup.stores.as_ref()
    }

    /// Begins a run for a client. It is stored if the assistant has a store, the request belongs to a chat, and its
    /// principal is known.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`try_run`](Self::try_run), and an error if the post does not fit the stored conversation or
    /// the store is not available.
    pub(crate) async fn open(&self, request: RunRequest, extensions: Extensions) -> Result<Opened, Error> {
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        let (Some(stores), Some(chat)) = (self.stores(), request.chat_id.clone()) else {
            return self.try_run(request, extensions).await.map(Opened::Run);
        };
        let Some(scope) = Scope::of(&principal) else {
            stores.report_anonymous();
            return self.try_run(request, extensions).await.map(Opened::Run);
        };
        let opened = match self.when_busy(&extensions) {
            Ok(when_busy) => {
                let post = StoredPost { stores, scope, chat: chat.clone(), principal: &principal, when_busy };
                self.open_stored(&post, request, extensions).await
            }
            Err(error) => Err(error),
        };
        opened.map(Opened::View).inspect_err(|refusal| self.report_refused(&principal, Some(&chat), refusal))
    }

    /// Opens a post. One that is repeated at the same moment, or for which the chat has become busy, is opened again.
    ///
    /// A post is first compared with a conversation that is loaded while the store looks for an earlier run. If the
    /// conversation has changed before the run begins, the post is opened again, and one read follows the other.
    async fn open_stored(
        &self,
        post: &StoredPost<'_>,
        request: RunRequest,
        mut extensions: Extensions,
    ) -> Result<View, Error> {
        self.begin_lease(post.stores).await?;
        let key: Option<Post> = extensions.remove();
        extensions.insert(CountedOnce::default());
        let until = Instant::now() + MAX_WAIT;
        let mut is_ahead = post.stores.is_one && key.is_none() && post.when_busy == WhenBusy::Supersede;
        while is_ahead || key.is_some() || post.when_busy == WhenBusy::Enqueue {
            // Boxed, since the future is large and would double here.
            let again = (request.clone(), extensions.clone());
            let opened = Box::pin(self.open_once(post, again, key.as_ref(), is_ahead)).await;
            let Err(error) = opened else { return opened };
            if is_ahead && error.code() == ErrorCode::ChatBusy {
                is_ahead = false;
                continue;
            }
            let may_change = match error.code() {
                ErrorCode::DuplicateRun => key.is_some(),
                ErrorCode::ChatBusy => post.when_busy == WhenBusy::Enqueue,
                _ => false,
            };
            if !may_change || Instant::now() > until {
                return Err(error);
            }
            sleep(RETRY_DELAY).await;
        }
        Box::pin(self.open_once(post, (request, extensions), None, false)).await
    }

    async fn open_once(
        &self,
        post: &StoredPost<'_>,
        (mut request, mut extensions): (RunRequest, Extensions),
        key: Option<&Post>,
        is_ahead: bool,
    ) -> Result<View, Error> {
        if let Some(key) = key
            && let Some(head) =
                self.find_run(&post.scope, Which::Post { chat: &post.chat, key: &key.key }).await?
        {
            return self.repeated(post, &head, &request).await;
        }
        Held::keep_files(&mut extensions, &request);
        failpoint::hit("open.leased");
        let named = key.map(|key| &*key.key);
        let admitted = self.admit(&request, &mut extensions, post.principal, post.when_busy, named).await;
        let mut admission = match admitted {
            Ok(admission) => admission,
            Err(error) => return Err(self.with_run_in_the_way(post, error).await),
        };
        let digest = || Post::digest(post_digest(&request, self.agent_name()).to_le_bytes().to_vec());
        let identity = key.cloned().unwrap_or_else(digest);
        let mut loaded = PreloadedBranches::default();
        if posts_answers(&request) {
            let branches = Branches::new(&*post.stores.conversations, &post.scope, &post.chat);
            loaded = put_new_last(&branches, &mut request).await?;
        }
        if !posts_answers(&request) {
            let wanted = if is_ahead { branches::of_question(&request) } else { Vec::new() };
            match self.take_turn(post, key, &mut admission, &mut request, wanted).await? {
                Turn::Now(branches) => loaded = branches,
                Turn::Repeats(head) => return self.repeated(post, &head, &request).await,
                Turn::After(head) => {
                    return self.enqueue(post, &head, request, extensions, admission, identity).await;
                }
            }
        }
        let tools = self.possible_tools(&request, &extensions)?;
        let taken = merge_post(post, loaded, &mut request, &tools).await?;
        if let PostKind::Answers(answers) = taken.kind {
            let input = Input::of_answers(&request, &extensions);
            return self.answer(post, answers, input, extensions, admission).await;
        }
        failpoint::hit("open.taken");
        let admitted = Admitted { request, extensions, tools, admission };
        self.begin_stored(post, &taken, identity, admitted, is_ahead).await
    }

    /// Returns a viewer of the run that the same post began.
    ///
    /// # Errors
    ///
    /// Returns an error if the post has another message, the events of the run are no longer kept, or the store is not
    /// available.
    async fn repeated(
        &self,
        post: &StoredPost<'_>,
        head: &RunHead,
        request: &RunRequest,
    ) -> Result<View, Error> {
        if self.asks_other(post, head, request).await? {
            return Err(Error::idempotency_key_reused());
        }
        if head.state == RunState::Queued {
            return Ok(self.view_queued(post.stores, head));
        }
        if was_stopped_in_queue(head) {
            return Ok(stopped_view(post.stores, &post.scope, head.run));
        }
        if head.head == 0 {
            return Err(Error::events_expired());
        }
        let rest = self.leg_events(&post.scope, head.run, Some(1)).await?;
        rest.map(LegEvents::into_view).ok_or_else(Error::duplicate_run)
    }

    /// Adds the run of the chat to the error that it is busy.
    async fn with_run_in_the_way(&self, post: &StoredPost<'_>, error: Error) -> Error {
        if error.code() != ErrorCode::ChatBusy {
            return error;
        }
        match self.find_run(&post.scope, Which::Chat(&post.chat)).await {
            Ok(Some(head)) if !head.state.is_ended() => busy(&head),
            _ => error,
        }
    }

    async fn begin_stored(
        &self,
        post: &StoredPost<'_>,
        taken: &NewPart,
        identity: Post,
        admitted: Admitted,
        is_ahead: bool,
    ) -> Result<View, Error> {
        let setup = &self.setup;
        let StoredPost { stores, scope, chat, principal, when_busy } = post;
        let Admitted { mut request, extensions, tools, admission } = admitted;
        let carried = self.carried(&request, principal);
        let verifier = Stored(&*setup.verifier);
        let keeps_seals = !setup.config.on_finish.is_empty();
        let known = Some(&tools);
        let verified = self.verified(&mut request, &extensions, principal, &verifier, keeps_seals, known)?;
        let Verified { agent, tools, posted } = verified;
        let mut change = taken.change(&request.messages).map_err(|error| refused::by_store(&error))?;
        change.version = is_ahead.then_some(taken.version);
        let leaf = request.messages.last().map(|message| message.id.clone()).unwrap_or_default();
        let run = RunId::random();
        let mut new = NewRun::new(run, scope.clone(), chat.clone(), stores.instance);
        new.post = Some(identity);
        let input = Input::new(&request, &extensions, leaf.clone(), self.agent_name());
        let input = input.and_then(|input| input.to_bytes());
        new.input = input.map_err(|error| refused::by_store(&error))?;
        let has_stored_answers = taken.kind != PostKind::Import;
        failpoint::hit("open.described");
        let admission = Some(admission);
        let (waiting, before) = (WaitingAgents::new(), UsedBefore::default());
        let start = Start { request, extensions, tools, carried, posted, admission, waiting, before };
        let built = agent.build_leg(run, start, None, has_stored_answers)?;
        // After the leg is built, which refuses a post that is repeated at the same moment.
        match stores.is_one {
            true => new.change = Some(change),
            false => stores.save(scope, chat, &change).await?,
        }
        let leg = NewLeg { new, built, leaf, when_busy: *when_busy };
        // A client that leaves does not keep a stored run without a driver.
        let (assistant, own) = (self.clone(), Arc::clone(stores));
        let begun = stores.spawn(async move { assistant.begin_leg(&own, leg).await });
        begun.await.unwrap_or_else(|_| Err(Error::internal()))
    }

    async fn begin_leg(&self, stores: &Arc<Stores>, leg: NewLeg) -> Result<View, Error> {
        let NewLeg { new, built, leaf, when_busy } = leg;
        failpoint::hit("open.built");
        let writer = loop {
            match stores.begin(&new).await? {
                Begun::Started(writer) => break writer,
                Begun::Busy(head) => match when_busy {
                    WhenBusy::Enqueue => return Err(busy(&head)),
                    WhenBusy::Reject if head.state != RunState::Waiting => return Err(busy(&head)),
                    _ => self.supersede(stores, &head).await?,
                },
                Begun::Repeats(_) => return Err(Error::duplicate_run()),
                Begun::Refused(NotSaved::Conflict(_)) => return Err(Error::chat_busy()),
                Begun::Refused(refusal) => return Err(refused::by_conversation(&refusal)),
                Begun::Queued(_) => return Err(Error::chat_busy()),
            }
        };
        failpoint::hit("open.begun");
        // The first segment is that of `begin`.
        let at = Position { segments: 1, events: 0 };
        let NewRun { run, scope, chat, .. } = new;
        let leg = Leg { writer, scope: scope.clone(), chat, parent: Some(leaf), from: at, at };
        let tail = self.spawn_leg(stores, built, leg);
        Ok(View::new(stores, scope, run, VecDeque::new(), at, Some(tail)))
    }
}

/// A post that was admitted.
struct Admitted {
    request: RunRequest,
    extensions: Extensions,
    tools: PossibleTools,
    admission: Admission,
}

/// A run that the store does not have yet.
struct NewLeg {
    new: NewRun,
    built: Built,
    /// The message that the run answers.
    leaf: Text,
    when_busy: WhenBusy,
}

/// Merges a post with its stored conversation, with branches that were loaded before. A run whose answer the post has may have
/// ended since, so an unknown answer is looked for again.
async fn merge_post(
    post: &StoredPost<'_>,
    loaded: PreloadedBranches,
    request: &mut RunRequest,
    tools: &PossibleTools,
) -> Result<NewPart, Error> {
    let branches = || Branches::new(&*post.stores.conversations, &post.scope, &post.chat);
    if loaded.is_empty() {
        return post::merge(branches(), request, tools).await;
    }
    let posted = request.clone();
    match post::merge(branches().with(loaded), request, tools).await {
        Err(error) if error.code() == ErrorCode::UnknownParent => {
            *request = posted;
            post::merge(branches(), request, tools).await
        }
        taken => taken,
    }
}

/// Returns `true` if the post can have answers for a run that waits. It ends no run.
fn posts_answers(request: &RunRequest) -> bool {
    let last = request.messages.last();
    request.trigger == Trigger::Submit && last.is_some_and(|message| message.role == Role::Assistant)
}
