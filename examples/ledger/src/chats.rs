//! The stored chats, for pages that post only the last message.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omniassist_axum::core::message::{Message, read};
use omniassist_axum::core::{Limits, Text};
use omniassist_axum::observe::FinishedRun;
use omniassist_axum::tool::ChatId;
use omniassist_axum::{Principal, Refusal, State};

/// The messages of each chat, as JSON. A chat belongs to its user. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chats(Arc<Mutex<HashMap<(Principal, Text), String>>>);

impl Chats {
    fn lock(&self) -> MutexGuard<'_, HashMap<(Principal, Text), String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the conversation of a run that has ended.
    pub(crate) fn save(&self, run: &FinishedRun) -> io::Result<()> {
        let messages = serde_json::to_string(&run.messages())?;
        if let Some(chat) = run.context.chat_id() {
            self.lock().insert((run.context.principal().clone(), chat.clone()), messages);
        }
        Ok(())
    }
}

/// Loads the conversation of a chat. A chat that was not stored begins with the posted message.
pub(crate) async fn load(
    ChatId(chat): ChatId,
    user: Principal,
    State(chats): State<Chats>,
) -> Result<Vec<Message>, Refusal> {
    let stored = chats.lock().get(&(user, chat)).cloned();
    match stored {
        Some(messages) => Ok(read::messages(&messages.into(), &Limits::default())?),
        None => Ok(Vec::new()),
    }
}
