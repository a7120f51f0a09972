use omniassist_server::core::Text;
use omniassist_server::store::{Obligation, OpenRun, RunHead, RunId, Scope, Which};
use tokio_postgres::Row;

use crate::database::{Pool, Transaction};
use crate::failure::Failure;
use crate::rows;
use crate::text::stored;
use crate::values::{Value, id, values};

/// A run, with a row for each of its questions. The place stands for the condition on its id.
macro_rules! head {
    ($condition:literal) => {
        concat!(
            "select r.id, c.owner, c.chat, r.state, r.epoch, r.instance,
               coalesce((select max(pos) from omniassist.segment where run = r.id), 0),
               r.stop, r.signals, coalesce(r.watched_until > now(), false), r.usage, r.created_at, r.ended_at,
               o.call, o.data, o.expires_at, s.key, s.number, s.data, s.sender, s.received_at
             from omniassist.run r join omniassist.conversation c on c.id = r.conversation
             left join omniassist.obligation o on o.run = r.id
             left join omniassist.signal s on s.run = o.run and s.key = 'answer:' || o.call
             where r.id = ", $condition, " order by o.place"
        )
    };
}

const OF_RUN: &str = head!("$1");

const OF_RUN_AND_OWNER: &str = head!("$1 and c.owner = $2");

/// The run that counts for a chat: the live one, else the first in the queue, else the last. Each is found by an index,
/// since a chat keeps a row for each of its runs.
const OF_CHAT: &str = head!(
    "(select coalesce(
         (select id from omniassist.run where conversation = chat.id and state in (2, 3)),
         (select id from omniassist.run where conversation = chat.id and state = 1 order by number limit 1),
         (select id from omniassist.run where conversation = chat.id order by number desc limit 1))
       from omniassist.conversation chat where chat.owner = $1 and chat.chat = $2)"
);

/// The latest run that a post began.
const OF_POST: &str = head!(
    "(select id from omniassist.run where post = $3 and conversation = (
         select id from omniassist.conversation where owner = $1 and chat = $2)
       order by number desc limit 1)"
);

/// The runs of chats that have not ended. Each part has an index.
const OPEN: &str = "select c.chat, r.id, r.state
     from omniassist.conversation c join omniassist.run r on r.id = coalesce(
       (select id from omniassist.run where conversation = c.id and state in (2, 3)),
       (select id from omniassist.run where conversation = c.id and state = 1 order by number limit 1))
     where c.owner = $1 and c.chat = any($2)";

/// Returns the runs of chats that have not ended.
pub(crate) async fn open_of(readers: &Pool, scope: &Scope, chats: &[Text]) -> Result<Vec<OpenRun>, Failure> {
    let chats: Vec<_> = chats.iter().map(|chat| stored(chat)).collect();
    let found = readers.read(OPEN, values![stored(scope.owner()), chats]).await?;
    let read = |row| Ok(OpenRun::new(rows::text(row, 0)?, rows::run(row, 1)?, rows::state(row, 2)?));
    found.iter().map(read).collect()
}

pub(crate) async fn find(
    readers: &Pool,
    scope: &Scope,
    which: Which<'_>,
) -> Result<Option<RunHead>, Failure> {
    let owner = stored(scope.owner());
    let (sql, values): (_, Vec<Value<'_>>) = match which {
        Which::Run(run) => (OF_RUN_AND_OWNER, values![id(run.as_bytes()), owner]),
        Which::Chat(chat) => (OF_CHAT, values![owner, stored(chat)]),
        Which::Post { chat, key } => (OF_POST, values![owner, stored(chat), key]),
        _ => return Err(Failure::Invalid("an unknown kind of question for a run".to_owned())),
    };
    read(&readers.read(sql, values).await?)
}

/// Returns a run that exists.
pub(super) async fn by_id(transaction: &Transaction, run: RunId) -> Result<RunHead, Failure> {
    let rows = transaction.query(OF_RUN, values![id(run.as_bytes())]).await?;
    read(&rows)?.ok_or(Failure::Corrupt("a run is missing"))
}

fn read(rows: &[Row]) -> Result<Option<RunHead>, Failure> {
    let Some(row) = rows.first() else { return Ok(None) };
    let scope = Scope::new(rows::text(row, 1)?);
    let mut head = RunHead::new(rows::run(row, 0)?, scope, rows::text(row, 2)?, rows::state(row, 3)?);
    head.epoch = rows::int(row, 4)?;
    head.instance = rows::some_instance(row, 5)?;
    head.head = rows::int(row, 6)?;
    head.notice = rows::notice(row, 7)?;
    head.usage = rows::some_bytes(row, 10)?;
    head.created_ms = rows::time(row, 11)?;
    head.ended_ms = rows::some_time(row, 12)?;
    let questions = rows.iter().map(|row| question(head.run, row)).filter_map(Result::transpose);
    head.obligations = questions.collect::<Result<_, _>>()?;
    Ok(Some(head))
}

fn question(run: RunId, row: &Row) -> Result<Option<Obligation>, Failure> {
    let Some(call) = rows::some_text(row, 13)? else { return Ok(None) };
    let mut question = Obligation::new(call, rows::bytes(row, 14)?);
    question.expires_ms = rows::some_time(row, 15)?;
    if rows::some_text(row, 16)?.is_some() {
        question.answer = rows::received(run, row, 16)?;
    }
    Ok(Some(question))
}
