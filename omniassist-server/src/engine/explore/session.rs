use std::fmt;
use std::sync::{Arc, Mutex};

use http::Extensions;
use omniassist_core::agent_tree::{CallResponse, Intervention, NodeState, Requested, Status};
use omniassist_core::run::ClientAbilities;
use omniassist_core::{Error, Text};
use uuid::Uuid;

use super::calls::{answer_to, not_open};
use super::journal::read;
use super::node::REMARKS;
use super::query::QueryUser;
use super::stream::{AgentStream, run};
use super::tree::{Chat, Tree};
use crate::Principal;
use crate::clock::now_ms;
use crate::engine::Assistant;
use crate::engine::settings::Explore;
use crate::store::{RunHead, Scope, Which};
use crate::sync::lock;

/// The agents of one user: the tree that works, and its controls. See [`agents`](crate::agents).
///
/// A clone belongs to the same session. Nothing is shared with other sessions.
#[derive(Clone)]
pub struct AgentSession {
    assistant: Assistant,
    extensions: Extensions,
    settings: Explore,
    abilities: ClientAbilities,
    chat: Option<Text>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    handler: Mutex<Option<Arc<dyn QueryUser>>>,
    /// The latest tree.
    tree: Mutex<Option<Arc<Tree>>>,
}

impl AgentSession {
    /// Creates a session without agents. They have the tools, the prompt and the model of this assistant, or of this
    /// [named agent](Assistant::agent).
    #[must_use]
    pub fn new(assistant: Assistant) -> Self {
        let (extensions, settings) = (Extensions::new(), assistant.setup.config.explore);
        let abilities = ClientAbilities::none();
        Self { assistant, extensions, settings, abilities, chat: None, shared: Arc::default() }
    }

    /// Sets the extensions in which tools find the [`Principal`](crate::Principal) and the host's data. Default: none.
    #[must_use]
    pub fn extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// Sets the program of the agents. Default: that of the [assistant](crate::AssistantBuilder::explore).
    #[must_use]
    pub fn explore(mut self, program: Explore) -> Self {
        self.settings = program;
        self
    }

    /// Sets what the client can show: the approval of a call, or a form. Its questions are frames of the stream with a `call`,
    /// to be answered with [`call_response`](Self::call_response). Front-end tools are not offered. Default: nothing, so that
    /// the model reads that the user cannot be asked.
    #[must_use]
    pub fn abilities(mut self, abilities: ClientAbilities) -> Self {
        self.abilities = abilities;
        self.abilities.front_end_tools = false;
        self
    }

    /// Sets the chat to which the trees belong. Default: none, so that they are not stored.
    ///
    /// With a [store](crate::AssistantBuilder::store) and a known principal, each tree is then a run of this chat, and takes
    /// the place of the run in progress. Every server of the store reads its states and stops it, and the states stay readable
    /// when it has ended. It ends with its stream in any case, and writes no message of the conversation.
    #[must_use]
    pub fn chat(mut self, chat: impl Into<Text>) -> Self {
        self.chat = Some(chat.into());
        self
    }

    /// Sets the function that answers the questions of agents. It applies to later calls of [`agent`](Self::agent). Default:
    /// none, so that questions are frames of the stream, to be answered with [`user_response`](Self::user_response).
    pub fn set_query_user_handler(&self, handler: impl QueryUser) {
        *lock(&self.shared.handler) = Some(Arc::new(handler));
    }

    /// Begins an agent, and returns the frames of its tree. The agents make progress only while the stream is polled, and end
    /// when it is dropped. The controls of the session apply to the latest agent.
    ///
    /// The tree occupies one slot of the principal and passes the host's rate limits and budgets, as a run does. If one of them
    /// refuses it, the only frame is an `error`.
    ///
    /// Must be polled within a tokio runtime.
    pub fn agent(&self, prompt: impl Into<Text>) -> AgentStream {
        let handler = lock(&self.shared.handler).clone();
        let (assistant, extensions) = (self.assistant.clone(), self.extensions.clone());
        let chat = self.stored_chat();
        let tree = Tree::new(assistant, extensions, self.settings, handler, self.abilities, chat);
        let tree = Arc::new(tree);
        *lock(&self.shared.tree) = Some(Arc::clone(&tree));
        let id = Text::from(Uuid::now_v7().to_string());
        let work = run(Arc::clone(&tree), id, prompt.into());
        AgentStream::new(tree, Box::pin(work))
    }

