use omniassist_server::failpoint;
use omniassist_server::store::{Received, RunId, RunState, Scope, Signal, SignalKind, Signalled};
use rusqlite::{Connection, OptionalExtension, params};

use crate::failure::Failure;
use crate::{rows, time};

pub(crate) fn signal(
    connection: &Connection,
    scope: &Scope,
    run: RunId,
    signal: &Signal,
) -> Result<Signalled, Failure> {
    let now = time::now();
    let mut query = connection.prepare_cached(
        "select r.number, r.state from run r join conversation c on c.id = r.conversation
         where r.id = ?1 and c.owner = ?2",
    )?;
    let found = query.query_row(params![run.as_bytes(), scope.owner()], |row| {
        Ok((row.get::<_, i64>(0)?, rows::state(row, 1)?))
    });
    let Some((number, state)) = found.optional()? else { return Ok(Signalled::Gone) };
    if let Some(key) = signal.kind.key()
        && let Some(earlier) = earlier(connection, run, number, &key)?
    {
        return Ok(Signalled::Repeats(Box::new(earlier)));
    }
    match &signal.kind {
        _ if state.is_ended() => return Ok(Signalled::Late),
        SignalKind::Watch(time) => {
            let mut statement = connection
                .prepare_cached("update run set watched_until = max(watched_until, ?2) where number = ?1")?;
            statement.execute([number, now.saturating_add(time::millis(*time))])?;
            return Ok(Signalled::Taken);
        }
        SignalKind::Answer(call) if !asks(connection, number, call)? => return Ok(Signalled::Late),
        _ => {}
    }
    let Some(key) = signal.kind.key() else { return Err(Failure::Invalid("an unknown kind of signal")) };
    failpoint::hit("signal.checked");
    record(connection, number, &key, signal, now)?;
    failpoint::hit("signal.recorded");
    if signal.kind == SignalKind::Stop && state == RunState::Queued {
        let stop = "update run set state = ?2, ended_at = ?3 where number = ?1";
        connection.prepare_cached(stop)?.execute(params![number, RunState::Stopped.number(), now])?;
    }
    refresh_due(connection, number, now)?;
    if matches!(signal.kind, SignalKind::Say(_)) && state == RunState::Waiting {
        connection.prepare_cached("update run set due_at = ?2 where number = ?1")?.execute([number, now])?;
    }
    Ok(Signalled::Taken)
}

fn earlier(connection: &Connection, run: RunId, number: i64, key: &str) -> Result<Option<Received>, Failure> {
    let mut query = connection.prepare_cached(
        "select key, number, data, sender, received_at from signal where run = ?1 and key = ?2",
    )?;
    let found = query.query_row(params![number, key], |row| rows::received(run, row, 0)).optional()?;
    Ok(found.flatten())
}

fn asks(connection: &Connection, run: i64, call: &str) -> Result<bool, Failure> {
    let mut query = connection.prepare_cached("select 1 from obligation where run = ?1 and call = ?2")?;
    Ok(query.exists(params![run, call])?)
}

fn record(connection: &Connection, run: i64, key: &str, signal: &Signal, now: i64) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "update run set signals = signals + 1, stop = max(stop, ?2) where number = ?1 returning signals",
    )?;
    let is_stop = signal.kind == SignalKind::Stop;
    let number: u32 = statement.query_row(params![run, is_stop], |row| row.get(0))?;
    let mut statement = connection.prepare_cached(
        "insert into signal (run, key, number, data, sender, received_at) values (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let (data, sender): (&[u8], &str) = (&signal.data, &signal.by);
    statement.execute(params![run, key, number, data, sender, now])?;
    Ok(())
}

/// Computes the time at which a waiting run becomes free: now if all is answered, else when a question expires.
pub(super) fn refresh_due(connection: &Connection, run: i64, now: i64) -> Result<(), Failure> {
    let mut query = connection.prepare_cached(
        "select count(*), min(expires_at) from obligation o where o.run = ?1
         and not exists (select 1 from signal s where s.run = o.run and s.key = 'answer:' || o.call)",
    )?;
    let (open, expiry) =
        query.query_row([run], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?)))?;
    let due = if open == 0 { Some(now) } else { expiry };
    let mut statement = connection.prepare_cached(
        "update run set due_at = case when state <> 3 then null when stop then ?3 else ?2 end where number = ?1",
    )?;
    statement.execute(params![run, due, now])?;
    Ok(())
}
