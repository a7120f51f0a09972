use futures_util::try_join;
use omniassist_server::store::{Appended, Durability, Segment};

use crate::database::Transaction;
use crate::failure::Failure;
use crate::rows;
use crate::text::stored;
use crate::values::{Value, bigint, id, int, value, values};

/// Inserts those of the segments whose writers drive their runs and whose positions are the next ones. The answer has a row
/// for each segment, in their order: its run exists, it was inserted, and the notice. The place stands for what follows from
/// the segments that were added.
///
/// The rows of the runs are locked against their deletion only, so that neither a claim nor a signal waits for a commit of
/// text. A claim at the same time inserts the same position, and one of both is refused.
macro_rules! append {
    ($counted:literal) => {
        concat!(
            "with input as (
       select * from unnest($1::uuid[], $2::int4[], $3::int4[], $4::uuid[], $5::int2[], $6::int4[], $7::bytea[])
         with ordinality as t (run, pos, epoch, writer, kind, events, data, place)),
     driven as (
       select i.* from input i join omniassist.run r on r.id = i.run
       where r.state = 2 and r.epoch = i.epoch and r.instance = i.writer
       order by r.id for key share of r),
     added as (
       insert into omniassist.segment (run, pos, epoch, writer, kind, events, data)
       select d.run, d.pos, d.epoch, d.writer, d.kind, d.events, d.data from driven d
       where d.pos = coalesce((select max(pos) from omniassist.segment s where s.run = d.run), 0) + 1
       order by d.run
       on conflict do nothing returning run)",
            $counted,
            "
     select r.id is not null, a.run is not null, coalesce(r.stop, false), coalesce(r.signals, 0),
       coalesce(r.watched_until > now(), false)
     from input i left join omniassist.run r on r.id = i.run left join added a on a.run = i.run order by i.place"
        )
    };
}

/// Text has no usage, and the shorter statement is planned in half the time.
const APPEND: &str = append!("");

/// Adds the usage of the segments too. Rows of owners and models are locked in one order.
const APPEND_AND_COUNT: &str = append!(
    ",
     used as (
       select (extract(epoch from now()) / 86400)::numeric as now, c.owner, u.*
       from unnest($8::uuid[], $9::text[], $10::int8[], $11::int8[], $12::int8[], $13::int8[], $14::int8[],
         $15::int8[], $16::int8[], $17::int8[], $18::int8[]) as u (run, model, runs, calls, unpriced_calls,
         input_tokens, cached_input_tokens, cache_write_input_tokens, output_tokens, reasoning_tokens, cost_nano)
       join added a on a.run = u.run join omniassist.run r on r.id = u.run
       join omniassist.conversation c on c.id = r.conversation),
     counted as (
       insert into omniassist.usage_day as d (day, owner, model, runs, calls, unpriced_calls, input_tokens,
         cached_input_tokens, cache_write_input_tokens, output_tokens, reasoning_tokens, cost_nano)
       select floor(now)::int4, owner, model, least(sum(runs), 9223372036854775807)::int8,
         least(sum(calls), 9223372036854775807)::int8, least(sum(unpriced_calls), 9223372036854775807)::int8,
         least(sum(input_tokens), 9223372036854775807)::int8,
         least(sum(cached_input_tokens), 9223372036854775807)::int8,
         least(sum(cache_write_input_tokens), 9223372036854775807)::int8,
         least(sum(output_tokens), 9223372036854775807)::int8,
         least(sum(reasoning_tokens), 9223372036854775807)::int8,
         least(sum(cost_nano), 9223372036854775807)::int8
       from used group by now, owner, model order by owner, model
       on conflict (day, owner, model) do update set
         runs = least(d.runs::numeric + excluded.runs, 9223372036854775807)::int8,
         calls = least(d.calls::numeric + excluded.calls, 9223372036854775807)::int8,
         unpriced_calls = least(d.unpriced_calls::numeric + excluded.unpriced_calls, 9223372036854775807)::int8,
         input_tokens = least(d.input_tokens::numeric + excluded.input_tokens, 9223372036854775807)::int8,
         cached_input_tokens
           = least(d.cached_input_tokens::numeric + excluded.cached_input_tokens, 9223372036854775807)::int8,
         cache_write_input_tokens
           = least(d.cache_write_input_tokens::numeric + excluded.cache_write_input_tokens, 9223372036854775807)::int8,
         output_tokens = least(d.output_tokens::numeric + excluded.output_tokens, 9223372036854775807)::int8,
         reasoning_tokens
           = least(d.reasoning_tokens::numeric + excluded.reasoning_tokens, 9223372036854775807)::int8,
         cost_nano = least(d.cost_nano::numeric + excluded.cost_nano, 9223372036854775807)::int8)"
);

