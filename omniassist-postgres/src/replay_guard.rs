//! The record of used approvals in the database.

use std::fmt;
use std::time::Duration;

use futures_util::try_join;
use omniassist_server::seal::{ClaimFuture, ClaimOutcome, ReplayGuard, SealClaim};
use omniassist_server::store::Durability;

use crate::PostgresStore;
use crate::database::Transaction;
use crate::failure::Failure;
use crate::text::stored;
use crate::time;
use crate::values::values;

/// Records an approval, unless it is there.
const CLAIM: &str = "insert into omniassist.used_approval as u (key, expires_at)
     values ($1, now() + $2 * interval '1 second')
     on conflict (key) do update set expires_at = excluded.expires_at where u.expires_at <= now() returning 1";

/// A [`ReplayGuard`] that all servers of the database share. See [`PostgresStore::replay_guard`].
#[must_use = "a guard does nothing until it is given to a builder"]
pub struct PostgresReplayGuard(PostgresStore);

impl PostgresStore {
    /// Returns a record of approved calls, so that each runs once although it is posted to several servers. Chats without a
    /// store need it: the approvals of stored runs are rows of their runs.
    ///
    /// A call does not run if the database cannot be reached, or if the answer to its claim was lost.
    pub fn replay_guard(&self) -> PostgresReplayGuard {
        PostgresReplayGuard(self.clone())
    }
}

impl ReplayGuard for PostgresReplayGuard {
    fn claim<'a>(&'a self, approval: &'a SealClaim, lifetime: Duration) -> ClaimFuture<'a> {
        let claim =
            async move { claim(self.0.writers().transaction().await?, &approval.key(), lifetime).await };
        let claim = self.0.within(claim);
        Box::pin(async move {
            match claim.await {
                Ok(true) => ClaimOutcome::First,
                Ok(false) => ClaimOutcome::Used,
                Err(error) => {
                    tracing::error!(?error, "the record of used approvals cannot be reached");
                    ClaimOutcome::Unknown
                }
            }
        })
    }
}

impl fmt::Debug for PostgresReplayGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresReplayGuard").finish_non_exhaustive()
    }
}

async fn claim(transaction: Transaction, key: &str, lifetime: Duration) -> Result<bool, Failure> {
    let (_, recorded, ()) = try_join!(
        transaction.begin(Durability::Hard),
        transaction.query(CLAIM, values![stored(key), time::seconds(lifetime)]),
        transaction.commit(),
    )?;
    transaction.end();
    Ok(!recorded.is_empty())
}