    /// Returns the states of all agents, parents first.
    #[must_use]
    pub fn get_agent_tree(&self) -> Vec<NodeState> {
        lock(&self.shared.tree).as_ref().map(|tree| tree.nodes().states()).unwrap_or_default()
    }

    /// Returns the states of all agents of the chat's latest run, parents first, which may be a tree of another server. While
    /// the tree of this session is at work, or without a stored [chat](Self::chat), it is
    /// [`get_agent_tree`](Self::get_agent_tree).
    ///
    /// Another server has a change of step or status up to 100 ms late, and others about a second late. While a tree has
    /// written more than [`max_written_state_bytes`](crate::core::Limits::max_written_state_bytes), it has earlier states.
    /// Agents of a run that was given up are cancelled.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the journal cannot be read.
    pub async fn tree_of_chat(&self) -> Result<Vec<NodeState>, Error> {
        let Some(head) = self.latest_run().await? else { return Ok(self.get_agent_tree()) };
        let own = lock(&self.shared.tree).clone().filter(|tree| tree.run.get() == Some(&head.run));
        match own {
            Some(tree) => Ok(tree.nodes().states()),
            None => read(&self.assistant, &head).await,
        }
    }

    /// Cancels an agent, and those below it. With a stored [chat](Self::chat), it may work for the chat's latest run on another
    /// server. Returns `false` if no such agent works, or if a tool of this tree has asked it.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the journal cannot be read.
    pub async fn stop_agent(&self, agent_id: &str) -> Result<bool, Error> {
        let stop = Intervention::of(Text::from(agent_id)).status(Requested::Cancelled);
        if self.user_intervention(stop).is_ok() {
            return Ok(true);
        }
        match self.latest_run().await? {
            Some(head) => self.assistant.stop_agent_of(&head, agent_id).await,
            None => Ok(false),
        }
    }

    /// Returns the latest run of the stored chat. `None` while the tree of this session is at work, which is that run.
    async fn latest_run(&self) -> Result<Option<RunHead>, Error> {
        let is_at_work = lock(&self.shared.tree).as_ref().is_some_and(|tree| !tree.closed.is_cancelled());
        match self.stored_chat().filter(|_| !is_at_work) {
            Some(chat) => self.assistant.find_run(&chat.scope, Which::Chat(&chat.id)).await,
            None => Ok(None),
        }
    }

    /// Returns the chat of the session, if its trees are stored.
    fn stored_chat(&self) -> Option<Chat> {
        let id = self.chat.clone().filter(|_| self.assistant.stores().is_some())?;
        let principal = self.extensions.get::<Principal>()?;
        Scope::of(principal).map(|scope| Chat { scope, id })
    }

    /// Answers the oldest open question of an agent.
    ///
    /// # Errors
    ///
    /// Returns an error if the agent has no open question, or there is no such agent. Nothing has changed then.
    pub fn user_response(&self, agent_id: &str, response: impl Into<Text>) -> Result<(), InterventionError> {
        let tree = lock(&self.shared.tree).clone().ok_or(InterventionError(Refused::Query))?;
        let mut nodes = tree.nodes();
        let node = nodes.get_mut(agent_id).ok_or(InterventionError(Refused::Query))?;
        let mut response = response.into();
        while let Some(query) = node.queries.pop_front() {
            match query.send(response) {
                Ok(()) => return Ok(()),
                Err(unread) => response = unread,
            }
        }
        Err(InterventionError(Refused::Query))
    }

