use omniassist_server::failpoint;
use omniassist_server::store::{Appended, Ending, Obligation, Scope, Settled};
use rusqlite::{Connection, params};

use super::append::{append, is_own, taken};
use super::signal::refresh_due;
use crate::failure::Failure;
use crate::{conversations, rows, time};

pub(crate) fn settle(connection: &Connection, end: &Settled) -> Result<Appended, Failure> {
    let writer = end.last.writer;
    if is_own(connection, &end.last)? {
        return taken(connection, writer);
    }
    let answer = append(connection, &end.last)?;
    if !matches!(answer, Appended::Taken(_)) {
        return Ok(answer);
    }
    let mut query = connection.prepare_cached(
        "select r.number, c.owner, c.chat from run r join conversation c on c.id = r.conversation where r.id = ?1",
    )?;
    let (number, owner, chat) = query.query_row([writer.run.as_bytes()], |row| {
        Ok((row.get::<_, i64>(0)?, rows::text(row, 1)?, rows::text(row, 2)?))
    })?;
    failpoint::hit("settle.appended");
    if let Some(change) = &end.change {
        conversations::save(connection, &Scope::new(owner), &chat, change)?;
    }
    failpoint::hit("settle.saved");
    let (state, now) = (end.ending.state(), time::now());
    let mut statement = connection.prepare_cached(
        "update run set state = ?2, instance = null, usage = coalesce(?3, usage), ended_at = ?4 where number = ?1",
    )?;
    statement.execute(params![
        number,
        state.number(),
        end.usage.as_deref(),
        state.is_ended().then_some(now)
    ])?;
    failpoint::hit("settle.updated");
    match &end.ending {
        Ending::Waiting(questions) => ask(connection, number, questions)?,
        ending if ending.state().is_ended() => ask(connection, number, &[])?,
        _ => {}
    }
    refresh_due(connection, number, now)?;
    Ok(answer)
}

/// Replaces the questions of a run.
fn ask(connection: &Connection, run: i64, questions: &[Obligation]) -> Result<(), Failure> {
    connection.prepare_cached("delete from obligation where run = ?1")?.execute([run])?;
    let mut statement = connection.prepare_cached(
        "insert into obligation (run, call, place, data, expires_at) values (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (question, place) in questions.iter().zip(0_i64..) {
        let (call, data): (&str, &[u8]) = (&question.call, &question.data);
        statement.execute(params![run, call, place, data, question.expires_ms.map(time::stored)])?;
    }
    Ok(())
}
