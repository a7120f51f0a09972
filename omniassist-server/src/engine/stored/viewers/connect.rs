//! Stored conversations for clients that read snapshots in place of replays.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use omniassist_core::event::{FinishReason, Usage};
use omniassist_core::journal::{Replay, message_events};
use omniassist_core::message::{Message, Role, ToolState};
use omniassist_core::{Error, RunEvent, Text};
use tokio::time::{Instant, sleep};

use super::view::View;
use crate::engine::Assistant;
use crate::engine::stored::chat::{Conversations, message_id, messages};
use crate::engine::stored::instance::LEASE;
use crate::engine::stores::Stores;
use crate::engine::stores::journal::{self, Position};
use crate::engine::stores::refused;
use crate::store::{RunHead, RunId, RunState, Scope, Which, Window};

/// The time between two looks at a run that no instance drives yet.
const LOOK: Duration = Duration::from_millis(250);

/// A stored conversation, and what its run does.
pub(crate) struct Connection {
    /// The messages before the last answer.
    pub(crate) messages: Vec<Message>,
    /// The events of the last answer: as far as they are written, or with the end of its run.
    pub(crate) events: Vec<RunEvent>,
    /// A viewer of the events that follow, if the run goes on.
    pub(crate) view: Option<View>,
}

impl Assistant {
    /// Returns a conversation of an owner, or `None` if there is none of this name. Its run is continued here if its server
    /// has stopped, at the latest when the lease of that server has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the run cannot be continued.
    pub(crate) async fn connect(&self, scope: &Scope, chat: &str) -> Result<Option<Connection>, Error> {
        let Some(stores) = self.stores() else { return Ok(None) };
        let until = Instant::now() + LEASE + LOOK;
        let (mut messages, rest) = loop {
            let head = self.find_run(scope, Which::Chat(chat)).await?.filter(|head| head.state.is_live());
            let Some(head) = head else {
                let Some(messages) = load(stores, scope, chat).await? else { return Ok(None) };
                break (messages, None);
            };
            if head.state == RunState::Waiting {
                let Some(messages) = load(stores, scope, chat).await? else { return Ok(None) };
                let rest = self.leg_events(scope, head.run, None).await?;
                // The run may have got its answer since.
                if rest.is_some_and(|rest| rest.is_over && rest.epoch == head.epoch) {
                    if !is_branch_of(stores, &head, messages.last()).await? {
                        break (messages, None);
                    }
                    // After one of several answers, the last leg has no questions.
                    let all = journal::after(&*stores.runs, scope, head.run, Position::default(), None);
                    break (messages, refused::unless_gone(all.await)?.map(|(events, _)| (events, head)));
                }
            } else if let Some((id, events, view)) = self.live_events(stores, scope, head.run).await? {
                let Some(mut messages) = load(stores, scope, chat).await? else { return Ok(None) };
                // The message may be stored by now, with text that the viewer has not seen.
                if let Some(at) = messages.iter().position(|message| message.id == id) {
                    messages.truncate(at);
                } else if !is_branch_of(stores, &head, messages.last()).await? {
                    view.detach();
                    break (messages, None);
                }
                return Ok(Some(Connection { messages, events, view: Some(view) }));
            }
            // A run whose server has stopped goes on here as soon as the lease of that server has ended.
            if Instant::now() >= until {
                return Err(Error::store_unavailable(LEASE));
            }
            sleep(LOOK).await;
        };
        let last = messages.pop_if(|last| last.role == Role::Assistant);
        let mut events = last.as_ref().map(message_events).unwrap_or_default();
        match rest {
            // The message has the answers so far. The journal has the questions as they were asked.
            Some((asked, head)) => {
                events.retain(|event| !matches!(event, RunEvent::ToolApprovalRequest(_)));
                events.extend(asked.iter().filter(|event| is_asked(event, last.as_ref(), &head)).cloned());
                events.extend(asked.into_iter().rfind(RunEvent::is_terminal));
            }
            // An answer to the question of a run that was stopped comes too late.
            None => {
                events.retain(|event| !matches!(event, RunEvent::ToolApprovalRequest(_)));
                events.push(RunEvent::Finish { reason: FinishReason::Stop, usage: Usage::default() });
            }
        }
        Ok(Some(Connection { messages, events, view: None }))
    }

    /// Returns the id of the message that a run writes, its events, and a viewer of what follows. `None` if the run does not
    /// go on.
    async fn live_events(
        &self,
        stores: &Arc<Stores>,
        scope: &Scope,
        run: RunId,
    ) -> Result<Option<(Text, Vec<RunEvent>, View)>, Error> {
        let Some((_, Some(leg))) = self.revived(stores, scope, run).await? else { return Ok(None) };
        let read = journal::records_after(&*stores.runs, scope, run, leg.from).await;
        let Some((records, at)) = refused::unless_gone(read)? else { return Ok(None) };
        let id = leg.earlier.as_ref().map_or_else(|| message_id(run), |earlier| earlier.id.clone());
        let replay =
            leg.earlier.as_deref().map_or_else(Replay::new, |earlier| Replay::new().continuing(earlier));
        let mut events: Vec<_> = leg.state.map(RunEvent::StateSnapshot).into_iter().collect();
        events.extend(replay.events(&records));
        let view = View::new(stores, scope.clone(), run, VecDeque::new(), at, Some(leg.tail)).across_epochs();
        Ok(Some((id, events, view)))
    }
}

/// Loads the branch of a conversation that is shown.
async fn load(stores: &Stores, scope: &Scope, chat: &str) -> Result<Option<Vec<Message>>, Error> {
    let loaded = stores.conversations.load(scope, chat, &Window::default()).await;
    let loaded = loaded.map_err(|error| refused::by_store(&error))?;
    let read = loaded.map(|conversation| messages(&conversation.messages)).transpose();
    read.map_err(|error| refused::by_store(&error))
}

/// Returns `true` if the branch that ends with this message is that of a run.
async fn is_branch_of(stores: &Arc<Stores>, head: &RunHead, last: Option<&Message>) -> Result<bool, Error> {
    let conversations = Conversations { stores: Arc::clone(stores) };
    conversations.is_branch_of(head, last).await.map_err(|error| refused::by_store(&error))
}

/// Returns `true` for the calls of a message that have no result, and for the questions that have no answer.
fn is_asked(event: &RunEvent, message: Option<&Message>, head: &RunHead) -> bool {
    let is_owed =
        |call: &Text| head.obligations.iter().any(|asked| asked.call == *call && asked.answer.is_none());
    match event {
        RunEvent::ToolInputAvailable { call_id, provider_executed: false, .. } => message
            .into_iter()
            .flat_map(Message::tools)
            .any(|part| part.call_id == *call_id && has_no_result(&part.state)),
        RunEvent::ToolApprovalRequest(request) => is_owed(&request.call_id),
        RunEvent::InputRequest(request) => is_owed(&request.call_id),
        _ => false,
    }
}

fn has_no_result(state: &ToolState) -> bool {
    use ToolState::{ApprovalRequested, ApprovalResponded, InputAvailable};
    matches!(state, InputAvailable { .. } | ApprovalRequested { .. } | ApprovalResponded { .. })
}
