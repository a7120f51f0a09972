//! Runs that go on: after the answers that they waited for, or after their server has stopped.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use omniassist_core::event::{FinishReason, Usage};
use omniassist_core::{Error, ErrorCode, Message, RunEvent, RunRequest, Text, TrustHistory};
use tokio::time::{Instant, sleep, timeout};

use super::last_leg::LastLeg;
use super::stop::head_of;
use crate::agent_config::RETRY;
use crate::engine::Assistant;
use crate::engine::agents::Verified;
use crate::engine::assistant::Admission;
use crate::engine::run::verification;
use crate::engine::settings::Recovery;
use crate::engine::stored::chat::{message, message_id};
use crate::engine::stored::execution::{Leg, Start};
use crate::engine::stored::posts::{Input, OF_TREE, StoredPost, answer_signal, is_same_answer};
use crate::engine::stored::viewers::{LegEvents, View};
use crate::engine::stores::Stores;
use crate::engine::stores::answers::PostedAnswers;
use crate::engine::stores::journal::Position;
use crate::engine::stores::refused;
use crate::store::{
    Branch, Claim, Claimed, Conversation, Ending, RunHead, RunId, RunState, Scope, Signalled, StoreError,
    Which, Window, Writer,
};
use crate::{Principal, RunContext, failpoint, panics};

/// The number of take-overs without progress after which a run is given up.
const MAX_TAKEOVERS: u32 = 2;

/// The longest time for which a claimed run waits for its agent and its conversation.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

/// The longest time that the function of `recover_with` may take.
const LONGEST_HOOK: Duration = Duration::from_secs(30);

impl Assistant {
    /// Answers what a run waits for, and continues it if nothing is left to answer. If the run has these answers already,
    /// perhaps from a post to another instance, the viewer is one of what followed them. So it is after the end of the run, as
    /// long as its events are kept.
    ///
    /// # Errors
    ///
    /// Returns an error if no run of the chat waits for the answers, a question has another answer, or the store is not
    /// available.
    pub(in crate::engine::stored) async fn answer(
        &self,
        post: &StoredPost<'_>,
        answers: PostedAnswers,
        input: Input,
        extensions: Extensions,
        admission: Admission,
    ) -> Result<View, Error> {
        let StoredPost { stores, scope, chat, principal, .. } = post;
        let head = self.find_run(scope, Which::Chat(chat)).await?;
        let head = head.ok_or_else(Error::not_waiting)?;
        if !head.state.is_live() {
            return self.answered(post, &answers, &head).await;
        }
        if !self.writes(&head, &answers.message).await? {
            return Err(Error::not_waiting());
        }
        if answers.differ {
            return Err(Error::already_answered());
        }
        if answers.open.is_empty() && head.state == RunState::Running {
            return Err(Error::duplicate_run());
        }
        let PostedAnswers { message, open, .. } = answers;
        let (mut input, mut may_go_on, mut differ) = (Some(input), false, false);
        for (call, answer) in open {
            let signal = answer_signal(call, &answer, input.as_ref(), principal.id());
            let signal = signal.map_err(|error| refused::by_store(&error))?;
            failpoint::hit("answer.read");
            let sent = stores
                .runs
                .signal(scope, head.run, &signal)
                .await
                .map_err(|error| refused::by_store(&error))?;
            match sent {
                Signalled::Gone => return Err(Error::not_waiting()),
                Signalled::Taken => input = None,
                Signalled::Repeats(given) if !is_same_answer(&given.signal, &signal) => {
                    differ = true;
                    break;
                }
                Signalled::Repeats(_) | Signalled::Late => {}
            }
            may_go_on = true;
        }
        failpoint::hit("answer.sent");
        let mut view = None;
        if may_go_on && head.state == RunState::Waiting {
            view = self.take_over(stores, head.run, Claim::IfFree, extensions, Some(admission)).await?;
        }
        match view {
            Some(view) if differ => view.detach(),
            Some(view) => return Ok(view),
            None => {}
        }
        if differ {
            return Err(Error::already_answered());
        }
        let head = self.find_run(scope, Which::Run(head.run)).await?.ok_or_else(Error::not_waiting)?;
        if head.state != RunState::Waiting {
            let rest = self.leg_events(scope, head.run, Some(head.epoch)).await?;
            return rest.map(LegEvents::into_view).ok_or_else(Error::already_answered);
        }
        // The run still waits for other answers.
        let queue = VecDeque::from([
            RunEvent::Start { message_id: message, metadata: None },
            RunEvent::Finish { reason: FinishReason::ToolCalls, usage: message::usage_of(&head) },
        ]);
        Ok(View::new(stores, scope.clone(), head.run, queue, Position::default(), None))
    }

