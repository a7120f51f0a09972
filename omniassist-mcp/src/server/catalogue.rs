use std::collections::BTreeMap;

use omniassist_server::RunContext;
use rmcp::ErrorData;

use super::completion::Completers;
use super::page::{Found, page};
use super::visibility::Visibility;

/// A page that a caller asks for: the cursor of the one before, and the number of entries.
pub(super) type Page<'a> = (&'a RunContext, Option<&'a str>, usize);

/// A resource or a prompt of the host.
pub(super) trait Entry {
    /// Returns the name or the address. Lists are in its order.
    fn key(&self) -> &str;

    fn visibility(&self) -> &Visibility;

    fn completers(&self) -> &Completers;
}

/// The resources or the prompts of the host, by their addresses or names. One that a caller does not see does not exist for it.
#[derive(Debug, Clone)]
pub(super) struct Catalogue<T>(BTreeMap<String, T>);

impl<T: Entry> Catalogue<T> {
    /// Adds an entry. It replaces the one of the same key.
    pub(super) fn insert(&mut self, entry: T) {
        self.0.insert(entry.key().to_owned(), entry);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn have_completions(&self) -> bool {
        self.0.values().any(|entry| !entry.completers().is_empty())
    }

    /// Returns the entry of a key, if the caller sees it.
    pub(super) fn get(&self, key: &str, caller: &RunContext) -> Option<&T> {
        self.0.get(key).filter(|entry| entry.visibility().holds(caller))
    }

    /// Returns all entries in their order, also those that no caller sees.
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.0.values()
    }

    /// Returns one page of the entries that a caller sees and that are of a kind, and the cursor of the next one.
    pub(super) fn page<L>(
        &self,
        is_of_kind: impl Fn(&T) -> bool,
        listed: impl Fn(&T) -> L,
        (caller, after, size): Page<'_>,
    ) -> Result<Found<L>, ErrorData> {
        let of_kind = self.0.values().filter(|entry| is_of_kind(entry));
        let visible = of_kind.filter(|entry| entry.visibility().holds(caller));
        let (found, more) = page(visible.map(|entry| (entry.key(), entry)).collect(), after, size)?;
        Ok((found.into_iter().map(listed).collect(), more))
    }
}

impl<T> Default for Catalogue<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}
