use futures_util::try_join;
use omniassist_server::store::{
    Begun, Durability, InstanceId, NewRun, NotSaved, RunId, RunState, SegmentKind, Writer,
};
use tokio_postgres::Row;

use super::head::by_id;
use crate::change::{self, Locked};
use crate::database::Transaction;
use crate::failure::Failure;
use crate::rows;
use crate::text::stored;
use crate::values::{id, int, values};

/// The run with the id of a new one, if there is one.
const OWN: &str = "select r.state, r.epoch, r.instance, c.owner = $2 and c.chat = $3
     from omniassist.run r join omniassist.conversation c on c.id = r.conversation where r.id = $1";

/// The runs of a conversation that have not ended, and those that ended and that the post began: the live one, then the
/// queue. Each part has an index, since a conversation keeps a row for each of its runs.
const OTHERS: &str = "with c as (select id from omniassist.conversation where owner = $1 and chat = $2)
     select id, state, coalesce(post = $3, false) from (
       select r.* from c join omniassist.run r on r.conversation = c.id and r.state in (2, 3)
       union all
       select r.* from c join omniassist.run r on r.conversation = c.id and r.state = 1
       union all
       select r.* from c join omniassist.run r on r.conversation = c.id and r.post = $3 and r.state > 3 where $4) r
     order by state = 1, number";

const INSERT: &str = "with run as (
       insert into omniassist.run (id, conversation, state, epoch, instance, post, input)
       values ($1, $2, $3, $4, $5, $6, $7) returning id)
     insert into omniassist.segment (run, pos, epoch, writer, kind, events, data)
     select id, 1, $4, $8, $9, $10, $11 from run";

/// Keeps a conversation from the sweep whose messages are in another store.
const USED: &str = "update omniassist.conversation set updated_at = now() where id = $1";

/// Begins a run in two round trips: one that locks the conversation and finds what decides, and one that writes.
pub(crate) async fn begin(transaction: Transaction, new: &NewRun) -> Result<Begun, Failure> {
    let (owner, chat) = (stored(new.scope.owner()), stored(&new.chat));
    let post = new.post.as_ref();
    let key = post.map(|post| &*post.key);
    let is_lasting = post.is_some_and(|post| post.lasting);
    let (_, conversation, own, others) = try_join!(
        transaction.begin(Durability::Hard),
        change::lock(&transaction, &new.scope, &new.chat, new.key.as_ref(), new.change.as_ref()),
        transaction.query(OWN, values![id(new.run.as_bytes()), owner.clone(), chat.clone()]),
        transaction.query(OTHERS, values![owner.clone(), chat.clone(), key, is_lasting]),
    )?;
    let others = others.iter().map(Other::read).collect::<Result<Vec<_>, _>>()?;
    let own = own.first().map(Own::read).transpose()?;
    match Decision::of(new, &conversation, own, &others)? {
        Decision::Nothing(begun) => {
            transaction.undo().await?;
            Ok(begun)
        }
        Decision::Repeats(run) => {
            let head = by_id(&transaction, run).await?;
            transaction.undo().await?;
            Ok(Begun::Repeats(Box::new(head)))
        }
        Decision::Busy(run) => {
            let head = by_id(&transaction, run).await?;
            transaction.undo().await?;
            Ok(Begun::Busy(Box::new(head)))
        }
        Decision::Begins { behind } => write(transaction, new, &conversation, behind).await,
    }
}

/// Another run of the conversation, in their order.
struct Other {
    run: RunId,
    state: RunState,
    /// The post of the new run began it.
    is_of_post: bool,
}

impl Other {
    fn read(row: &Row) -> Result<Self, Failure> {
        Ok(Self { run: rows::run(row, 0)?, state: rows::state(row, 1)?, is_of_post: rows::get(row, 2)? })
    }
}

/// The run that an earlier try has begun.
struct Own {
    state: RunState,
    epoch: u32,
    instance: Option<InstanceId>,
    is_of_chat: bool,
}

impl Own {
    fn read(row: &Row) -> Result<Self, Failure> {
        Ok(Self {
            state: rows::state(row, 0)?,
            epoch: rows::int(row, 1)?,
            instance: rows::some_instance(row, 2)?,
            is_of_chat: rows::get::<Option<bool>>(row, 3)?.unwrap_or_default(),
        })
    }
}

enum Decision {
    Nothing(Begun),
    Repeats(RunId),
    Busy(RunId),
    /// The run begins, or waits behind this many.
    Begins {
        behind: u32,
    },
}

impl Decision {
    fn of(new: &NewRun, conversation: &Locked, own: Option<Own>, others: &[Other]) -> Result<Self, Failure> {
        if conversation.is_deleted {
            return Ok(Self::Nothing(Begun::Refused(NotSaved::Deleted)));
        }
        if conversation.has_other_key(new.key.as_ref()) {
            return Ok(Self::Nothing(Begun::Refused(NotSaved::OtherKey)));
        }
        let open = || others.iter().filter(|other| !other.state.is_ended());
        if let Some(own) = own {
            if !own.is_of_chat {
                return Err(Failure::Invalid("the id belongs to another run".to_owned()));
            }
            let ahead = open().take_while(|other| other.run != new.run).count();
            return Ok(match own.state {
                RunState::Queued => Self::Nothing(Begun::Queued(count(ahead))),
                RunState::Running if own.epoch == 1 && own.instance == Some(new.instance) => {
                    Self::Nothing(Begun::Started(writer(new, 1)))
                }
                _ => Self::Repeats(new.run),
            });
        }
        if let Some(earlier) = others.iter().find(|other| other.is_of_post) {
            return Ok(Self::Repeats(earlier.run));
        }
        let Some(first) = open().next() else {
            return Ok(match new.change.as_ref().map(|change| conversation.check(change)) {
                Some(Err(refused)) => Self::Nothing(Begun::Refused(refused)),
                _ => Self::Begins { behind: 0 },
            });
        };
        if count(open().filter(|other| other.state == RunState::Queued).count()) >= new.queue {
            return Ok(Self::Busy(first.run));
        }
        Ok(Self::Begins { behind: count(open().count()) })
    }
}

async fn write(
    transaction: Transaction,
    new: &NewRun,
    conversation: &Locked,
    behind: u32,
) -> Result<Begun, Failure> {
    let is_queued = behind > 0;
    let (state, epoch) = if is_queued { (RunState::Queued, 0) } else { (RunState::Running, 1) };
    let instance = id(new.instance.as_bytes());
    let save = async {
        match new.change.as_ref().filter(|_| !is_queued) {
            Some(change) => conversation.apply(&transaction, change).await.map(drop),
            None => transaction.query(USED, values![conversation.id]).await.map(drop),
        }
    };
    let insert = values![
        id(new.run.as_bytes()),
        conversation.id,
        i16::from(state.number()),
        int(epoch),
        (!is_queued).then_some(instance),
        new.post.as_ref().map(|post| &*post.key),
        &*new.input,
        instance,
        i16::from(SegmentKind::Consequence.number()),
        int(new.events),
        &*new.first,
    ];
    try_join!(save, transaction.query(INSERT, insert), transaction.commit())?;
    transaction.end();
    Ok(if is_queued { Begun::Queued(behind) } else { Begun::Started(writer(new, epoch)) })
}

fn writer(new: &NewRun, epoch: u32) -> Writer {
    Writer { run: new.run, epoch, instance: new.instance }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
