use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use omniassist_core::{Day, Text};

use super::chat::Chat;
use super::run::Run;
use crate::clock::millis;
use crate::store::{
    Change, Delete, Deleted, InstanceId, Listing, ModelUsage, NotSaved, Page, Retention, RunId, RunState,
    Scope, StoreError, Swept, UsageDay, UsageListing, UsageQuery,
};

/// The content of a [`MemoryStore`](super::MemoryStore).
#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) chats: BTreeMap<(Scope, Text), Chat>,
    pub(super) runs: HashMap<RunId, Run>,
    /// The ends of the leases.
    pub(super) leases: HashMap<InstanceId, u64>,
    usage: BTreeMap<(Day, Text, Text), ModelUsage>,
    /// The number of conversations and runs that were created.
    created: u64,
}

impl State {
    pub(super) fn next_number(&mut self) -> u64 {
        self.created += 1;
        self.created
    }

    /// Returns a conversation that was not deleted.
    pub(super) fn chat(&self, scope: &Scope, chat: &str) -> Option<&Chat> {
        self.chats.get(&(scope.clone(), chat.into())).filter(|chat| chat.deleted_ms.is_none())
    }

    /// Returns a conversation, a new one with a key if there is none.
    pub(super) fn chat_mut(
        &mut self,
        scope: &Scope,
        chat: &Text,
        key: Option<&Bytes>,
        now: u64,
    ) -> &mut Chat {
        let number = self.next_number();
        let new = || {
            let mut new = Chat::new(chat.clone(), number, now);
            new.info.key = key.cloned();
            new
        };
        self.chats.entry((scope.clone(), chat.clone())).or_insert_with(new)
    }

    pub(super) fn check(&self, scope: &Scope, chat: &str, change: &Change) -> Result<(), NotSaved> {
        Chat::check(self.chats.get(&(scope.clone(), chat.into())), change)
    }

    pub(super) fn save(
        &mut self,
        scope: &Scope,
        chat: &str,
        change: &Change,
        now: u64,
    ) -> Result<u32, NotSaved> {
        self.check(scope, chat, change)?;
        Ok(self.chat_mut(scope, &chat.into(), change.key.as_ref(), now).apply(change, now))
    }

    pub(super) fn list(&self, scope: &Scope, page: &Page) -> Result<Listing, StoreError> {
        let cursor = page.cursor.as_deref().map(parse_cursor).transpose()?;
        let place = |chat: &Chat| (chat.info.updated_ms, chat.number);
        let mut found: Vec<&Chat> = self
            .chats
            .iter()
            .filter(|((owner, _), chat)| owner == scope && chat.deleted_ms.is_none())
            .map(|(_, chat)| chat)
            .filter(|chat| cursor.is_none_or(|cursor| place(chat) < cursor))
            .collect();
        found.sort_unstable_by_key(|chat| std::cmp::Reverse(place(chat)));
        let has_more = found.len() > page.at_most;
        found.truncate(page.at_most);
        let last = found.last().filter(|_| has_more).map(|chat| place(chat));
        let next = last.map(|(updated, number)| format!("{updated}.{number}").into());
        Ok(Listing::new(found.into_iter().map(|chat| chat.info.clone()).collect(), next))
    }

    pub(super) fn delete(&mut self, scope: &Scope, what: Delete<'_>, now: u64) -> Deleted {
        let names: Vec<Text> = match what {
            Delete::Chat(chat) => {
                self.chat(scope, chat).map(|chat| chat.info.chat.clone()).into_iter().collect()
            }
            Delete::Everything => self
                .chats
                .iter()
                .filter(|((owner, _), chat)| owner == scope && chat.deleted_ms.is_none())
                .map(|((_, name), _)| name.clone())
                .collect(),
        };
        let mut deleted = Deleted::new(names.len(), Vec::new());
        for name in names {
            deleted.runs.extend(self.bury(scope, &name, now));
        }
        deleted
    }

    /// Turns a conversation into a tombstone, and returns its runs that had not ended.
    fn bury(&mut self, scope: &Scope, chat: &Text, now: u64) -> Vec<RunId> {
        if let Some(chat) = self.chats.get_mut(&(scope.clone(), chat.clone())) {
            chat.bury(now);
        }
        let is_inside = |run: &Run| run.scope == *scope && run.chat == *chat;
        let live = self.runs.values().filter(|run| is_inside(run) && !run.state.is_ended());
        let live = live.map(|run| run.id).collect();
        self.runs.retain(|_, run| !is_inside(run));
        live
    }

