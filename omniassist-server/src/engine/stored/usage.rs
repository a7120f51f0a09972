use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use omniassist_core::Day;

use crate::Principal;
use crate::engine::Assistant;
use crate::engine::stores::Stores;
use crate::store::{Page, Scope, StoreError, UsageListing, UsageQuery};

impl Assistant {
    /// Returns the usage of stored runs, or `None` without a [store](super::super::AssistantBuilder::store).
    #[must_use]
    pub fn usage(&self) -> Option<StoredUsage> {
        self.stores().map(|stores| StoredUsage { stores: Arc::clone(stores) })
    }
}

/// The tokens and the cost of the stored runs of an [`Assistant`], by day, principal and model. A clone is another handle
/// to them.
///
/// Each model call is counted once, in the transaction that makes its answer a part of the run, with the tokens that its
/// provider reported. A call is not counted if its server stopped during it, or its conversation was deleted meanwhile; a
/// call that was cut off counts what was reported until then, to within 64 tokens, and its cost is not known. The cost of
/// another call is that of the [`prices`](super::super::AssistantBuilder::prices) at that time. Runs that are not stored
/// are not counted.
///
/// Days are those of UTC. They are kept for the time of [`Retention::usage`](crate::store::Retention::usage), also after
/// the deletion of a conversation, and are deleted by [`Conversations::forget`](crate::Conversations::forget).
///
/// ```
/// use omniassist_server::core::Day;
/// use omniassist_server::store::{MemoryStore, Page};
/// use omniassist_server::testing::ScriptedProvider;
/// use omniassist_server::{Assistant, Cost, Principal};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let assistant = Assistant::builder(ScriptedProvider::new()).store(MemoryStore::new()).build()?;
/// let usage = assistant.usage().ok_or("the assistant has no store")?;
///
/// let november = Day::parse("2026-11-01").ok_or("a day")?..=Day::parse("2026-11-30").ok_or("a day")?;
/// let page = usage.of(&Principal::new("ada"), november.clone(), &Page::first(100)).await?;
/// let cost: Cost = page.days.iter().map(|day| day.usage.cost).sum();
/// assert_eq!(cost.to_string(), "0");
///
/// // For a report, as JSON: the use of each model by each principal on each day.
/// let page = usage.of_all(november, &Page::first(100)).await?;
/// assert!(page.days.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct StoredUsage {
    stores: Arc<Stores>,
}

impl StoredUsage {
    /// Returns the usage of a principal. An anonymous one has none.
    ///
    /// # Errors
    ///
    /// Returns an error if the usage cannot be read, or the cursor is not one.
    pub async fn of(
        &self,
        principal: &Principal,
        days: RangeInclusive<Day>,
        page: &Page,
    ) -> Result<UsageListing, StoreError> {
        let Some(scope) = Scope::of(principal) else { return Ok(UsageListing::default()) };
        self.stores.runs.usage(&UsageQuery::new(Some(scope), days), page).await
    }

    /// Returns the usage of all principals.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`of`](Self::of).
    pub async fn of_all(&self, days: RangeInclusive<Day>, page: &Page) -> Result<UsageListing, StoreError> {
        self.stores.runs.usage(&UsageQuery::new(None, days), page).await
    }
}

impl fmt::Debug for StoredUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredUsage").finish_non_exhaustive()
    }
}
