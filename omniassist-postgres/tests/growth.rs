//! The rows that a store reads when its tables are long.

use std::time::Duration;

use omniassist_postgres::PostgresStore;
use omniassist_server::store::{
    Begun, ConversationStore, Delete, Durability, Ending, InstanceId, NewRun, Post, Retention, RunId,
    RunState, RunStore, Scope, Segment, SegmentKind, Settled, TailOf, Which, Window,
};
use tokio::time::sleep;

use crate::database::{connect, execute, new_schema, shared};

fn alice() -> Scope {
    Scope::new("alice")
}

/// Returns the number of rows of a table that were read, when the connections of the store are closed.
async fn rows_read(schema: &str, table: &str) -> u64 {
    let reads = format!(
        "select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_user_tables
         where schemaname = '{schema}' and relname = '{table}'"
    );
    let (mut rows, mut same) = (0, 0);
    while same < 5 {
        sleep(Duration::from_millis(200)).await;
        let now = execute(schema, &reads).parse().unwrap();
        same = if rows == now { same + 1 } else { 0 };
        rows = now;
    }
    rows
}

#[tokio::test]
async fn a_post_reads_few_of_the_runs_of_its_chat() {
    let schema = new_schema();
    let store = connect(&schema).await;
    let me = InstanceId::random();
    let new = |post: &'static str| {
        let mut new = NewRun::new(RunId::random(), alice(), "c", me);
        (new.queue, new.post) = (5, Some(Post::idempotency_key(post)));
        new
    };
    let first = new("first");
    let Begun::Started(writer) = store.begin(&first).await.unwrap() else { panic!("it is alone") };
    let last = |writer| Segment::new(writer, 2, SegmentKind::End, 2, "end");
    store.settle(&Settled::new(last(writer), Ending::Finished)).await.unwrap();
    execute(
        &schema,
        "insert into run (id, conversation, state, epoch, post, ended_at)
         select gen_random_uuid(), c.id, 4, 1, decode(md5(n::text), 'hex'), now()
         from conversation c, generate_series(1, 10000) n;
         analyze run",
    );
    let before = rows_read(&schema, "run").await;

    let (second, third) = (new("second"), new("third"));
    assert!(matches!(store.begin(&new("first")).await.unwrap(), Begun::Repeats(run) if run.run == first.run));
    let Begun::Started(writer) = store.begin(&second).await.unwrap() else { panic!("all others have ended") };
    assert_eq!(store.begin(&third).await.unwrap(), Begun::Queued(1));
    let found = async |which| store.find(&alice(), which).await.unwrap().unwrap();
    assert_eq!(found(Which::Chat("c")).await.run, second.run);
    assert_eq!(found(Which::Post { chat: "c", key: b"first" }).await.run, first.run);
    assert!(store.beat(me, Duration::from_secs(6), 9).await.unwrap().free.is_empty());
    store.settle(&Settled::new(last(writer), Ending::Finished)).await.unwrap();
    assert_eq!(store.beat(me, Duration::from_secs(6), 9).await.unwrap().free, [third.run]);
    assert_eq!(found(Which::Chat("c")).await.run, third.run);
    execute(&schema, "update run set state = 6, ended_at = now() where state = 1");
    let ended = found(Which::Chat("c")).await;
    assert_eq!((ended.run, ended.state), (third.run, RunState::Stopped));

    drop(store);
    let read = rows_read(&schema, "run").await - before;
    assert!(read < 200, "{read} rows");
}

/// Each transaction has little time, so a deletion is made in several. One that is too slow is repeated with fewer
/// conversations.
#[tokio::test]
async fn all_conversations_of_a_user_are_deleted_in_several_transactions() {
    let schema = new_schema();
    drop(connect(&schema).await);
    let time = Duration::from_secs(1);
    let options = PostgresStore::options().schema(schema.as_str()).connect_timeout(Duration::from_secs(30));
    let store = options.timeout(time).connect(shared()).await.unwrap();
    execute(
        &schema,
        "insert into conversation (owner, chat) select 'alice', n from generate_series(1, 120) n;
         insert into message (conversation, id, body) select id, 'u1', 'Hello' from conversation;
         insert into run (id, conversation, state, epoch) select gen_random_uuid(), id, 2, 1 from conversation;
         create function delay() returns trigger language plpgsql as
           $$ begin perform pg_sleep(0.02); return new; end $$;
         create trigger delay before update on conversation for each row execute function delay()",
    );
    let delete = async || store.delete(&alice(), Delete::Everything).await.unwrap();
    let (first, second) = (delete().await, delete().await);
    assert_eq!((first.conversations, first.runs.len()), (120, 120));
    assert_eq!(second.conversations, 0);
    let left = "select count(*) from conversation where deleted_at is null";
    assert_eq!(execute(&schema, left), "0");
    assert_eq!(execute(&schema, "select (select count(*) from message) + (select count(*) from run)"), "0");
}

#[tokio::test]
async fn journals_are_swept_beside_a_conversation_that_takes_too_long() {
    let schema = new_schema();
    drop(connect(&schema).await);
    let options = PostgresStore::options().schema(schema.as_str()).connect_timeout(Duration::from_secs(30));
    let store = options.timeout(Duration::from_secs(1)).connect(shared()).await.unwrap();
    execute(
        &schema,
        "insert into conversation (owner, chat, updated_at) values ('alice', 'idle', now() - interval '2 days');
         insert into conversation (owner, chat) values ('alice', 'recent');
         insert into run (id, conversation, state, epoch, input, ended_at)
         select gen_random_uuid(), id, 4, 1, 'question', now() - interval '2 days'
         from conversation, generate_series(1, 5) where chat = 'recent';
         create function delay() returns trigger language plpgsql as
           $$ begin perform pg_sleep(5); return new; end $$;
         create trigger delay before update on conversation for each row execute function delay()",
    );
    let day = Duration::from_secs(24 * 60 * 60);
    let mut policy = Retention::default();
    (policy.conversations, policy.journals) = (Some(day), day);
    while store.sweep(&policy, 2).await.is_ok() {}
    assert_eq!(execute(&schema, "select count(*) from run where input is null"), "5");
    assert_eq!(execute(&schema, "select count(*) from conversation where deleted_at is null"), "2");
}

