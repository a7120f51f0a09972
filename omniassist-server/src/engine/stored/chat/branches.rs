//! The branches of a stored conversation, as a post needs them.

use futures_util::future;
use omniassist_core::message::{Message, Role};
use omniassist_core::run::Trigger;
use omniassist_core::{Error, RunRequest, Text};

use super::message::messages;
use crate::engine::stores::refused;
use crate::store::{Branch, Conversation, ConversationStore, Scope, Window};

/// A conversation in a store.
pub(in crate::engine::stored) struct Branches<'a> {
    conversations: &'a dyn ConversationStore,
    scope: &'a Scope,
    chat: &'a str,
    loaded: PreloadedBranches,
    version: Option<u32>,
}

/// Branches that were loaded before they are needed.
#[derive(Default)]
pub(in crate::engine::stored) struct PreloadedBranches(Vec<(Branch, Option<Conversation>)>);

impl PreloadedBranches {
    pub(in crate::engine::stored) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the conversation that was loaded with the first branch.
    pub(in crate::engine::stored) fn first(&self) -> Option<&Conversation> {
        self.0.first()?.1.as_ref()
    }
}

impl<'a> Branches<'a> {
    pub(in crate::engine::stored) fn new(
        conversations: &'a dyn ConversationStore,
        scope: &'a Scope,
        chat: &'a str,
    ) -> Self {
        Self { conversations, scope, chat, loaded: PreloadedBranches::default(), version: None }
    }

    /// Takes branches from those that were loaded before.
    pub(in crate::engine::stored) fn with(self, loaded: PreloadedBranches) -> Self {
        Self { loaded, ..self }
    }

    /// Returns the version of the conversation at the first load, or 0 if there was none. The later ones found this version
    /// or a later one.
    pub(in crate::engine::stored) fn version(&self) -> u32 {
        self.version.unwrap_or_default()
    }

    /// Loads branches at the same time. Returns none if the conversation changed meanwhile.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be used.
    pub(in crate::engine::stored) async fn load_all(
        &self,
        wanted: Vec<Branch>,
    ) -> Result<PreloadedBranches, Error> {
        let load = async |branch: Branch| Ok::<_, Error>((branch.clone(), self.find(branch).await?));
        let loaded = future::try_join_all(wanted.into_iter().map(load)).await?;
        let mut versions = loaded.iter().map(|(_, found)| version(found.as_ref()));
        let first = versions.next();
        Ok(if versions.all(|other| Some(other) == first) {
            PreloadedBranches(loaded)
        } else {
            PreloadedBranches::default()
        })
    }

    /// Loads a part of the conversation; `None` if there is no conversation of this name.
    pub(in crate::engine::stored) async fn load(
        &mut self,
        branch: Branch,
    ) -> Result<Option<Conversation>, Error> {
        let loaded = self.loaded.0.iter().position(|(known, _)| *known == branch);
        let found = match loaded {
            Some(at) => self.loaded.0.swap_remove(at).1,
            None => self.find(branch).await?,
        };
        self.version.get_or_insert(version(found.as_ref()));
        Ok(found)
    }

    async fn find(&self, branch: Branch) -> Result<Option<Conversation>, Error> {
        self.window(Window { branch, ..Window::default() }).await
    }

    async fn window(&self, window: Window) -> Result<Option<Conversation>, Error> {
        let loaded = self.conversations.load(self.scope, self.chat, &window).await;
        loaded.map_err(|error| refused::by_store(&error))
    }

    /// Returns the messages of a branch; none if there is no such branch.
    pub(in crate::engine::stored) async fn branch(&mut self, branch: Branch) -> Result<Vec<Message>, Error> {
        self.load(branch).await?.as_ref().map_or_else(|| Ok(Vec::new()), read)
    }

    /// Returns the last messages of a branch, of which there are at most this many.
    pub(in crate::engine::stored) async fn end_of(
        &self,
        branch: Branch,
        at_most: usize,
    ) -> Result<Vec<Message>, Error> {
        let window = Window { branch, at_most, ..Window::default() };
        self.window(window).await?.as_ref().map_or_else(|| Ok(Vec::new()), read)
    }

    /// Returns the branch that ends with a message, and `true` if it is the branch that is shown.
    pub(in crate::engine::stored) async fn shown_up_to(
        &mut self,
        id: &Text,
    ) -> Result<(Vec<Message>, bool), Error> {
        let found = self.load(Branch::Leaf(id.clone())).await?;
        let is_shown = found.as_ref().is_some_and(|found| found.info.head.as_ref() == Some(id));
        Ok((found.as_ref().map_or_else(|| Ok(Vec::new()), read)?, is_shown))
    }

    /// Returns the branch that ends with the question to which a message is the answer, or with the message if it is a
    /// question. Without an id it is the last message.
    pub(in crate::engine::stored) async fn question(
        &mut self,
        id: Option<&Text>,
    ) -> Result<Vec<Message>, Error> {
        let mut branch = self.branch(id.map_or(Branch::Head, |id| Branch::Leaf(id.clone()))).await?;
        branch.pop_if(|last| last.role == Role::Assistant);
        Ok(branch)
    }
}

/// Returns the branches that a post with a new question needs.
pub(in crate::engine::stored) fn of_question(request: &RunRequest) -> Vec<Branch> {
    let mut messages = request.messages.iter().rev();
    let Some(last) = messages.next() else { return Vec::new() };
    if last.id.is_empty() || last.role != Role::User || request.trigger != Trigger::Submit {
        return Vec::new();
    }
    let before = match request.awaits_history {
        true => Some(Branch::Head),
        false => messages.next().map(|before| Branch::Leaf(before.id.clone())),
    };
    [Some(Branch::Leaf(last.id.clone())), before].into_iter().flatten().collect()
}

fn version(conversation: Option<&Conversation>) -> u32 {
    conversation.map_or(0, |conversation| conversation.info.version)
}

pub(in crate::engine::stored) fn read(conversation: &Conversation) -> Result<Vec<Message>, Error> {
    messages(&conversation.messages).map_err(|error| refused::by_store(&error))
}
