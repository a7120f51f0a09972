use std::time::Duration;

use futures_util::try_join;
use omniassist_server::store::{Durability, RunId, RunState, Scope, Signal, SignalKind, Signalled};

use super::due;
use crate::database::Transaction;
use crate::failure::Failure;
use crate::text::stored;
use crate::values::{id, values};
use crate::{rows, time};

const LOCK: &str = "select r.state from omniassist.run r
     join omniassist.conversation c on c.id = r.conversation
     where r.id = $1 and c.owner = $2 for no key update of r";

const EARLIER: &str = "select key, number, data, sender, received_at from omniassist.signal
     where run = $1 and key = $2";

const ASKS: &str = "select 1 from omniassist.obligation where run = $1 and call = $2";

/// A stop ends a queued run, which nobody drives.
const RECORD: &str = "with numbered as (
       update omniassist.run set signals = signals + 1, stop = stop or $5,
         state = case when $5 and state = 1 then $6 else state end,
         ended_at = case when $5 and state = 1 then now() else ended_at end
       where id = $1 returning id, signals)
     insert into omniassist.signal (run, key, number, data, sender) select id, $2, signals, $3, $4 from numbered";

/// Rows are locked in one order, since other servers watch the same runs.
const WATCH: &str = "with watched as (
       select r.id from unnest($1::uuid[], $2::text[]) as q (run, owner)
       join omniassist.run r on r.id = q.run and r.state in (1, 2, 3)
       join omniassist.conversation c on c.id = r.conversation and c.owner = q.owner
       order by r.id for no key update of r)
     update omniassist.run set watched_until = greatest(watched_until, now() + $3 * interval '1 second')
     where id in (select id from watched)";

pub(crate) async fn signal(
    transaction: Transaction,
    scope: &Scope,
    run: RunId,
    signal: &Signal,
) -> Result<Signalled, Failure> {
    // Nothing depends on a watch: a viewer renews it.
    let is_watch = matches!(signal.kind, SignalKind::Watch(_));
    let how = if is_watch { Durability::Soft } else { Durability::Hard };
    let key = signal.kind.key();
    if key.is_none() && !is_watch {
        return Err(Failure::Invalid("an unknown kind of signal".to_owned()));
    }
    let call = if let SignalKind::Answer(call) = &signal.kind { Some(stored(call)) } else { None };
    let (id, stored_key) = (id(run.as_bytes()), key.as_deref().map(stored));
    let (_, locked, earlier, asks) = try_join!(
        transaction.begin(how),
        transaction.query(LOCK, values![id, stored(scope.owner())]),
        transaction.query(EARLIER, values![id, stored_key.clone()]),
        transaction.query(ASKS, values![id, call.clone()]),
    )?;
    let earlier = earlier.first().map(|row| rows::received(run, row, 0)).transpose()?.flatten();
    let state = locked.first().map(|row| rows::state(row, 0)).transpose()?;
    let refused = match (state, earlier) {
        (None, _) => Some(Signalled::Gone),
        (_, Some(earlier)) => Some(Signalled::Repeats(Box::new(earlier))),
        (Some(state), None) if state.is_ended() || (call.is_some() && asks.is_empty()) => {
            Some(Signalled::Late)
        }
        _ => None,
    };
    if let Some(refused) = refused {
        transaction.undo().await?;
        return Ok(refused);
    }
    if let SignalKind::Watch(time) = signal.kind {
        let watch = values![vec![id], vec![stored(scope.owner())], time::seconds(time)];
        try_join!(transaction.query(WATCH, watch), transaction.commit())?;
    } else {
        let (is_stop, stopped) = (signal.kind == SignalKind::Stop, i16::from(RunState::Stopped.number()));
        let record = values![id, stored_key, &*signal.data, stored(&signal.by), is_stop, stopped];
        let has_message = matches!(signal.kind, SignalKind::Say(_));
        try_join!(
            transaction.query(RECORD, record),
            due::refresh(&transaction, run, has_message),
            transaction.commit(),
        )?;
    }
    transaction.end();
    Ok(Signalled::Taken)
}

/// Extends the time for which runs are watched.
pub(crate) async fn watch(
    transaction: Transaction,
    runs: &[(Scope, RunId)],
    time: Duration,
) -> Result<(), Failure> {
    let watch = values![
        runs.iter().map(|(_, run)| id(run.as_bytes())).collect::<Vec<_>>(),
        runs.iter().map(|(scope, _)| stored(scope.owner())).collect::<Vec<_>>(),
        time::seconds(time),
    ];
    try_join!(transaction.begin(Durability::Soft), transaction.query(WATCH, watch), transaction.commit())?;
    transaction.end();
    Ok(())
}
