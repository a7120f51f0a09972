//! The treatment of a post to a stored chat whose run goes on.

use http::Extensions;
use omniassist_core::message::{Message, Role};
use omniassist_core::run::Trigger;
use omniassist_core::{Error, RunRequest};

use super::answer_call::Answered;
use super::answer_signal::answer_signal;
use super::input::Input;
use super::post;
use super::stored_post::StoredPost;
use crate::engine::agents::PossibleTools;
use crate::engine::assistant::Admission;
use crate::engine::settings::AskedWhenBusy;
use crate::engine::stored::chat::branches::{Branches, PreloadedBranches};
use crate::engine::stored::chat::message_id;
use crate::engine::stores::answers::{self, answered_before};
use crate::engine::stores::refused;
use crate::engine::{Assistant, WhenBusy};
use crate::store::{Branch, Post, RunHead, RunState, Signal, SignalKind, Which};

/// The place of a post in its chat.
pub(in crate::engine::stored) enum Turn {
    /// The run can begin. These branches were loaded while the store looked for an earlier run.
    Now(PreloadedBranches),
    /// The run waits until this one and those in the queue have ended.
    After(Box<RunHead>),
    /// The post began this run before.
    Repeats(Box<RunHead>),
}

impl Assistant {
    /// Returns the treatment of a request whose chat is busy: that of the host, of the client if it may choose, or of the
    /// assistant.
    ///
    /// # Errors
    ///
    /// Returns an error if the client may not choose this one.
    pub(in crate::engine) fn when_busy(&self, extensions: &Extensions) -> Result<WhenBusy, Error> {
        let config = &self.setup.config;
        if let Some(of_host) = extensions.get::<WhenBusy>() {
            return Ok(*of_host);
        }
        match extensions.get::<AskedWhenBusy>() {
            None => Ok(config.when_busy),
            Some(AskedWhenBusy(asked)) if config.client_when_busy.contains(asked) => Ok(*asked),
            Some(_) => Err(Error::invalid_field(
                "X-Omniassist-When-Busy",
                "a treatment that the assistant lets clients choose",
                "another one",
            )),
        }
    }

    /// Prepares the chat for a new run. The earlier runs end, or the new one waits for them. `wanted` are branches of the
    /// conversation to load meanwhile.
    ///
    /// # Errors
    ///
    /// Returns an error if the post is refused, or the store is not available.
    pub(super) async fn take_turn(
        &self,
        post: &StoredPost<'_>,
        key: Option<&Post>,
        admission: &mut Admission,
        request: &mut RunRequest,
        wanted: Vec<Branch>,
    ) -> Result<Turn, Error> {
        let when_busy = post.when_busy;
        if when_busy != WhenBusy::Supersede
            && let Some(head) = self.find_run(&post.scope, Which::Chat(&post.chat)).await?
            && !head.state.is_ended()
        {
            match when_busy {
                WhenBusy::Enqueue => return Ok(Turn::After(Box::new(head))),
                WhenBusy::Reject if head.state != RunState::Waiting => {
                    return match self.is_of_post(post, key, &head).await? {
                        true => Ok(Turn::Repeats(Box::new(head))),
                        false => Err(busy(&head)),
                    };
                }
                WhenBusy::Discard => {
                    let turn = self.end_earlier(post, key, admission, request, Vec::new()).await?;
                    if let Turn::Now(_) = turn {
                        self.supersede(post.stores, &head).await?;
                        self.leave_out(post, &head, request).await?;
                    }
                    return Ok(turn);
                }
                _ => {}
            }
        }
        if when_busy == WhenBusy::Enqueue {
            // The chat may have become busy. The run is then refused when it is inserted.
            return Ok(Turn::Now(PreloadedBranches::default()));
        }
        self.end_earlier(post, key, admission, request, wanted).await
    }

    /// Ends the run in progress of the chat, so that the conversation has what it wrote, unless the same post has begun it. A
    /// waiting run ends too if the post has answers for it, so that it cannot go on while they are stored.
    async fn end_earlier(
        &self,
        post: &StoredPost<'_>,
        key: Option<&Post>,
        admission: &mut Admission,
        request: &RunRequest,
        wanted: Vec<Branch>,
    ) -> Result<Turn, Error> {
        // First, since the next one begins as soon as the run in progress has ended.
        for run in post.stores.queue.of_chat(&post.scope, &post.chat) {
            let stop = Signal::new(SignalKind::Stop, post.scope.owner());
            let stopped = post.stores.runs.signal(&post.scope, run, &stop).await;
            stopped.map_err(|error| refused::by_store(&error))?;
            post.stores.queue.look_at(run);
        }
        self.live.make_way(&mut admission.run, self.limits()).await?;
        let branches = Branches::new(&*post.stores.conversations, &post.scope, &post.chat);
        let found = self.find_run(&post.scope, Which::Chat(&post.chat));
        let (found, loaded) = tokio::try_join!(found, branches.load_all(wanted))?;
        let Some(head) = found else { return Ok(Turn::Now(loaded)) };
        if head.state != RunState::Running && self.answered_before(request, &head).await?.is_none() {
            return Ok(Turn::Now(loaded));
        }
        if self.is_of_post(post, key, &head).await? {
            return Ok(Turn::Repeats(Box::new(head)));
        }
        self.supersede(post.stores, &head).await?;
        Ok(Turn::Now(PreloadedBranches::default()))
    }