    /// Answers a question about a call. With a stored [chat](Self::chat), the agent may work for the chat's latest run on
    /// another server, which gets the answer within about a second.
    ///
    /// # Errors
    ///
    /// Returns an error that names the field if the agent has no such open question, or if the answer does not fit it. The
    /// question stays open then. Returns an error if the store is not available, or the journal cannot be read.
    pub async fn call_response(&self, response: CallResponse) -> Result<(), Error> {
        let CallResponse { agent_id, query_id, .. } = &response;
        let (agent_id, query_id) = (agent_id.clone(), query_id.clone());
        let limits = self.assistant.limits().into();
        let own = lock(&self.shared.tree).clone();
        if let Some((tree, query)) =
            own.and_then(|tree| tree.open_call(&agent_id, &query_id).map(|query| (tree, query)))
        {
            let answer = answer_to(&query, response, limits)?;
            return if tree.answer_call(&query_id, answer) { Ok(()) } else { Err(not_open()) };
        }
        let Some(head) = self.latest_run().await? else { return Err(not_open()) };
        let states = read(&self.assistant, &head).await?;
        let mut queries =
            states.iter().filter(|state| state.agent_id == agent_id).flat_map(|state| &state.queries);
        let query =
            queries.find(|query| query.query_id == query_id).filter(|query| query.call.expires_at > now_ms());
        let answer = answer_to(query.ok_or_else(not_open)?, response, limits)?;
        if self.assistant.answer_tree(&head, &query_id, answer).await? { Ok(()) } else { Err(not_open()) }
    }

    /// Changes the work of an agent.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such agent, if it has ended, or if a tool has asked it: such an agent cannot be
    /// changed. A remark of more than 64 KiB is an error too. Nothing has changed then.
    pub fn user_intervention(&self, intervention: Intervention) -> Result<(), InterventionError> {
        let tree = lock(&self.shared.tree).clone().ok_or(InterventionError(Refused::Agent))?;
        let mut nodes = tree.nodes();
        let Intervention { agent_id: id, user_content, user_comment, status, .. } = intervention;
        let node = nodes.get_mut(&id).ok_or(InterventionError(Refused::Agent))?;
        if node.state.status.is_end() {
            return Err(InterventionError(Refused::Ended));
        }
        if node.is_asked {
            return Err(InterventionError(Refused::Asked));
        }
        if user_comment.as_ref().is_some_and(|comment| comment.len() > REMARKS.1) {
            return Err(InterventionError(Refused::TooLong));
        }
        let is_shown = user_content.is_some() || user_comment.is_some();
        if let Some(content) = user_content {
            node.state.user_content = content;
            node.has_changed = true;
        }
        if let Some(comment) = user_comment {
            node.remark(comment);
        }
        match status {
            Some(Requested::Paused) => node.is_paused = true,
            Some(Requested::Running) => node.is_paused = false,
            Some(Requested::Completed) => (node.is_paused, node.has_to_answer) = (false, true),
            Some(Requested::Cancelled) => {
                let ids = nodes.below(&id);
                nodes.cancel(&ids);
                return Ok(());
            }
            _ => {}
        }
        let resumes = !node.is_paused && node.state.status == Status::Paused;
        node.wake();
        if resumes {
            nodes.set_status(&id, Status::Running);
        } else if is_shown {
            nodes.show(&id);
        }
        Ok(())
    }
}

impl fmt::Debug for AgentSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentSession").field("program", &self.settings).finish_non_exhaustive()
    }
}

/// An error that occurs when a user answers or changes an agent that does not take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterventionError(Refused);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    Query,
    Agent,
    Ended,
    Asked,
    TooLong,
}

impl InterventionError {
    /// Returns the code for programs: `no_such_query`, `no_such_agent`, `agent_has_ended`, `not_changeable` or
    /// `limit_exceeded`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self.0 {
            Refused::Query => "no_such_query",
            Refused::Agent => "no_such_agent",
            Refused::Ended => "agent_has_ended",
            Refused::Asked => "not_changeable",
            Refused::TooLong => "limit_exceeded",
        }
    }
}

impl fmt::Display for InterventionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Refused::Query => "This agent has no open question.",
            Refused::Agent => "There is no such agent.",
            Refused::Ended => "This agent has ended.",
            Refused::Asked => "An agent that a tool has asked cannot be changed.",
            Refused::TooLong => "A remark has at most 64 KiB.",
        })
    }
}

impl std::error::Error for InterventionError {}
