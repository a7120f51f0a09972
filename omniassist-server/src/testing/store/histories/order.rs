//! The search for an order of concurrent calls.
//!
//! The test of `stateright` does the same, and would be a dependency of whoever tests a store.

use std::collections::HashSet;
use std::fmt::Debug;
use std::future::Future;
use std::sync::Mutex;

use crate::sync::lock;

/// The tasks of a history, and the calls of each.
pub(super) const TASKS: (usize, usize) = (3, 9);

/// The calls of several tasks with their answers.
pub(super) struct History<C, A>(Mutex<Log<C, A>>);

struct Log<C, A> {
    /// The number of calls that began or ended.
    time: usize,
    calls: Vec<Entry<C, A>>,
}

#[derive(Debug)]
struct Entry<C, A> {
    began: usize,
    ended: usize,
    call: C,
    answer: A,
}

impl<C: Debug, A: Debug + PartialEq> History<C, A> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Log { time: 0, calls: Vec::new() }))
    }

    /// Makes a call, and records it with its answer.
    pub(super) async fn make(&self, call: C, answer: impl Future<Output = A>) -> A
    where
        A: Clone,
    {
        let began = self.tick();
        let answer = answer.await;
        let ended = self.tick();
        lock(&self.0).calls.push(Entry { began, ended, call, answer: answer.clone() });
        answer
    }

    fn tick(&self) -> usize {
        let mut log = lock(&self.0);
        log.time += 1;
        log.time
    }

    /// Panics if no order explains the answers. `apply` makes a call in a state that nobody else has; two orders that lead to
    /// one fingerprint go on in the same way.
    pub(super) fn check<S>(self, seed: u64, first: &S, model: &Model<S, C, A>) {
        let mut calls = self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).calls;
        calls.sort_unstable_by_key(|entry| entry.began);
        let mut search = Search { calls: &calls, model, seen: HashSet::new(), longest: 0 };
        if !search.from(first, &mut vec![false; calls.len()]) {
            let calls: Vec<String> = calls.iter().map(|entry| format!("{entry:?}\n")).collect();
            let longest = search.longest;
            panic!(
                "no order explains these calls (seed {seed}; {longest} of them have one):\n{}",
                calls.concat()
            );
        }
    }
}

/// The store that says which answers an order has.
pub(super) struct Model<S, C, A> {
    /// Returns the state after a call, and its answer.
    pub(super) apply: fn(&S, &C) -> (S, A),
    /// Returns a text that states have in common only if they cannot be told apart.
    pub(super) fingerprint: fn(&S) -> String,
}

struct Search<'h, S, C, A> {
    calls: &'h [Entry<C, A>],
    model: &'h Model<S, C, A>,
    seen: HashSet<(Vec<bool>, String)>,
    /// The number of calls in the longest order.
    longest: usize,
}

impl<S, C, A: PartialEq> Search<'_, S, C, A> {
    fn from(&mut self, state: &S, done: &mut Vec<bool>) -> bool {
        let left = || self.calls.iter().enumerate().filter(|(at, _)| !done[*at]);
        // A call comes after those that ended before it began.
        let Some(first_end) = left().map(|(_, entry)| entry.ended).min() else { return true };
        if !self.seen.insert((done.clone(), (self.model.fingerprint)(state))) {
            return false;
        }
        self.longest = self.longest.max(done.iter().filter(|is_done| **is_done).count());
        let next: Vec<usize> =
            left().filter(|(_, entry)| entry.began < first_end).map(|(at, _)| at).collect();
        next.into_iter().any(|at| {
            let (after, answer) = (self.model.apply)(state, &self.calls[at].call);
            if answer != self.calls[at].answer {
                return false;
            }
            done[at] = true;
            let found = self.from(&after, done);
            done[at] = false;
            found
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{History, Model};

    /// A counter: a call adds, and the answer is the sum.
    const COUNTER: Model<u32, u32, u32> =
        Model { apply: |sum, add| (sum + add, sum + add), fingerprint: |sum| sum.to_string() };

    async fn both(first: u32, second: u32) -> History<u32, u32> {
        let history = History::new();
        let pause = || tokio::task::yield_now();
        let one = history.make(1, async {
            pause().await;
            first
        });
        let two = history.make(2, async {
            pause().await;
            second
        });
        tokio::join!(one, two);
        history
    }

    #[tokio::test]
    async fn concurrent_calls_have_either_order() {
        both(1, 3).await.check(0, &0, &COUNTER);
        both(3, 2).await.check(0, &0, &COUNTER);
    }

    #[tokio::test]
    #[should_panic(expected = "no order explains these calls")]
    async fn a_lost_update_has_no_order() {
        both(1, 2).await.check(0, &0, &COUNTER);
    }

    #[tokio::test]
    #[should_panic(expected = "no order explains these calls")]
    async fn a_later_call_has_no_earlier_place() {
        let history = History::new();
        history.make(1, async { 3 }).await;
        history.make(2, async { 2 }).await;
        history.check(0, &0, &COUNTER);
    }
}
