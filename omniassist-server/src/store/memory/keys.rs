use std::ops::Bound;

use bytes::Bytes;
use omniassist_core::Text;

use super::MemoryStore;
use super::chat::Chat;
use super::state::State;
use crate::store::{ConversationKey, KeyOf, KeyStore, Scope, StoreFuture};

impl KeyStore for MemoryStore {
    fn key<'a>(&'a self, of: KeyOf<'a>) -> StoreFuture<'a, Option<ConversationKey>> {
        self.with(move |state, _| Ok(state.key(of)))
    }

    fn keys<'a>(
        &'a self,
        after: Option<&'a ConversationKey>,
        at_most: usize,
    ) -> StoreFuture<'a, Vec<ConversationKey>> {
        self.with(move |state, _| {
            let after = after
                .map_or(Bound::Unbounded, |last| Bound::Excluded((last.scope.clone(), last.chat.clone())));
            let later = state.chats.range((after, Bound::Unbounded)).map(of_chat);
            Ok(later.filter(|found| found.key.is_some()).take(at_most).collect())
        })
    }

    fn replace_key<'a>(&'a self, known: &'a ConversationKey, new: &'a Bytes) -> StoreFuture<'a, bool> {
        self.with(move |state, _| Ok(state.replace_key(known, new)))
    }
}

impl State {
    fn key(&self, of: KeyOf<'_>) -> Option<ConversationKey> {
        let (scope, chat) = match of {
            KeyOf::Chat(scope, chat) => (scope, chat),
            KeyOf::Run(run) => self.runs.get(&run).map(|run| (&run.scope, run.chat.as_str()))?,
        };
        self.chat(scope, chat)
            .map(|found| ConversationKey::new(scope.clone(), found.info.chat.clone(), found.info.key.clone()))
    }

    fn replace_key(&mut self, known: &ConversationKey, new: &Bytes) -> bool {
        let place = (known.scope.clone(), known.chat.clone());
        let has_known = |chat: &&mut Chat| chat.deleted_ms.is_none() && chat.info.key == known.key;
        let Some(chat) = self.chats.get_mut(&place).filter(has_known) else { return false };
        chat.info.key = Some(new.clone());
        true
    }
}

fn of_chat(((scope, _), chat): (&(Scope, Text), &Chat)) -> ConversationKey {
    ConversationKey::new(scope.clone(), chat.info.chat.clone(), chat.info.key.clone())
}