/// The segments that are in the journal although they were not inserted: their places, counted from 1. A writer has stored
/// them before, and the answer was lost.
const OWN: &str = "select i.place from unnest($1::uuid[], $2::int4[], $3::int4[], $4::uuid[]) with ordinality
       as i (run, pos, epoch, writer, place)
     join omniassist.segment s on s.run = i.run and s.pos = i.pos and s.epoch = i.epoch and s.writer = i.writer";

pub(crate) async fn append(
    transaction: Transaction,
    batch: &[Segment],
    how: Durability,
) -> Result<Vec<Appended>, Failure> {
    if batch.is_empty() {
        transaction.end();
        return Ok(Vec::new());
    }
    let (_, answers, ()) =
        try_join!(transaction.begin(how), insert(&transaction, batch), transaction.commit())?;
    if answers.iter().any(Answer::is_refused) {
        let own = own(&transaction, batch).await?;
        transaction.end();
        return Ok(answers.into_iter().zip(own).map(|(answer, is_own)| answer.appended(is_own)).collect());
    }
    transaction.end();
    Ok(answers.into_iter().map(|answer| answer.appended(false)).collect())
}

/// The answer for a segment.
pub(super) struct Answer {
    exists: bool,
    pub(super) is_added: bool,
    notice: omniassist_server::store::Notice,
}

impl Answer {
    /// Returns `true` if the segment was not inserted although its run exists.
    fn is_refused(&self) -> bool {
        self.exists && !self.is_added
    }

    /// Returns the answer, with the knowledge if the segment was in the journal before.
    pub(super) fn appended(self, is_own: bool) -> Appended {
        match self {
            Self { exists: false, .. } => Appended::Gone,
            Self { is_added, notice, .. } if is_added || is_own => Appended::Taken(notice),
            _ => Appended::Fenced,
        }
    }
}

/// Inserts segments.
pub(super) async fn insert(transaction: &Transaction, batch: &[Segment]) -> Result<Vec<Answer>, Failure> {
    let mut values = places(batch);
    values.extend(values![
        batch.iter().map(|segment| i16::from(segment.kind.number())).collect::<Vec<_>>(),
        batch.iter().map(|segment| int(segment.events)).collect::<Vec<_>>(),
        batch.iter().map(|segment| &*segment.data).collect::<Vec<_>>(),
    ]);
    let has_used = batch.iter().any(|segment| !segment.used.is_empty());
    let sql = if has_used { APPEND_AND_COUNT } else { APPEND };
    if has_used {
        values.extend(used(batch));
    }
    let rows = transaction.query(sql, values).await?;
    let answer = |row| {
        let (exists, is_added) = (rows::get(row, 0)?, rows::get(row, 1)?);
        Ok(Answer { exists, is_added, notice: rows::notice(row, 2)? })
    };
    rows.iter().map(answer).collect()
}

/// Tells for each segment if its writer has stored it.
pub(super) async fn own(transaction: &Transaction, batch: &[Segment]) -> Result<Vec<bool>, Failure> {
    let mut own = vec![false; batch.len()];
    for row in transaction.query(OWN, places(batch)).await? {
        let place = usize::try_from(rows::get::<i64>(&row, 0)?).ok().and_then(|place| place.checked_sub(1));
        if let Some(own) = place.and_then(|place| own.get_mut(place)) {
            *own = true;
        }
    }
    Ok(own)
}

/// Returns the columns `run, pos, epoch, writer` of segments.
fn places(batch: &[Segment]) -> Vec<Value<'static>> {
    values![
        batch.iter().map(|segment| id(segment.writer.run.as_bytes())).collect::<Vec<_>>(),
        batch.iter().map(|segment| int(segment.pos)).collect::<Vec<_>>(),
        batch.iter().map(|segment| int(segment.writer.epoch)).collect::<Vec<_>>(),
        batch.iter().map(|segment| id(segment.writer.instance.as_bytes())).collect::<Vec<_>>(),
    ]
}

/// Returns the columns of the model calls that segments complete.
fn used(batch: &[Segment]) -> Vec<Value<'_>> {
    let used = || batch.iter().flat_map(|segment| segment.used.iter().map(move |usage| (segment, usage)));
    let numbers = |of: fn(&omniassist_server::store::ModelUsage) -> u64| {
        value(used().map(|(_, usage)| bigint(of(usage))).collect::<Vec<_>>())
    };
    vec![
        value(used().map(|(segment, _)| id(segment.writer.run.as_bytes())).collect::<Vec<_>>()),
        value(used().map(|(_, usage)| stored(&usage.model)).collect::<Vec<_>>()),
        numbers(|usage| usage.runs),
        numbers(|usage| usage.calls),
        numbers(|usage| usage.unpriced_calls),
        numbers(|usage| usage.input_tokens),
        numbers(|usage| usage.cached_input_tokens),
        numbers(|usage| usage.cache_write_input_tokens),
        numbers(|usage| usage.output_tokens),
        numbers(|usage| usage.reasoning_tokens),
        numbers(|usage| u64::try_from(usage.cost.nanos()).unwrap_or(u64::MAX)),
    ]
}
