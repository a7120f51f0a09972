use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use crate::sync;

/// The number of keys whose last text is remembered. Above it, all are forgotten.
const MOST: usize = 1024;

/// The last text about each key that is in the log, so that it is written once.
#[derive(Debug)]
pub(crate) struct Noted<K>(Mutex<HashMap<K, u64>>);

impl<K: Eq + Hash> Noted<K> {
    /// Remembers a text about a key. Returns `false` if it is the last one already.
    pub(crate) fn is_new(&self, key: K, text: impl Hash) -> bool {
        let mut noted = sync::lock(&self.0);
        if noted.len() >= MOST && !noted.contains_key(&key) {
            noted.clear();
        }
        let hash = hash(text);
        noted.insert(key, hash) != Some(hash)
    }

    /// Forgets a key, so that the next text about it is new.
    pub(crate) fn forget(&self, key: &K) {
        sync::lock(&self.0).remove(key);
    }
}

impl<K> Default for Noted<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// Returns a hash that is the same each time in one process.
pub(super) fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_new_once_for_each_key() {
        let noted = Noted::default();
        assert!(noted.is_new("a", "x") && noted.is_new("b", "x"));
        assert!(!noted.is_new("a", "x"));
        assert!(noted.is_new("a", "y") && noted.is_new("a", "x"));
        noted.forget(&"a");
        assert!(noted.is_new("a", "x"));
    }

    #[test]
    fn the_texts_of_1024_keys_are_remembered() {
        let noted = Noted::default();
        for key in 0..1024 {
            assert!(noted.is_new(key, "x"));
        }
        assert!(!noted.is_new(0, "x") && !noted.is_new(1023, "x"));
        assert!(noted.is_new(1024, "x"));
        assert!(!noted.is_new(1024, "x"));
        assert!(noted.is_new(0, "x"));
    }
}
