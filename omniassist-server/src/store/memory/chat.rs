use std::collections::HashSet;

use bytes::Bytes;
use omniassist_core::Text;

use crate::store::{Branch, Change, Conversation, ConversationInfo, NotSaved, StoredMessage, Window};

/// A conversation, or the tombstone of one.
#[derive(Clone)]
pub(super) struct Chat {
    pub(super) info: ConversationInfo,
    /// The messages in the order in which they were saved.
    messages: Vec<StoredMessage>,
    /// The number of the conversation in its store.
    pub(super) number: u64,
    pub(super) deleted_ms: Option<u64>,
}

impl Chat {
    pub(super) fn new(chat: Text, number: u64, now: u64) -> Self {
        Self { info: ConversationInfo::new(chat, now), messages: Vec::new(), number, deleted_ms: None }
    }

    /// Turns the conversation into a tombstone.
    pub(super) fn bury(&mut self, now: u64) {
        self.info = ConversationInfo::new(self.info.chat.clone(), now);
        self.messages = Vec::new();
        self.deleted_ms = Some(now);
    }

    /// Returns `true` if a key is given and the conversation has another one, or none.
    pub(super) fn has_other_key(&self, key: Option<&Bytes>) -> bool {
        key.is_some_and(|key| self.info.key.as_ref() != Some(key))
    }

    fn message(&self, id: &str) -> Option<&StoredMessage> {
        self.messages.iter().find(|message| message.id == *id)
    }

    /// Checks a change of this conversation, or of one that does not exist.
    pub(super) fn check(chat: Option<&Self>, change: &Change) -> Result<(), NotSaved> {
        if chat.is_some_and(|chat| chat.deleted_ms.is_some()) {
            return Err(NotSaved::Deleted);
        }
        if chat.is_some_and(|chat| chat.has_other_key(change.key.as_ref())) {
            return Err(NotSaved::OtherKey);
        }
        let version = chat.map_or(0, |chat| chat.info.version);
        if change.version.is_some_and(|expected| expected != version) {
            return Err(NotSaved::Conflict(version));
        }
        let mut added = HashSet::new();
        let is_known = |id: &Text, added: &HashSet<&Text>| {
            added.contains(id) || chat.is_some_and(|chat| chat.message(id).is_some())
        };
        for message in &change.messages {
            if let Some(parent) = message.parent.as_ref().filter(|_| !is_known(&message.id, &added))
                && !is_known(parent, &added)
            {
                return Err(NotSaved::UnknownMessage(parent.clone()));
            }
            added.insert(&message.id);
        }
        match &change.head {
            Some(head) if !is_known(head, &added) => Err(NotSaved::UnknownMessage(head.clone())),
            _ => Ok(()),
        }
    }

    /// Applies a change that was checked. Returns the new version.
    pub(super) fn apply(&mut self, change: &Change, now: u64) -> u32 {
        for message in &change.messages {
            match self.messages.iter_mut().find(|known| known.id == message.id) {
                Some(known) => known.body = message.body.clone(),
                None => self.messages.push(StoredMessage { created_ms: now, ..message.clone() }),
            }
        }
        let info = &mut self.info;
        info.head = change.head.clone().or_else(|| info.head.take());
        info.title = change.title.clone().or_else(|| info.title.take());
        info.meta = change.meta.clone().or_else(|| info.meta.take());
        info.updated_ms = now;
        info.version += 1;
        info.version
    }

    pub(super) fn load(&self, window: &Window) -> Conversation {
        let mut branch: Vec<&StoredMessage> = match &window.branch {
            Branch::All => self.messages.iter().collect(),
            Branch::Leaf(leaf) => self.branch(Some(leaf)),
            Branch::Head => self.branch(self.info.head.as_ref()),
        };
        if let Some(before) = &window.before {
            branch.truncate(branch.iter().position(|message| message.id == *before).unwrap_or(0));
        }
        let skipped = branch.len().saturating_sub(window.at_most);
        let messages = branch.into_iter().skip(skipped).cloned().collect();
        Conversation::new(self.info.clone(), messages, skipped > 0)
    }

    /// Returns the messages up to a leaf, the oldest first.
    fn branch(&self, leaf: Option<&Text>) -> Vec<&StoredMessage> {
        let leaf = leaf.and_then(|leaf| self.message(leaf));
        let parent =
            |message: &&StoredMessage| message.parent.as_ref().and_then(|parent| self.message(parent));
        let mut branch: Vec<_> = std::iter::successors(leaf, parent).collect();
        branch.reverse();
        branch
    }
}
