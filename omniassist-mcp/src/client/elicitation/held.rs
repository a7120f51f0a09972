use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_core::Text;
use omniassist_server::{CancellationToken as Unanswered, Principal};
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::sync::lock;

/// The time that an open call waits for its user.
const MAX_TIME: Duration = Duration::from_secs(5 * 60);

/// The open calls that wait at the same time.
const MAX_CALLS: usize = 64;

/// Those of one user.
const MAX_OF_USER: usize = 8;

/// A call that a server has not answered yet.
pub(in crate::client) trait OpenCall: Send + 'static {
    /// Tells the server that nobody waits for the call.
    fn cancel(self) -> impl Future<Output = ()> + Send;
}

/// The open calls of this process that wait for their users. Only earlier versions of the protocol need them: there, a server
/// asks while the call is open.
pub(in crate::client) struct HeldCalls<C> {
    calls: Arc<Mutex<HashMap<String, Held<C>>>>,
}

struct Held<C> {
    owner: Principal,
    tool: Text,
    call: C,
    /// Ends the task that waits for the time to be up.
    _taken: DropGuard,
}

impl<C: OpenCall> HeldCalls<C> {
    /// Holds an open call of a tool for a user, and returns its id. If there are too many, the call is returned. The server
    /// reads of its end when the time is up, or when `unanswered` is cancelled.
    pub(in crate::client) fn hold(
        &self,
        owner: &Principal,
        tool: &Text,
        call: C,
        unanswered: Unanswered,
    ) -> Result<String, C> {
        // Nobody can guess it.
        let id = Uuid::now_v7().simple().to_string();
        let taken = CancellationToken::new();
        {
            let mut calls = lock(&self.calls);
            let own = calls.values().filter(|held| held.owner == *owner).count();
            if calls.len() >= MAX_CALLS || own >= MAX_OF_USER {
                return Err(call);
            }
            let _taken = taken.clone().drop_guard();
            calls.insert(id.clone(), Held { owner: owner.clone(), tool: tool.clone(), call, _taken });
        }
        let (calls, expired) = (Arc::downgrade(&self.calls), id.clone());
        tokio::spawn(async move {
            let over = async {
                tokio::select! {
                    () = sleep(MAX_TIME) => {}
                    () = unanswered.cancelled() => {}
                }
            };
            if taken.run_until_cancelled(over).await.is_none() {
                return;
            }
            let held = calls.upgrade().and_then(|calls| lock(&calls).remove(&expired));
            if let Some(held) = held {
                held.call.cancel().await;
            }
        });
        Ok(id)
    }

    /// Takes an open call of this user and this tool.
    pub(in crate::client) fn take(&self, id: &str, owner: &Principal, tool: &Text) -> Option<C> {
        let mut calls = lock(&self.calls);
        let is_theirs = calls.get(id).is_some_and(|held| held.owner == *owner && held.tool == *tool);
        let held = if is_theirs { calls.remove(id) } else { None };
        held.map(|held| held.call)
    }

    /// Drops all calls.
    pub(in crate::client) fn clear(&self) {
        let dropped = std::mem::take(&mut *lock(&self.calls));
        drop(dropped);
    }
}

impl<C> Default for HeldCalls<C> {
    fn default() -> Self {
        Self { calls: Arc::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Debug, Clone, Default)]
    struct Counted(Arc<AtomicUsize>);

    impl OpenCall for Counted {
        async fn cancel(self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn user(id: usize) -> Principal {
        Principal::new(format!("user{id}"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_that_of_its_user_and_tool_and_is_taken_once() {
        let (calls, ask) = (HeldCalls::default(), Text::from("ask"));
        let id = calls.hold(&user(1), &ask, Counted::default(), Unanswered::new()).unwrap();
        assert!(calls.take(&id, &user(2), &ask).is_none());
        assert!(calls.take(&id, &user(1), &Text::from("tell")).is_none());
        assert!(calls.take("other", &user(1), &ask).is_none());
        let taken = calls.take(&id, &user(1), &ask).unwrap();
        assert!(calls.take(&id, &user(1), &ask).is_none());
        sleep(MAX_TIME * 2).await;
        assert_eq!(taken.0.load(Ordering::Relaxed), 0, "the answer came in time");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_an_answer_is_cancelled_after_a_time() {
        let (calls, ask, cancelled) = (HeldCalls::default(), Text::from("ask"), Counted::default());
        let id = calls.hold(&user(1), &ask, cancelled.clone(), Unanswered::new()).unwrap();
        sleep(MAX_TIME - Duration::from_secs(1)).await;
        assert_eq!(cancelled.0.load(Ordering::Relaxed), 0);
        sleep(Duration::from_secs(2)).await;
        assert_eq!(cancelled.0.load(Ordering::Relaxed), 1);
        assert!(calls.take(&id, &user(1), &ask).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_cancelled_with_the_run_that_waits() {
        let (calls, ask, cancelled) = (HeldCalls::default(), Text::from("ask"), Counted::default());
        let run = Unanswered::new();
        let id = calls.hold(&user(1), &ask, cancelled.clone(), run.clone()).unwrap();
        run.cancel();
        sleep(Duration::from_millis(1)).await;
        assert_eq!(cancelled.0.load(Ordering::Relaxed), 1);
        assert!(calls.take(&id, &user(1), &ask).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_are_held_up_to_their_number() {
        let (calls, ask) = (HeldCalls::default(), Text::from("ask"));
        let hold = |id| calls.hold(&user(id), &ask, Counted::default(), Unanswered::new());
        assert!((0..MAX_OF_USER).all(|_| hold(1).is_ok()));
        assert!(hold(1).is_err(), "a user has a share");
        assert!((MAX_OF_USER..MAX_CALLS).all(|id| hold(id).is_ok()));
        assert!(hold(0).is_err());
    }
}