    pub(super) fn sweep(&mut self, policy: &Retention, at_most: usize, now: u64) -> Swept {
        let limit = |time| now.saturating_sub(millis(time));
        let mut swept = Swept::default();
        if let Some(limit) = policy.conversations.map(limit) {
            let is_busy = |scope: &Scope, chat: &Text| {
                let mut runs = self.runs.values();
                runs.any(|run| run.scope == *scope && run.chat == *chat && run.is_busy_since(limit))
            };
            let idle = self.chats.iter().filter(|((scope, name), chat)| {
                chat.deleted_ms.is_none() && chat.info.updated_ms <= limit && !is_busy(scope, name)
            });
            let idle: Vec<(Scope, Text)> = idle.map(|(key, _)| key.clone()).take(at_most).collect();
            swept.conversations = idle.len();
            for (scope, chat) in idle {
                self.bury(&scope, &chat, now);
            }
        }
        let limit_of_journals = limit(policy.journals);
        let is_old =
            |run: &&mut Run| run.input.is_some() && run.ended_ms.is_some_and(|end| end <= limit_of_journals);
        for run in self.runs.values_mut().filter(is_old).take(at_most) {
            run.input = None;
            run.journal = Vec::new();
            run.signals = Vec::new();
            swept.journals += 1;
        }
        let limit_of_usage = Day::of_ms(limit(policy.usage));
        let old = self.usage.keys().take_while(|(day, ..)| *day < limit_of_usage);
        let old: Vec<_> = old.take(at_most).cloned().collect();
        swept.usage = old.len();
        for key in old {
            self.usage.remove(&key);
        }
        let limit = limit(policy.tombstones);
        let is_over = |chat: &Chat| chat.deleted_ms.is_some_and(|at| at <= limit);
        let over = self.chats.iter().filter(|(_, chat)| is_over(chat));
        let over: Vec<(Scope, Text)> = over.map(|(key, _)| key.clone()).take(at_most).collect();
        swept.tombstones = over.len();
        for key in over {
            self.chats.remove(&key);
        }
        swept
    }

    /// Adds the usage of a segment that was stored now.
    pub(super) fn count(&mut self, scope: &Scope, used: &[ModelUsage], now: u64) {
        for usage in used {
            let key = (Day::of_ms(now), scope.owner().into(), usage.model.clone());
            self.usage.entry(key).or_insert_with(|| ModelUsage::new(usage.model.clone())).add(usage);
        }
    }

    pub(super) fn usage(&self, query: &UsageQuery, page: &Page) -> Result<UsageListing, StoreError> {
        let cursor = page.cursor.as_deref().map(|cursor| {
            UsageListing::parse_cursor(cursor).ok_or_else(|| StoreError::invalid("unknown cursor"))
        });
        let cursor = cursor.transpose()?;
        let days = self.usage.iter().filter(|((day, owner, model), _)| {
            query.days.contains(day)
                && query.scope.as_ref().is_none_or(|scope| scope.owner() == owner.as_str())
                && cursor.is_none_or(|cursor| (*day, owner.as_str(), model.as_str()) > cursor)
        });
        let days = days.map(|((day, owner, _), usage)| UsageDay::new(*day, owner.clone(), usage.clone()));
        Ok(UsageListing::first_of(days.take(page.at_most.saturating_add(1)).collect(), page.at_most))
    }

    pub(super) fn delete_usage(&mut self, scope: &Scope) {
        self.usage.retain(|(_, owner, _), _| owner.as_str() != scope.owner());
    }

    /// Returns the runs of a conversation that have not ended, the oldest first.
    pub(super) fn open_runs(&self, scope: &Scope, chat: &str) -> Vec<&Run> {
        let is_open = |run: &&Run| run.scope == *scope && run.chat == *chat && !run.state.is_ended();
        let mut open: Vec<&Run> = self.runs.values().filter(is_open).collect();
        open.sort_unstable_by_key(|run| (run.state == RunState::Queued, run.number));
        open
    }
}

fn parse_cursor(cursor: &str) -> Result<(u64, u64), StoreError> {
    let numbers = cursor.split_once('.');
    numbers
        .and_then(|(updated, number)| Some((updated.parse().ok()?, number.parse().ok()?)))
        .ok_or_else(|| StoreError::invalid("unknown cursor"))
}
