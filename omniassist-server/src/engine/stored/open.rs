//! A post as a stored run.

use std::collections::VecDeque;
use std::sync::Arc;

use http::Extensions;
use omniassist_core::message::Role;
use omniassist_core::run::Trigger;
use omniassist_core::verify::{HistoryPart, Verdict};
use omniassist_core::{Error, RunRequest, Text, Verifier};

use super::input::Input;
use super::journal::Position;
use super::leg::{Built, Leg, Start};
use super::post::{self, Taken, What};
use super::refused;
use super::rest::Rest;
use super::stores::Stores;
use super::view::View;
use crate::engine::admission::{Admission, post_digest};
use crate::engine::history::Carried;
use crate::engine::{Assistant, Run, verification};
use crate::quota::Held;
use crate::store::{Begun, Change, NewRun, Post, RunId, RunState, Saved, Scope, Which};
use crate::{Principal, failpoint};

/// The source of the events that answer a post.
pub(crate) enum Opened {
    /// A run that is not stored. Its reader drives it.
    Run(Run),
    /// A viewer of a stored run.
    View(View),
}

/// A post to a stored conversation.
pub(super) struct StoredPost<'a> {
    pub(super) stores: &'a Arc<Stores>,
    pub(super) scope: Scope,
    pub(super) chat: Text,
    pub(super) principal: &'a Principal,
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
        let (Some(stores), Some(chat), Some(scope)) =
            (self.stores(), request.chat_id.clone(), Scope::of(&principal))
        else {
            return self.try_run(request, extensions).await.map(Opened::Run);
        };
        let post = StoredPost { stores, scope, chat, principal: &principal };
        let opened = self.open_stored(&post, request, extensions).await;
        opened
            .map(Opened::View)
            .inspect_err(|refusal| self.report_refused(&principal, Some(&post.chat), refusal))
    }

    async fn open_stored(
        &self,
        post: &StoredPost<'_>,
        mut request: RunRequest,
        mut extensions: Extensions,
    ) -> Result<View, Error> {
        self.begin_lease(post.stores).await?;
        let key: Option<Post> = extensions.remove();
        if let Some(key) = &key
            && let Some(view) = self.repeated(post, key).await?
        {
            return Ok(view);
        }
        Held::keep_files(&mut extensions, &request);
        failpoint::hit("open.leased");
        let mut admission = self.admit(&request, &mut extensions, post.principal).await?;
        let digest = || Post::digest(post_digest(&request).to_le_bytes().to_vec());
        let identity = key.unwrap_or_else(digest);
        if !posts_answers(&request) {
            self.end_earlier(post, &mut admission).await?;
        }
        let tools = self.tools_for(&request, &extensions)?.for_principal(post.principal.clone());
        let conversations = &*post.stores.conversations;
        let mut taken = post::take(conversations, &post.scope, &post.chat, &mut request, &tools).await?;
        if let What::Answers(answers) = &mut taken.what {
            let answers = std::mem::take(answers);
            return self.answer(post, answers, extensions, admission).await;
        }
        failpoint::hit("open.taken");
        let start = Start {
            request,
            extensions,
            tools,
            carried: Carried::default(),
            posted: None,
            admission: Some(admission),
        };
        self.begin_stored(post, &taken, identity, start).await
    }

    /// Returns a viewer of the run that a post with the same key began.
    async fn repeated(&self, post: &StoredPost<'_>, key: &Post) -> Result<Option<View>, Error> {
        let which = Which::Post { chat: &post.chat, key: &key.key };
        let Some(head) = self.find_run(&post.scope, which).await? else { return Ok(None) };
        if head.head == 0 {
            return Err(Error::duplicate_run());
        }
        Ok(self.rest(&post.scope, head.run, Some(1)).await?.map(Rest::into_view))
    }

    /// Ends the run in progress of the chat, so that the conversation has what it wrote.
    async fn end_earlier(&self, post: &StoredPost<'_>, admission: &mut Admission) -> Result<(), Error> {
        self.live.make_way(&mut admission.run, self.limits()).await?;
        let head = post.stores.runs.find(&post.scope, Which::Chat(&post.chat)).await;
        match head.map_err(|error| refused::by_store(&error))? {
            Some(head) if head.state == RunState::Running => self.supersede(post.stores, &head).await,
            _ => Ok(()),
        }
    }

    async fn begin_stored(
        &self,
        post: &StoredPost<'_>,
        taken: &Taken,
        identity: Post,
        mut start: Start,
    ) -> Result<View, Error> {
        let setup = &self.setup;
        let StoredPost { stores, scope, chat, principal } = post;
        let request = &mut start.request;
        start.carried = self.carried(request, principal);
        let verifier = Stored(&*setup.verifier);
        let keeps_seals = !setup.config.on_finish.is_empty();
        start.posted = verification::verify(request, principal, &start.tools, &verifier, keeps_seals)?;
        let change = taken.change(&request.messages).map_err(|error| refused::by_store(&error))?;
        let leaf = request.messages.last().map(|message| message.id.clone()).unwrap_or_default();
        let run = RunId::random();
        let mut new = NewRun::new(run, scope.clone(), chat.clone(), stores.instance);
        new.post = Some(identity);
        new.input =
            Input::new(request, leaf.clone()).to_bytes().map_err(|error| refused::by_store(&error))?;
        match stores.is_one {
            true => new.change = Some(change),
            false => save(stores, scope, chat, &change).await?,
        }
        let has_stored_answers = taken.what != What::Import;
        failpoint::hit("open.described");
        let built = self.build_leg(run, start, None, has_stored_answers)?;
        let leg = NewLeg { new, built, leaf };
        // A client that leaves does not keep a stored run without a driver.
        let (assistant, stores) = (self.clone(), Arc::clone(stores));
        let begun = tokio::spawn(async move { assistant.begin_leg(&stores, leg).await });
        begun.await.unwrap_or_else(|_| Err(Error::internal()))
    }

    async fn begin_leg(&self, stores: &Arc<Stores>, leg: NewLeg) -> Result<View, Error> {
        let NewLeg { new, built, leaf } = leg;
        failpoint::hit("open.built");
        let writer = loop {
            match stores.runs.begin(&new).await.map_err(|error| refused::by_store(&error))? {
                Begun::Started(writer) => break writer,
                Begun::Busy(head) => self.supersede(stores, &head).await?,
                Begun::Repeats(_) => return Err(Error::duplicate_run()),
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

/// A run that the store does not have yet.
struct NewLeg {
    new: NewRun,
    built: Built,
    /// The message that the run answers.
    leaf: Text,
}

/// Saves a change in a store of conversations that is not the store of runs.
async fn save(stores: &Stores, scope: &Scope, chat: &str, change: &Change) -> Result<(), Error> {
    match stores.conversations.save(scope, chat, change).await.map_err(|error| refused::by_store(&error))? {
        Saved::Version(_) => Ok(()),
        Saved::Refused(refusal) => Err(refused::by_conversation(&refusal)),
    }
}

/// Returns `true` if the post can have answers for a run that waits. It ends no run.
fn posts_answers(request: &RunRequest) -> bool {
    let last = request.messages.last();
    request.trigger == Trigger::Submit && last.is_some_and(|message| message.role == Role::Assistant)
}

/// Accepts what comes from the store, and leaves the rest to the assistant's verifier.
pub(super) struct Stored<'a>(pub(super) &'a dyn Verifier);

impl Verifier for Stored<'_> {
    fn verify(&self, part: HistoryPart<'_>) -> Verdict {
        if part.is_loaded { Verdict::Accept } else { self.0.verify(part) }
    }
}
