//! The accounts and the journal of all tools that ran.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omniassist_axum::tool::ToolContext;
use serde::Serialize;
use serde_json::Value;

/// The first balance of an account in cents.
const OPENING: i64 = 100_000_000;

/// Accounts in memory. Clones share them.
#[derive(Debug, Clone)]
pub struct Book(Arc<Mutex<Pages>>);

#[derive(Debug)]
struct Pages {
    accounts: BTreeMap<String, i64>,
    journal: Vec<Entry>,
}

/// One tool that ran.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Entry {
    by: String,
    chat: Option<String>,
    call: String,
    tool: String,
    arguments: Value,
}

/// An error of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    NoAccount(String),
    Overdrawn(String),
}

/// Creates the accounts with their first balance.
impl Default for Book {
    fn default() -> Self {
        let accounts = ["rent", "savings", "travel"].map(|name| (name.to_owned(), OPENING));
        Self(Arc::new(Mutex::new(Pages { accounts: accounts.into(), journal: Vec::new() })))
    }
}

impl Book {
    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a tool runs. Each tool calls this first.
    pub(crate) fn note(&self, call: &ToolContext) {
        let entry = Entry {
            by: call.run().principal().id().to_owned(),
            chat: call.run().chat_id().map(ToString::to_string),
            call: call.call_id().to_string(),
            tool: call.tool_name().to_string(),
            arguments: call.arguments().to_value(),
        };
        self.lock().journal.push(entry);
    }

    /// Returns the tools that ran, without the first `from` entries.
    pub(crate) fn journal(&self, from: usize) -> Vec<Entry> {
        self.lock().journal.iter().skip(from).cloned().collect()
    }

    pub(crate) fn balance(&self, account: &str) -> Result<i64, Refusal> {
        self.lock().balance(account)
    }

    /// Moves money and returns the new balance of the first account.
    pub(crate) fn transfer(&self, from: &str, to: &str, cents: i64) -> Result<i64, Refusal> {
        let mut pages = self.lock();
        pages.balance(to)?;
        let left = pages.balance(from)? - cents;
        if left < 0 {
            return Err(Refusal::Overdrawn(from.to_owned()));
        }
        pages.accounts.insert(from.to_owned(), left);
        let there = pages.balance(to)?;
        pages.accounts.insert(to.to_owned(), there + cents);
        pages.balance(from)
    }

    /// Closes an account and returns its balance.
    pub(crate) fn close(&self, account: &str) -> Result<i64, Refusal> {
        self.lock().accounts.remove(account).ok_or_else(|| Refusal::NoAccount(account.to_owned()))
    }
}

impl Pages {
    fn balance(&self, account: &str) -> Result<i64, Refusal> {
        self.accounts.get(account).copied().ok_or_else(|| Refusal::NoAccount(account.to_owned()))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAccount(name) => write!(f, "There is no account `{name}`."),
            Self::Overdrawn(name) => write!(f, "There is not enough on `{name}`."),
        }
    }
}