    /// Returns a viewer of what followed answers that a run had before it ended.
    async fn answered(
        &self,
        post: &StoredPost<'_>,
        answers: &PostedAnswers,
        head: &RunHead,
    ) -> Result<View, Error> {
        if answers.is_known == Some(true) && head.head > 0 {
            let rest = self.leg_events(&post.scope, head.run, Some(head.epoch)).await?;
            let rest = rest.filter(|rest| rest.message_id() == Some(&answers.message));
            return rest.map(LegEvents::into_view).ok_or_else(Error::already_answered);
        }
        match answers.is_known {
            Some(_) if answers.open.is_empty() => Err(Error::already_answered()),
            _ => Err(Error::not_waiting()),
        }
    }

    /// Claims a run and continues it. Returns a viewer of what follows, or `None` if the claim is refused.
    ///
    /// Dropping the future does not stop it, so that no run is claimed without a driver.
    ///
    /// # Errors
    ///
    /// Returns an error if the run or its conversation cannot be read. Nothing is deleted then.
    pub(in crate::engine::stored) async fn take_over(
        &self,
        stores: &Arc<Stores>,
        run: RunId,
        condition: Claim,
        extensions: Extensions,
        admission: Option<Admission>,
    ) -> Result<Option<View>, Error> {
        let (assistant, own) = (self.clone(), Arc::clone(stores));
        let taken = stores.spawn(async move {
            let claimed = own.claim(run, condition).await;
            match claimed.map_err(|error| refused::by_store(&error))? {
                Some(claimed) => {
                    let (scope, chat) = (claimed.head.scope.clone(), claimed.head.chat.clone());
                    let (extensions, admission) = match own.queue.take(run) {
                        Some(mut kept) => {
                            let admission = assistant.early_admission(&mut kept);
                            (kept, admission)
                        }
                        None => (extensions, admission),
                    };
                    let view = assistant.go_on(&own, claimed, extensions, admission).await;
                    assistant.spawn_next(&own, scope, chat, run);
                    view.map(Some)
                }
                None => Ok(None),
            }
        });
        taken.await.unwrap_or_else(|_| Err(Error::internal()))
    }

    /// Continues a claimed run, and returns a viewer of what follows. It is the end if the run was taken over too often, or
    /// the assistant does not [resume](Recovery) runs.
    ///
    /// `admission` is `None` for a run that the server continues without a request of its client.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be continued. Nothing is deleted. The next beat tries again, or the run
    /// is given up.
    pub(in crate::engine::stored) async fn go_on(
        &self,
        stores: &Arc<Stores>,
        claimed: Claimed,
        extensions: Extensions,
        admission: Option<Admission>,
    ) -> Result<View, Error> {
        let run = claimed.writer.run;
        let is_tree = claimed.input == OF_TREE;
        if is_tree || claimed.takeovers > MAX_TAKEOVERS {
            if is_tree {
                tracing::info!(run_id = %run, "a tree of agents ends with its server");
            } else {
                tracing::error!(run_id = %run, "a run was taken over without progress too often; it is given up");
            }
            let given_up = self.give_up(stores, &claimed, Ending::Interrupted).await;
            given_up.map_err(|error| refused::by_store(&error))?;
            return Ok(ended(stores, claimed));
        }
        let kept = extensions.clone();
        let failure = match self.continue_leg(stores, claimed.clone(), extensions, admission).await {
            Ok(view) => return Ok(view),
            Err(failure) => failure,
        };
        let may_pass = failure.may_pass();
        if may_pass {
            self.continue_later(stores, claimed.clone(), kept);
        }
        match failure {
            Failed::Store(error) if may_pass => Err(refused::by_store(&error)),
            Failed::Refused(error) if may_pass => Err(error),
            Failed::Store(error) => {
                if !error.is_gone() {
                    tracing::error!(run_id = %run, "a run cannot be continued; it is given up");
                }
                let answer = refused::by_store(&error);
                // A later beat tries again.
                self.give_up(stores, &claimed, Ending::Interrupted).await.ok();
                Err(answer)
            }
            Failed::Overtaken => Err(Error::not_waiting()),
            // The next beat tries again.
            Failed::Refused(error) => {
                stores.remember_left(run);
                Err(error)
            }
            Failed::Unfit(error) => {
                tracing::warn!(run_id = %run, %error, "a queued message does not fit its chat any more");
                let given_up = self.give_up(stores, &claimed, Ending::Failed).await;
                given_up.map_err(|error| refused::by_store(&error))?;
                Err(error)
            }
            Failed::NotResumed => {
                let given_up = self.give_up(stores, &claimed, Ending::Interrupted).await;
                given_up.map_err(|error| refused::by_store(&error))?;
                Ok(ended(stores, claimed))
            }
        }
    }

