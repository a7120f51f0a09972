//! The finished conversations. A real application has them in its database.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use omniassist_axum::Principal;
use omniassist_axum::access::bearer;
use omniassist_axum::core::message::Message;
use omniassist_axum::observe::FinishedRun;

use crate::staff::Member;

/// The messages of each chat by its owner and its id. The id comes from the client, so it finds a chat of its owner only.
type Chats = HashMap<(Principal, String), Vec<Message>>;

/// The conversations in memory. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversations(Arc<Mutex<Chats>>);

impl Conversations {
    fn lock(&self) -> MutexGuard<'_, Chats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Saves the conversation of a run that ended.
    pub(crate) async fn save(&self, finished: FinishedRun) -> Result<(), Infallible> {
        let run = &finished.report.run;
        tracing::info!(by = %run.principal, outcome = finished.report.outcome.as_str(), "a run ended");
        if let Some(chat) = &run.chat_id {
            self.lock().insert((run.principal.clone(), chat.to_string()), finished.messages());
        }
        Ok(())
    }
}

/// `GET /conversations/{chat}`: the messages, as `useChat` takes them.
pub(crate) async fn show(
    State(conversations): State<Conversations>,
    Path(chat): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Vec<Message>>, StatusCode> {
    let member = bearer(&headers).and_then(Member::with_token).ok_or(StatusCode::UNAUTHORIZED)?;
    let key = (Principal::new(member.name), chat);
    conversations.lock().get(&key).cloned().map(Json).ok_or(StatusCode::NOT_FOUND)
}
