//! The time at which a waiting run becomes free.

use omniassist_server::store::RunId;

use crate::database::Transaction;
use crate::failure::Failure;
use crate::values::{id, values};

/// Computes the time at which a run becomes free, if it waits: now if all is answered, or if it was stopped or got a
/// message, else when a question expires.
pub(super) async fn refresh(transaction: &Transaction, run: RunId, has_message: bool) -> Result<(), Failure> {
    let refresh = "update omniassist.run r set due_at = case when r.state <> 3 then null
         when r.stop or $2 or open.number = 0 then now() else open.expiry end
         from (select count(*) as number, min(expires_at) as expiry from omniassist.obligation o where o.run = $1
           and not exists (select 1 from omniassist.signal s where s.run = o.run and s.key = 'answer:' || o.call)) open
         where r.id = $1";
    transaction.query(refresh, values![id(run.as_bytes()), has_message]).await?;
    Ok(())
}
