use std::slice;

use futures_util::try_join;
use omniassist_server::store::{Appended, Durability, Ending, Obligation, RunId, Settled};

use super::append::{insert, own};
use super::due;
use crate::change::{self, Locked};
use crate::database::Transaction;
use crate::failure::Failure;
use crate::time;
use crate::values::{id, int, values};

/// Settles a run in two round trips: one that locks the conversation and the run and inserts the segment, and one with the
/// rest.
pub(crate) async fn settle(transaction: Transaction, end: &Settled) -> Result<Appended, Failure> {
    let last = slice::from_ref(&end.last);
    let (_, conversation, answers, own) = try_join!(
        transaction.begin(Durability::Hard),
        change::lock_of_run(&transaction, end.last.writer.run, end.change.as_ref()),
        insert(&transaction, last),
        own(&transaction, last),
    )?;
    let answer = answers.into_iter().next().ok_or(Failure::Corrupt("a segment has no answer"))?;
    let is_own = own.first() == Some(&true);
    let Some(conversation) = conversation.filter(|_| answer.is_added) else {
        transaction.undo().await?;
        return Ok(answer.appended(is_own));
    };
    if let Some(Err(refused)) = end.change.as_ref().map(|change| conversation.check(change)) {
        transaction.undo().await?;
        return Err(Failure::Refused(refused));
    }
    write(transaction, end, &conversation).await?;
    Ok(answer.appended(is_own))
}

async fn write(transaction: Transaction, end: &Settled, conversation: &Locked) -> Result<(), Failure> {
    let (run, state) = (end.last.writer.run, end.ending.state());
    let save = async {
        match &end.change {
            Some(change) => conversation.apply(&transaction, change).await.map(drop),
            None => Ok(()),
        }
    };
    let update = "update omniassist.run set state = $2, instance = null, usage = coalesce($3, usage),
         ended_at = case when $4 then now() end where id = $1";
    let update = transaction.query(
        update,
        values![id(run.as_bytes()), i16::from(state.number()), end.usage.as_deref(), state.is_ended()],
    );
    let ask = async {
        match &end.ending {
            Ending::Waiting(questions) => ask(&transaction, run, questions).await,
            ending if ending.state().is_ended() => ask(&transaction, run, &[]).await,
            _ => Ok(()),
        }
    };
    try_join!(save, update, ask, due::refresh(&transaction, run, false), transaction.commit())?;
    transaction.end();
    Ok(())
}

/// Replaces the questions of a run.
async fn ask(transaction: &Transaction, run: RunId, questions: &[Obligation]) -> Result<(), Failure> {
    let delete = "delete from omniassist.obligation where run = $1";
    let insert = "insert into omniassist.obligation (run, call, place, data, expires_at)
         select $1, o.* from unnest($2::text[], $3::int4[], $4::bytea[], $5::timestamptz[]) as o";
    let run = id(run.as_bytes());
    let insert = async {
        if questions.is_empty() {
            return Ok(());
        }
        let values = values![
            run,
            questions.iter().map(|question| crate::text::stored(&question.call)).collect::<Vec<_>>(),
            (0..).map(int).take(questions.len()).collect::<Vec<_>>(),
            questions.iter().map(|question| &*question.data).collect::<Vec<_>>(),
            questions.iter().map(|question| question.expires_ms.map(time::stored)).collect::<Vec<_>>(),
        ];
        transaction.query(insert, values).await.map(drop)
    };
    try_join!(transaction.query(delete, values![run]), insert)?;
    Ok(())
}