    /// Returns `true` if the message of a post is not the question that a run answers. Generated ids do not count. The question
    /// of a run in a queue is not known, and neither is one after whose run nothing was stored.
    pub(super) async fn asks_other(
        &self,
        post: &StoredPost<'_>,
        head: &RunHead,
        request: &RunRequest,
    ) -> Result<bool, Error> {
        let StoredPost { stores, scope, chat, .. } = post;
        let Some(posted) = request.messages.last().filter(|_| request.trigger == Trigger::Submit) else {
            return Ok(false);
        };
        if head.state == RunState::Queued {
            return Ok(false);
        }
        let latest = self.find_run(scope, Which::Chat(chat)).await?;
        let is_latest = latest.is_some_and(|latest| latest.run == head.run);
        let question = post::question_of(&*stores.conversations, scope, chat, head.run, is_latest).await?;
        Ok(question.is_some_and(|question| posted.role != question.role || !post::is_same(&question, posted)))
    }

    async fn is_of_post(
        &self,
        post: &StoredPost<'_>,
        key: Option<&Post>,
        head: &RunHead,
    ) -> Result<bool, Error> {
        let Some(key) = key else { return Ok(false) };
        let which = Which::Post { chat: &post.chat, key: &key.key };
        Ok(self.find_run(&post.scope, which).await?.is_some_and(|found| found.run == head.run))
    }

    /// Returns the message of a post that answers questions of a waiting run, if a new message of the user follows it.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available.
    pub(super) async fn answered_before<'a>(
        &self,
        request: &'a RunRequest,
        head: &RunHead,
    ) -> Result<Option<&'a Message>, Error> {
        match answered_before(request, head) {
            Some(message) if self.writes(head, &message.id).await? => Ok(Some(message)),
            _ => Ok(None),
        }
    }

    /// Gives the answers of a post with a new message to the run that waits for them. It goes on, and the post waits until it
    /// has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the run cannot be continued.
    pub(super) async fn answer_before(
        &self,
        post: &StoredPost<'_>,
        head: &RunHead,
        posted: &Message,
        input: Input,
        extensions: &Extensions,
        tools: &PossibleTools,
    ) -> Result<(), Error> {
        let stored = self.stored(post.stores, &post.scope, &post.chat, &posted.id).await;
        let Some(stored) = stored.map_err(|error| refused::by_store(&error))? else { return Ok(()) };
        let mut input = Some(input);
        for (call, answer) in answers::owed(&stored, posted, tools) {
            // One that the run has already, or does not wait for any more, changes nothing.
            let signal = answer_signal(call, &answer, input.as_ref(), post.scope.owner());
            let signal = signal.map_err(|error| refused::by_store(&error))?;
            if let Answered::Taken(_) =
                self.send_answer(post.stores, head, &signal, extensions.clone()).await?
            {
                input = None;
            }
        }
        Ok(())
    }

    /// Takes the question of a run and its answer from the messages of a request that follows them.
    async fn leave_out(
        &self,
        post: &StoredPost<'_>,
        head: &RunHead,
        request: &mut RunRequest,
    ) -> Result<(), Error> {
        let conversations = &*post.stores.conversations;
        let is_new = match request.messages.last() {
            Some(last) if last.role == Role::User && request.trigger == Trigger::Submit => {
                !post::has(conversations, &post.scope, &post.chat, &last.id).await?
            }
            _ => false,
        };
        if !is_new {
            return Ok(());
        }
        let answer = message_id(head.run);
        let mut before = post::branch_of(conversations, &post.scope, &post.chat, &answer).await?;
        before.pop_if(|last| last.role == Role::Assistant);
        let Some(question) = before.pop() else { return Ok(()) };
        let is_left_out = |message: &Message| message.id == answer || post::is_version(message, &question);
        let earlier = request.messages.len().saturating_sub(1);
        if request.awaits_history || request.messages.iter().take(earlier).any(is_left_out) {
            let last = request.messages.pop();
            request.messages = before;
            request.messages.extend(last);
            request.awaits_history = false;
        }
        Ok(())
    }

    /// Returns `true` if a request continues a chat after a run that has not ended.
    pub(in crate::engine::stored) async fn follows(
        &self,
        post: &StoredPost<'_>,
        head: &RunHead,
        request: &RunRequest,
    ) -> Result<bool, Error> {
        let is_question = request.messages.last().is_some_and(|last| last.role == Role::User);
        if request.trigger != Trigger::Submit || !is_question {
            return Ok(false);
        }
        if request.awaits_history {
            return Ok(true);
        }
        let answer = message_id(head.run);
        let conversations = &*post.stores.conversations;
        let shown = post::head(conversations, &post.scope, &post.chat).await?;
        let earlier = request.messages.len().saturating_sub(1);
        Ok(request.messages.iter().take(earlier).any(|message| {
            message.id == answer || shown.as_ref().is_some_and(|shown| post::is_version(message, shown))
        }))
    }
}

/// Returns the error for a post that the store did not begin, since this run comes first.
pub(in crate::engine::stored) fn busy(head: &RunHead) -> Error {
    Error::chat_busy().with_run(head.run.to_string())
}