#[tokio::test]
async fn idle_conversations_are_found_without_a_look_at_deleted_ones() {
    let schema = new_schema();
    let store = connect(&schema).await;
    execute(
        &schema,
        "insert into conversation (owner, chat, updated_at)
         select 'alice', n::text, now() - interval '2 days' from generate_series(1, 5000) n;
         analyze conversation;
         update conversation set deleted_at = now() where id <= 4000",
    );
    let before = rows_read(&schema, "conversation").await;
    let mut policy = Retention::default();
    policy.conversations = Some(Duration::from_secs(24 * 60 * 60));
    assert_eq!(store.sweep(&policy, 20).await.unwrap().conversations, 20);
    drop(store);
    let read = rows_read(&schema, "conversation").await - before;
    assert!(read < 200, "{read} rows");
}

/// The planner expects few messages, as most conversations have.
#[tokio::test]
async fn a_branch_of_a_long_conversation_is_read_message_by_message() {
    let schema = new_schema();
    let store = connect(&schema).await;
    execute(
        &schema,
        "insert into conversation (owner, chat) select 'bob', n::text from generate_series(1, 2000) n;
         insert into message (conversation, id, body) select id, 'm' || n, '' from conversation, generate_series(1, 10) n;
         insert into conversation (owner, chat, head) values ('alice', 'long', 'm1000');
         insert into message (conversation, id, parent, body)
         select id, 'm' || n, 'm' || nullif(n - 1, 0), '' from conversation, generate_series(1, 1000) n
         where chat = 'long';
         analyze conversation, message",
    );
    let load = async |store: &PostgresStore, before: Option<&str>, at_most| {
        let mut window = Window::default();
        (window.before, window.at_most) = (before.map(Into::into), at_most);
        let loaded = store.load(&alice(), "long", &window).await.unwrap().unwrap();
        let ids: Vec<_> = loaded.messages.iter().map(|message| message.id.to_string()).collect();
        (ids, loaded.more)
    };
    let ids = |from: usize, to: usize| (from..=to).map(|n| format!("m{n}")).collect::<Vec<_>>();
    let before = rows_read(&schema, "message").await;
    assert_eq!(load(&store, None, 50).await, (ids(951, 1000), true));
    assert_eq!(load(&store, None, 1).await, (ids(1000, 1000), true));
    drop(store);
    let read = rows_read(&schema, "message").await - before;
    assert!(read < 200, "{read} rows");

    let store = connect(&schema).await;
    assert_eq!(load(&store, Some("m900"), 50).await, (ids(850, 899), true));
    assert_eq!(load(&store, None, usize::MAX).await, (ids(1, 1000), false));
    drop(store);
    let read = rows_read(&schema, "message").await - before;
    assert!(read < 5000, "{read} rows");
}

#[tokio::test]
async fn a_part_of_a_long_journal_is_read_without_the_rest() {
    let schema = new_schema();
    let store = connect(&schema).await;
    let new = NewRun::new(RunId::random(), alice(), "c", InstanceId::random());
    let Begun::Started(writer) = store.begin(&new).await.unwrap() else { panic!("it is alone") };
    let run = new.run;
    execute(
        &schema,
        "insert into segment (run, pos, epoch, writer, kind, events, data)
         select id, n, 1, instance, 0, n, convert_to(repeat('x', 1024), 'UTF8')
         from run, generate_series(2, 2000) n;
         insert into run (id, conversation, state, epoch)
         select gen_random_uuid(), conversation, 4, 1 from run, generate_series(1, 20);
         insert into segment (run, pos, epoch, writer, kind, events, data)
         select id, n, 1, id, 0, n, '' from run, generate_series(1, 1000) n where instance is null;
         analyze segment",
    );
    let next = Segment::new(writer, 2001, SegmentKind::Text, 2001, "last");
    store.append(&[next], Durability::Soft).await.unwrap();
    let before = rows_read(&schema, "segment").await;

    let read = async |after, bytes| {
        let tails = store.read(&[TailOf::new(alice(), run, after)], bytes).await.unwrap();
        tails.into_iter().next().unwrap().unwrap()
    };
    let tail = read(0, 256 * 1024).await;
    assert_eq!((tail.head, tail.segments.len()), (2001, 257), "the first one is empty");
    drop(store);
    let rows = rows_read(&schema, "segment").await - before;
    assert!(rows < 1000, "{rows} rows");

    let (store, mut found) = (connect(&schema).await, Vec::new());
    let read = async |after| {
        let tails = store.read(&[TailOf::new(alice(), run, after)], usize::MAX).await.unwrap();
        tails.into_iter().next().unwrap().unwrap().segments
    };
    while let Some(segments) = Some(read(u32::try_from(found.len()).unwrap()).await).filter(|s| !s.is_empty())
    {
        found.extend(segments.into_iter().map(|segment| segment.pos));
    }
    assert_eq!(found, (1..=2001).collect::<Vec<_>>());
}
