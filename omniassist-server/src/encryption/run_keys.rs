use std::collections::HashMap;
use std::sync::Mutex;

use super::content::ContentKey;
use crate::store::RunId;
use crate::sync::lock;

/// The maximum number of runs whose keys are kept.
const MAX: usize = 8192;

/// The keys of the runs that this process drives, so that a write of text needs no question to the store.
#[derive(Default)]
pub(super) struct RunKeys(Mutex<HashMap<RunId, ContentKey>>);

impl RunKeys {
    pub(super) fn get(&self, run: RunId) -> Option<ContentKey> {
        lock(&self.0).get(&run).cloned()
    }

    pub(super) fn insert(&self, run: RunId, key: &ContentKey) {
        let mut keys = lock(&self.0);
        if keys.len() >= MAX {
            // The store is asked again.
            keys.clear();
        }
        keys.insert(run, key.clone());
    }

    pub(super) fn remove(&self, run: RunId) {
        lock(&self.0).remove(&run);
    }
}
