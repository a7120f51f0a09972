use omniassist_server::store::{Tail, TailOf};

use crate::database::Pool;
use crate::failure::Failure;
use crate::rows;
use crate::text::stored;
use crate::values::{id, int, limit, values};

/// The segments of a run in one read. Without a limit, each read of a long journal would look at the whole rest. A range of
/// positions, which have no gap, is a limit in each plan.
const SEGMENTS: usize = 512;

/// The segments of runs after a position, with at least one row for each run that its owner has. The place of a question is
/// counted from 1.
const TAILS: &str = "select q.place, r.state, r.epoch, coalesce(head.pos, 0),
       s.pos, s.epoch, s.writer, s.kind, s.events, s.data
     from unnest($1::uuid[], $2::text[], $3::int4[]) with ordinality as q (run, owner, after, place)
     join omniassist.run r on r.id = q.run
     join omniassist.conversation c on c.id = r.conversation and c.owner = q.owner
     cross join lateral (select max(pos) as pos from omniassist.segment where run = r.id) head
     left join lateral (
       select * from (
         select s.*, row_number() over earlier as row, sum(octet_length(s.data)) over earlier as bytes
         from omniassist.segment s where s.run = q.run and s.pos > q.after and s.pos <= q.after + $5
         window earlier as (order by s.pos)) s
       where s.row = 1 or s.bytes <= $4) s on true
     order by q.place, s.pos";

pub(crate) async fn tails(
    readers: &Pool,
    of: &[TailOf],
    max_bytes: usize,
) -> Result<Vec<Option<Tail>>, Failure> {
    if of.is_empty() {
        return Ok(Vec::new());
    }
    let values = values![
        of.iter().map(|of| id(of.run.as_bytes())).collect::<Vec<_>>(),
        of.iter().map(|of| stored(of.scope.owner())).collect::<Vec<_>>(),
        of.iter().map(|of| int(of.after)).collect::<Vec<_>>(),
        limit(max_bytes),
        limit(SEGMENTS),
    ];
    let mut tails = vec![None; of.len()];
    for row in readers.read(TAILS, values).await? {
        let place = usize::try_from(rows::get::<i64>(&row, 0)?).ok().and_then(|place| place.checked_sub(1));
        let Some((tail, of)) = place.and_then(|place| Some((tails.get_mut(place)?, of.get(place)?))) else {
            return Err(Failure::Corrupt("an answer has no question"));
        };
        if tail.is_none() {
            *tail =
                Some(Tail::new(Vec::new(), rows::int(&row, 3)?, rows::state(&row, 1)?, rows::int(&row, 2)?));
        }
        if let Some(tail) = tail
            && rows::get::<Option<i32>>(&row, 4)?.is_some()
        {
            tail.segments.push(rows::segment(of.run, &row, 4)?);
        }
    }
    Ok(tails)
}
