use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use crate::sync;

/// The number of keys whose last text is remembered. Above it, all are forgotten.
const MAX_KEYS: usize = 1024;

/// The last text about each key that is in the log, so that it is written once.
#[derive(Debug)]
pub(crate) struct LogOnce<K>(Mutex<HashMap<K, u64>>);

impl<K: Eq + Hash> LogOnce<K> {
    /// Remembers a text about a key. Returns `false` if it is the last one already.
    pub(crate) fn is_new(&self, key: K, text: impl Hash) -> bool {
        let mut texts = sync::lock(&self.0);
        if texts.len() >= MAX_KEYS && !texts.contains_key(&key) {
            texts.clear();
        }
        let hash = hash(text);
        texts.insert(key, hash) != Some(hash)
    }

    /// Forgets a key, so that the next text about it is new.
    pub(crate) fn forget(&self, key: &K) {
        sync::lock(&self.0).remove(key);
    }
}

impl<K> Default for LogOnce<K> {
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
        let log_once = LogOnce::default();
        assert!(log_once.is_new("a", "x") && log_once.is_new("b", "x"));
        assert!(!log_once.is_new("a", "x"));
        assert!(log_once.is_new("a", "y") && log_once.is_new("a", "x"));
        log_once.forget(&"a");
        assert!(log_once.is_new("a", "x"));
    }

    #[test]
    fn the_texts_of_1024_keys_are_remembered() {
        let log_once = LogOnce::default();
        for key in 0..1024 {
            assert!(log_once.is_new(key, "x"));
        }
        assert!(!log_once.is_new(0, "x") && !log_once.is_new(1023, "x"));
        assert!(log_once.is_new(1024, "x"));
        assert!(!log_once.is_new(1024, "x"));
        assert!(log_once.is_new(0, "x"));
    }
}