    /// Continues a claimed run when its agent can be loaded and its conversation can be read. Another claim would count as one
    /// without progress, and the run would be given up.
    fn continue_later(&self, stores: &Arc<Stores>, claimed: Claimed, extensions: Extensions) {
        let (assistant, stores, run) = (self.clone(), Arc::clone(stores), claimed.writer.run);
        tracing::warn!(run_id = %run, "a run cannot be continued yet; it is tried again");
        tokio::spawn(async move {
            let until = Instant::now() + LONGEST_WAIT;
            while Instant::now() < until && !assistant.is_draining() {
                sleep(RETRY).await;
                let _place = stores.takeovers.acquire().await;
                let again = async {
                    if !is_held(&stores, claimed.writer, &claimed.head.scope).await? {
                        return Ok(None);
                    }
                    let again = assistant.continue_leg(&stores, claimed.clone(), extensions.clone(), None);
                    again.await.map(Some)
                };
                match Box::pin(again).await {
                    Ok(Some(view)) => return view.detach(),
                    Ok(None) => return,
                    Err(failure) if failure.may_pass() => {}
                    Err(_) => break,
                }
            }
            stores.remember_left(run);
        });
    }

    async fn continue_leg(
        &self,
        stores: &Arc<Stores>,
        claimed: Claimed,
        mut extensions: Extensions,
        admission: Option<Admission>,
    ) -> Result<View, Failed> {
        failpoint::hit("go_on.claimed");
        let leg = LastLeg::read(&*stores.runs, &claimed).await?;
        failpoint::hit("go_on.read");
        leg.input.add_mount(&mut extensions);
        let Claimed { writer, head, .. } = claimed;
        let principal = Principal::new(head.scope.owner());
        let agent = self.agent_of_run(leg.input.agent.as_ref(), &principal).await?;
        let agent = agent.ok_or_else(|| StoreError::other("the agent of the run is not registered"))?;
        let is_first = leg.is_first();
        let has_begun = !leg.records.is_empty() || (is_first && writer.epoch > 1);
        if has_begun && agent.setup.config.recovery == Recovery::Interrupt {
            return Err(Failed::NotResumed);
        }
        let conversation = load_conversation(stores, &head, &leg).await?;
        failpoint::hit("go_on.loaded");
        let written = (!leg.records.is_empty()).then(|| leg.collector().into_message());
        let RunHead { scope, chat, .. } = head;
        let before = leg.used_before();
        let LastLeg { input, from, at, records, earlier, waiting, .. } = leg;
        let (mut leaf, is_queued) = (input.leaf.clone(), is_first && input.was_queued());
        let mut request = match is_queued {
            true => input.into_post(chat.clone())?,
            false => request_of(input, chat.clone(), conversation, earlier)?,
        };
        extensions.insert(principal.clone());
        if admission.is_none() {
            agent.recover_extensions(writer.run, &request, &principal, &mut extensions).await?;
        }
        let carried = agent.carried(&request, &principal);
        let verified = if is_queued {
            let verified = agent.take_queued(stores, &scope, &mut request, &extensions, &principal).await;
            let verified = verified.map_err(Failed::of_queued)?;
            leaf = request.messages.last().map(|message| message.id.clone()).unwrap_or_default();
            verified
        } else {
            agent.verify_again(&mut request, written.as_ref(), &extensions, &principal, is_first)?
        };
        let Verified { agent, tools, posted } = verified;
        let start = Start { request, extensions, tools, carried, posted, admission, waiting, before };
        failpoint::hit("go_on.verified");
        if let Some(Admission { run, .. }) = &start.admission
            && self.live.would_supersede(run)
            && !is_held(stores, writer, &scope).await?
        {
            return Err(Failed::Overtaken);
        }
        let records = (!records.is_empty()).then_some(records);
        let built = agent.build_leg(writer.run, start, records, true)?;
        failpoint::hit("go_on.built");
        let leg = Leg { writer, scope: scope.clone(), chat, parent: Some(leaf), from, at };
        let tail = agent.spawn_leg(stores, built, leg);
        Ok(View::new(stores, scope, writer.run, VecDeque::new(), at, Some(tail)))
    }

    /// Adds what the function of `recover_with` returns to the extensions of a run that the server continues without a request.
    ///
    /// # Errors
    ///
    /// Returns an error if the function fails, or takes too long.
    async fn recover_extensions(
        &self,
        run: RunId,
        request: &RunRequest,
        principal: &Principal,
        extensions: &mut Extensions,
    ) -> Result<(), Error> {
        const HOOK: &str = "the function of `recover_with`";
        let Some(hook) = &self.setup.config.recover else { return Ok(()) };
        let id = format!("run_{}", run.uuid().simple()).into();
        let context = RunContext::new(id, request, extensions.clone(), Vec::new());
        let context = context.with_agent(self.agent_name());
        let call = async { timeout(LONGEST_HOOK, hook.call(HOOK, &context)).await };
        let added = match panics::catch_async(HOOK, call).await {
            Some(Ok(added)) => added.map_err(|_| Error::internal())?,
            Some(Err(_elapsed)) => {
                tracing::error!(run_id = %run, "the function of `recover_with` takes too long");
                return Err(Error::internal());
            }
            None => return Err(Error::internal()),
        };
        extensions.extend(added);
        extensions.insert(principal.clone());
        Ok(())
    }

