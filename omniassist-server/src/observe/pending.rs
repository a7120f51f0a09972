//! The chats for which a function of `on_finish` is running.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use omniassist_core::Text;

use crate::sync::lock;
use crate::{CancellationToken, Principal};

type Key = (Principal, Text);

/// The number of active calls for each chat, and a token that fires after the last one.
type Calls = Mutex<HashMap<Key, (usize, CancellationToken)>>;

#[derive(Default)]
pub(super) struct PendingChats {
    calls: Arc<Calls>,
}

/// An active call. Dropping it ends the call.
pub(super) struct Pending {
    key: Key,
    calls: Arc<Calls>,
}

impl PendingChats {
    pub(super) fn begin(&self, principal: &Principal, chat_id: &Text) -> Pending {
        let key = (principal.clone(), chat_id.clone());
        lock(&self.calls).entry(key.clone()).or_insert_with(|| (0, CancellationToken::new())).0 += 1;
        Pending { key, calls: Arc::clone(&self.calls) }
    }

    /// Waits until no call is active for this chat.
    pub(super) async fn settled(&self, principal: &Principal, chat_id: &Text) {
        let key = (principal.clone(), chat_id.clone());
        let last = lock(&self.calls).get(&key).map(|(_, last)| last.clone());
        if let Some(last) = last {
            last.cancelled().await;
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let mut calls = lock(&self.calls);
        let Some((count, last)) = calls.get_mut(&self.key) else { return };
        *count -= 1;
        if *count == 0 {
            let last = last.clone();
            calls.remove(&self.key);
            drop(calls);
            last.cancel();
        }
    }
}
