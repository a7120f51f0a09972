use std::sync::Arc;

use crate::engine::stores::Stores;
use crate::store::{ConversationStore, RunStore};
use crate::{Error, Result};

/// The stores that were given so far.
#[derive(Default)]
pub(in crate::engine) struct GivenStores {
    pub(in crate::engine) both: Option<(Arc<dyn RunStore>, Arc<dyn ConversationStore>)>,
    pub(in crate::engine) conversations: Option<Arc<dyn ConversationStore>>,
}

impl GivenStores {
    /// Returns the stores, if there are any.
    pub(in crate::engine) fn together(self) -> Result<Option<Arc<Stores>>> {
        match (self.both, self.conversations) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(Error::configuration("`conversations` needs a `store` for the runs")),
            (Some((runs, conversations)), None) => Ok(Some(Arc::new(Stores::new(runs, conversations, true)))),
            (Some((runs, _)), Some(own)) => Ok(Some(Arc::new(Stores::new(runs, own, false)))),
        }
    }
}