    /// Verifies the stored messages of a run, which the server trusts.
    ///
    /// # Errors
    ///
    /// Returns an error if a message does not fit the tools of the run.
    fn verify_again(
        &self,
        request: &mut RunRequest,
        written: Option<&Message>,
        extensions: &Extensions,
        principal: &Principal,
        is_first: bool,
    ) -> Result<Verified, Error> {
        let agent = self.of_written(&request.messages, written);
        let tools = agent.tools_for(request, extensions)?.for_principal(principal.clone());
        let keeps_entries = !is_first || !agent.setup.config.on_finish.is_empty();
        let poster = agent.poster(principal);
        let posted = verification::verify(request, poster, &tools, &TrustHistory, keeps_entries)?;
        Ok(Verified { agent, tools, posted })
    }
}

/// Loads the conversation of a leg, with the message that the leg continues. `None` if the store has none.
///
/// # Errors
///
/// Returns an error if the store is not available.
async fn load_conversation(
    stores: &Stores,
    head: &RunHead,
    leg: &LastLeg,
) -> Result<Option<Conversation>, StoreError> {
    let mut window = Window::default();
    if !leg.is_first() {
        window.branch = Branch::Leaf(message_id(head.run));
        let conversation = stores.conversations.load(&head.scope, &head.chat, &window).await?;
        if conversation.as_ref().is_some_and(|found| !found.messages.is_empty()) {
            return Ok(conversation);
        }
        // The run continued a message that an earlier run began.
    }
    window.branch = Branch::Leaf(leg.input.leaf.clone());
    stores.conversations.load(&head.scope, &head.chat, &window).await
}

/// Returns the request of a leg with its stored conversation, and the message that the leg continues.
///
/// # Errors
///
/// Returns an error if there is no conversation, or its messages cannot be read.
fn request_of(
    input: Input,
    chat: Text,
    conversation: Option<Conversation>,
    earlier: Option<Message>,
) -> Result<RunRequest, StoreError> {
    let conversation =
        conversation.ok_or_else(|| StoreError::gone("the conversation is not in the store"))?;
    let mut request = input.into_request(chat);
    request.messages = message::messages(&conversation.messages)?;
    if let Some(earlier) = earlier {
        request.messages.pop_if(|last| last.id == earlier.id);
        request.messages.push(earlier);
    }
    request.loaded_messages = request.messages.len();
    Ok(request)
}

/// Returns a viewer of a run that was given up.
fn ended(stores: &Arc<Stores>, claimed: Claimed) -> View {
    let end = RunEvent::Finish { reason: FinishReason::Interrupted, usage: Usage::default() };
    let (run, scope) = (claimed.writer.run, claimed.head.scope);
    View::new(stores, scope, run, VecDeque::from([end]), Position::default(), None)
}

/// Returns `true` if a claimed run still belongs to its writer: it was not stopped, deleted or claimed again meanwhile.
async fn is_held(stores: &Stores, writer: Writer, scope: &Scope) -> Result<bool, StoreError> {
    let head = head_of(stores, scope, writer.run).await?;
    Ok(head.is_some_and(|head| head.state == RunState::Running && head.epoch == writer.epoch))
}

/// The reason why a run was not continued.
enum Failed {
    /// The assistant ends runs whose server stopped.
    NotResumed,
    /// A newer run of the chat has taken the place of the run.
    Overtaken,
    Refused(Error),
    /// The post of a queued run cannot be answered.
    Unfit(Error),
    Store(StoreError),
}

impl Failed {
    /// Returns the reason why the post of a queued run was not taken.
    fn of_queued(error: Error) -> Self {
        match error.is_unavailable() || error.is_internal() {
            true => Self::Refused(error),
            false => Self::Unfit(error),
        }
    }

    /// Returns `true` if the same claim may continue the run later.
    fn may_pass(&self) -> bool {
        match self {
            Self::Store(error) => error.is_unavailable(),
            Self::Refused(error) => matches!(
                error.code(),
                ErrorCode::StoreUnavailable | ErrorCode::AgentsUnavailable | ErrorCode::AgentInvalid
            ),
            Self::NotResumed | Self::Overtaken | Self::Unfit(_) => false,
        }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
