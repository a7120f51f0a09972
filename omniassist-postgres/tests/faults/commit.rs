//! Connections that are cut during a commit, so that nobody knows if it took place.

use std::time::Duration;

use omniassist_postgres::PostgresStore;
use omniassist_server::core::Usage;
use omniassist_server::store::{
    Appended, Begun, Change, ConversationStore, Durability, Ending, InstanceId, ModelUsage, NewRun, RunId,
    RunState, RunStore, Scope, Segment, SegmentKind, Settled, Signal, SignalKind, Signalled, StoreError,
    StoredMessage, Which, Window, Writer,
};
use omniassist_test_databases::Postgres;
use tokio::time::sleep;

/// A database whose commits wait for a standby that does not exist: they are durable, and not acknowledged.
struct Unacknowledged {
    postgres: Postgres,
    store: PostgresStore,
}

impl Unacknowledged {
    async fn start() -> Self {
        let postgres = Postgres::start(&[]);
        let url = postgres.create_database();
        let slow = Duration::from_secs(60);
        let store = PostgresStore::options().timeout(slow).connect_timeout(slow).connect(&url).await.unwrap();
        Self { postgres, store }
    }

    fn set(&self, standby: &str) {
        let set = format!("alter system set synchronous_standby_names = '{standby}'");
        self.postgres.execute("postgres", &set);
        self.postgres.execute("postgres", "select pg_reload_conf()");
        while self.postgres.execute("postgres", "show synchronous_standby_names") != standby {}
    }

    /// Makes a write whose connection is cut during its commit, which takes place.
    async fn lose<T: std::fmt::Debug>(&self, write: impl Future<Output = Result<T, StoreError>>) {
        self.set("nobody");
        let cut = async {
            let cut =
                "select count(pg_terminate_backend(pid)) from pg_stat_activity where wait_event = 'SyncRep'";
            while self.postgres.execute("postgres", cut) == "0" {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let (lost, ()) = tokio::join!(write, cut);
        assert!(lost.unwrap_err().is_unavailable());
        self.set("");
    }
}

fn scope() -> Scope {
    Scope::new("ada")
}

fn message(id: &str, parent: Option<&str>) -> Change {
    Change::messages([StoredMessage::new(id, parent.map(Into::into), id.to_owned())])
}

fn segment(writer: Writer, pos: u32) -> Segment {
    let mut segment = Segment::new(writer, pos, SegmentKind::Consequence, pos, "call");
    let mut usage = Usage::default();
    usage.input_tokens = Some(7);
    segment.used = vec![ModelUsage::new("small").call(&usage, None)];
    segment
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_without_an_acknowledgement_is_repeated_once() {
    let database = Unacknowledged::start().await;
    let store = &database.store;
    store.beat(InstanceId::random(), Duration::from_secs(6), 0).await.unwrap();
    let mut new = NewRun::new(RunId::random(), scope(), "c", InstanceId::random());
    new.change = Some(message("u1", None));
    database.lose(store.begin(&new)).await;
    let Begun::Started(writer) = store.begin(&new).await.unwrap() else { panic!("its own run") };

    let batch = [segment(writer, 2)];
    database.lose(store.append(&batch, Durability::Hard)).await;
    assert!(matches!(store.append(&batch, Durability::Hard).await.unwrap()[..], [Appended::Taken(_)]));

    let (scope, say) = (scope(), Signal::new(SignalKind::Say("m".into()), "ada"));
    database.lose(store.signal(&scope, new.run, &say)).await;
    assert!(matches!(store.signal(&scope, new.run, &say).await.unwrap(), Signalled::Repeats(_)));

    let mut end = Settled::new(segment(writer, 3), Ending::Finished);
    end.change = Some(message("a1", Some("u1")));
    database.lose(store.settle(&end)).await;
    assert!(matches!(store.settle(&end).await.unwrap(), Appended::Taken(_)));

    let head = store.find(&scope, Which::Chat("c")).await.unwrap().unwrap();
    assert_eq!((head.state, head.head, head.notice.signals), (RunState::Finished, 3, 1));
    let conversation = store.load(&scope, "c", &Window::default()).await.unwrap().unwrap();
    assert_eq!((conversation.messages.len(), conversation.info.version), (2, 2));
    let used = "select calls, input_tokens from omniassist.usage_day";
    assert_eq!(database.postgres.execute("test_0", used), "2|14", "each call is counted once");
}
