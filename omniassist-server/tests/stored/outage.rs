//! Runs whose store does not answer for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::stream;
use omniassist_server::core::FinishReason;
use omniassist_server::store::{
    Appended, Beat, Begun, Change, Claim, Claimed, Conversation, Delete, Deleted, Durability, Hint,
    InstanceId, Listing, NewRun, OpenRun, Page, Retention, RunHead, RunId, Saved, Segment, Settled, Signal,
    Signalled, StoreError, StoreFuture, Swept, Tail, TailCache, TailOf, UsageListing, UsageQuery, Wake,
    WakeStream, Woken,
};
use tokio::time::{sleep, timeout};

use super::elsewhere::{get, read};
use super::*;

/// A store that cannot be written to while it is down.
#[derive(Clone, Default)]
pub(crate) struct Unsteady {
    pub(super) store: MemoryStore,
    pub(super) is_down: Arc<AtomicBool>,
    /// The number of begins and claims whose answers are lost next.
    pub(super) lost_answers: Arc<AtomicUsize>,
    /// The next append is fenced, as after a crash of the database that lost an acknowledged write.
    pub(super) has_lost_writes: Arc<AtomicBool>,
    /// The milliseconds that an append takes.
    pub(super) append_ms: Arc<AtomicU64>,
    /// The milliseconds that a signal takes.
    pub(super) signal_ms: Arc<AtomicU64>,
    /// A text with which no segment can be stored.
    pub(super) refused: Option<&'static str>,
    /// The milliseconds after which the next search for the run of a post answers what it has found.
    pub(super) find_ms: Arc<AtomicU64>,
    /// The number of questions for runs, of one chat or of many.
    pub(super) asked: Arc<AtomicUsize>,
    /// The most things of a kind that a sweep can delete in time; 0 for no limit.
    pub(super) most_swept: usize,
    /// `true` if each sweep finds a journal that has become due.
    pub(super) has_due: bool,
    /// The number of sweeps.
    pub(super) sweeps: Arc<AtomicUsize>,
    /// The tail cache, if there is one.
    pub(super) tails: Option<Arc<dyn TailCache>>,
    /// The milliseconds after which the next search for the run of a chat begins.
    pub(super) chat_ms: Arc<AtomicU64>,
    /// The milliseconds after which the next read of journals begins.
    pub(super) read_ms: Arc<AtomicU64>,
    /// The milliseconds after which the next run begins.
    pub(super) begin_ms: Arc<AtomicU64>,
    /// The hints, if there are any.
    pub(super) wake: Option<Arc<dyn Wake>>,
    /// The number of beats.
    pub(super) beats: Arc<AtomicUsize>,
    /// The milliseconds after which the next beat arrives.
    pub(super) beat_ms: Arc<AtomicU64>,
}

impl Unsteady {
    pub(crate) fn goes_down(&self) {
        self.is_down.store(true, Ordering::SeqCst);
    }

    pub(crate) fn comes_back_after(&self, delay: Duration) {
        let is_down = Arc::clone(&self.is_down);
        tokio::spawn(async move {
            sleep(delay).await;
            is_down.store(false, Ordering::SeqCst);
        });
    }

    pub(crate) fn begins_late(&self, millis: u64) {
        self.begin_ms.store(millis, Ordering::SeqCst);
    }

    /// Makes a write whose answer may be lost.
    fn answered<'a, T: Send + 'a>(&'a self, write: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        let write = self.write(write);
        Box::pin(async move {
            let answer = write.await?;
            let lost = |left: usize| left.checked_sub(1);
            match self.lost_answers.fetch_update(Ordering::SeqCst, Ordering::SeqCst, lost) {
                Ok(_) => Err(StoreError::unavailable("the answer was lost")),
                Err(_) => Ok(answer),
            }
        })
    }

    fn write<'a, T>(&'a self, write: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        match self.is_down.load(Ordering::SeqCst) {
            true => Box::pin(async { Err(StoreError::unavailable("it is down")) }),
            false => write,
        }
    }
}

impl RunStore for Unsteady {
    fn begin<'a>(&'a self, new: &'a NewRun) -> StoreFuture<'a, Begun> {
        Box::pin(async move {
            sleep(Duration::from_millis(self.begin_ms.swap(0, Ordering::SeqCst))).await;
            self.answered(self.store.begin(new)).await
        })
    }

    fn append<'a>(&'a self, batch: &'a [Segment], how: Durability) -> StoreFuture<'a, Vec<Appended>> {
        Box::pin(async move {
            sleep(Duration::from_millis(self.append_ms.load(Ordering::SeqCst))).await;
            if self.has_lost_writes.swap(false, Ordering::SeqCst) {
                return Ok(vec![Appended::Fenced; batch.len()]);
            }
            let has_refused = |text: &str| {
                batch.iter().any(|segment| String::from_utf8_lossy(&segment.data).contains(text))
            };
            if self.refused.is_some_and(has_refused) {
                return Err(StoreError::other("a value is too long"));
            }
            self.write(self.store.append(batch, how)).await
        })
    }

    fn read<'a>(&'a self, tails: &'a [TailOf], max_bytes: usize) -> StoreFuture<'a, Vec<Option<Tail>>> {
        Box::pin(async move {
            sleep(Duration::from_millis(self.read_ms.swap(0, Ordering::SeqCst))).await;
            self.store.read(tails, max_bytes).await
        })
    }

    fn find<'a>(&'a self, scope: &'a Scope, which: Which<'a>) -> StoreFuture<'a, Option<RunHead>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            if let Which::Chat(_) = which {
                sleep(Duration::from_millis(self.chat_ms.swap(0, Ordering::SeqCst))).await;
            }
            let found = self.store.find(scope, which).await;
            if let Which::Post { .. } = which {
                sleep(Duration::from_millis(self.find_ms.swap(0, Ordering::SeqCst))).await;
            }
            found
        })
    }

    fn open_runs<'a>(&'a self, scope: &'a Scope, chats: &'a [Text]) -> StoreFuture<'a, Vec<OpenRun>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.store.open_runs(scope, chats)
    }

    fn settle<'a>(&'a self, end: &'a Settled) -> StoreFuture<'a, Appended> {
        self.write(self.store.settle(end))
    }

    fn signal<'a>(&'a self, scope: &'a Scope, run: RunId, signal: &'a Signal) -> StoreFuture<'a, Signalled> {
        Box::pin(async move {
            sleep(Duration::from_millis(self.signal_ms.load(Ordering::SeqCst))).await;
            self.write(self.store.signal(scope, run, signal)).await
        })
    }

    fn beat(&self, me: InstanceId, lease: Duration, room: usize) -> StoreFuture<'_, Beat> {
        self.beats.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            sleep(Duration::from_millis(self.beat_ms.swap(0, Ordering::SeqCst))).await;
            self.write(self.store.beat(me, lease, room)).await
        })
    }

    fn claim(&self, run: RunId, me: InstanceId, condition: Claim) -> StoreFuture<'_, Option<Claimed>> {
        self.answered(self.store.claim(run, me, condition))
    }

    fn usage<'a>(&'a self, query: &'a UsageQuery, page: &'a Page) -> StoreFuture<'a, UsageListing> {
        self.store.usage(query, page)
    }

    fn delete_usage<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, ()> {
        self.write(self.store.delete_usage(scope))
    }

    fn sweep<'a>(&'a self, policy: &'a Retention, at_most: usize) -> StoreFuture<'a, Swept> {
        self.sweeps.fetch_add(1, Ordering::SeqCst);
        if self.has_due {
            let mut swept = Swept::default();
            swept.journals = 1;
            return Box::pin(async move { Ok(swept) });
        }
        if (1..at_most).contains(&self.most_swept) {
            return Box::pin(async { Err(StoreError::unavailable("it did not answer within 3s")) });
        }
        self.write(self.store.sweep(policy, at_most))
    }

    fn hints(&self) -> Option<Arc<dyn Wake>> {
        self.wake.clone()
    }

    fn tail_cache(&self) -> Option<Arc<dyn TailCache>> {
        self.tails.clone()
    }
}

impl ConversationStore for Unsteady {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        self.store.load(scope, chat, window)
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        self.write(self.store.save(scope, chat, change))
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        self.store.list(scope, page)
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        self.write(self.store.delete(scope, what))
    }
}

#[tokio::test(start_paused = true)]
async fn the_model_is_not_called_without_a_store() {
    let store = Unsteady::default();
    let model = ScriptedProvider::new().turn(text("Hello"));
    let assistant = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    store.goes_down();

    let response = AssistantService::new(assistant.clone()).handle(request(&ask("m1", "Hi"))).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(response.headers().contains_key(header::RETRY_AFTER));
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(str::from_utf8(&body).unwrap().contains("store_unavailable"), "{body:?}");
    assert!(model.payloads().is_empty());
}

/// A way for hints that does not work, and reports it ten times a second.
struct Broken;

impl Wake for Broken {
    fn wake(&self, _: &[Hint]) {}

    fn listen(&self) -> WakeStream {
        Box::pin(stream::unfold((), |()| async {
            sleep(Duration::from_millis(100)).await;
            Some((Woken::Missed, ()))
        }))
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_its_hints_looks_at_the_store_once_a_second() {
    let store = Unsteady { wake: Some(Arc::new(Broken)), ..Unsteady::default() };
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
    post(&assistant, &ask("m1", "Hi")).await;
    let before = store.beats.load(Ordering::SeqCst);
    sleep(Duration::from_secs(10)).await;
    let beats = store.beats.load(Ordering::SeqCst) - before;
    assert!((9..=16).contains(&beats), "{beats} beats in 10 s");
}

/// A page of the list of chats costs the same number of questions, whatever its length is.
#[tokio::test(start_paused = true)]
async fn a_list_of_chats_asks_once_for_all_runs() {
    let store = Unsteady::default();
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
    for number in 0..40 {
        let message = &ask("m1", "Hi")["message"];
        post(&assistant, &json!({"id": format!("c{number}"), "message": message})).await;
    }
    for limit in [1, 40] {
        let before = store.asked.load(Ordering::SeqCst);
        let page = read(get(&assistant, &format!("/threads?limit={limit}")).await).await;
        let page: Value = serde_json::from_str(&page).unwrap();
        assert_eq!(page["threads"].as_array().unwrap().len(), limit);
        assert_eq!(store.asked.load(Ordering::SeqCst) - before, 1, "{limit} chats");
    }
}

/// A sweep that takes too long is not repeated unchanged for ever.
#[tokio::test(start_paused = true)]
async fn a_sweep_that_takes_too_long_deletes_less_at_once() {
    let store = Unsteady { most_swept: 60, ..Unsteady::default() };
    let mut retention = Retention::default();
    retention.conversations = Some(Duration::from_secs(60));
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let builder = Assistant::builder(model).store(store.clone()).retention(retention);
    let assistant = builder.build().unwrap();
    for number in 0..120 {
        let message = &ask("m1", "Hi")["message"];
        post(&assistant, &json!({"id": format!("c{number}"), "message": message})).await;
    }
    sleep(Duration::from_secs(10 * 60)).await;
    let left = store.store.list(&scope(), &Page::first(200)).await.unwrap().conversations;
    assert_eq!(left.len(), 0);
}

/// Runs end all the time, so that each sweep finds something.
#[tokio::test(start_paused = true)]
async fn a_busy_server_sweeps_once_a_second() {
    let store = Unsteady { has_due: true, ..Unsteady::default() };
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
    post(&assistant, &ask("m1", "Hi")).await;
    let before = store.sweeps.load(Ordering::SeqCst);
    sleep(Duration::from_secs(10)).await;
    let sweeps = store.sweeps.load(Ordering::SeqCst) - before;
    assert!((9..=11).contains(&sweeps), "{sweeps} sweeps in 10 s");
}

#[tokio::test(start_paused = true)]
async fn text_goes_on_and_the_end_waits_for_the_store() {
    let store = Unsteady::default();
    let down = store.clone();
    let model = ScriptedProvider::new().turn_with(move |_| {
        down.goes_down();
        down.comes_back_after(Duration::from_secs(4));
        Turn::text("Half").then(Turn::delay(Duration::from_secs(1))).then(text(" and half"))
    });
    let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();

    let answer = post(&assistant, &ask("m1", "Go")).await;
    assert!(answer.contains(r#""type":"finish""#) && !answer.contains("error"), "{answer}");
    assert_eq!(settled(&store.store).await, RunState::Finished);
    assert_eq!(messages(&store.store).await.last().unwrap().text(), "Half and half");
}

/// The outage begins before the text is written, and lasts longer than viewers wait.
#[tokio::test(start_paused = true)]
async fn viewers_are_cut_if_the_text_before_the_end_cannot_be_written() {
    for end in [Turn::finish(FinishReason::Stop), call("clock", json!({}))] {
        let store = Unsteady::default();
        let down = store.clone();
        let turn = move |_: &_| {
            down.goes_down();
            down.comes_back_after(Duration::from_secs(20));
            Turn::text("Half").then(Turn::delay(Duration::from_secs(1))).then(end)
        };
        let model = ScriptedProvider::new().turn_with(turn).turn(text(" and half"));
        let clock = Tool::new("clock", "Reads the clock", async || Ok::<_, ToolError>("12:00"));
        let assistant = Assistant::builder(model).tool(clock).store(store.clone()).build().unwrap();

        let answer = open(&assistant, &ask("m1", "Go")).await.collect();
        let answer = timeout(Duration::from_secs(7), answer).await.expect("the viewer is cut");
        assert!(answer.is_err(), "{:?}", answer.map(|answer| answer.to_bytes()));
        assert_eq!(get(&assistant, "/c/stream").await.status(), StatusCode::SERVICE_UNAVAILABLE);
        sleep(Duration::from_secs(20)).await;
        assert_eq!(settled(&store.store).await, RunState::Finished);
        let back = read(get(&assistant, "/c/stream").await).await;
        assert!(back.contains("Half") && back.contains(r#""type":"finish""#), "{back}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_viewer_does_not_see_another_end_than_the_journal_has() {
    let store = Unsteady::default();
    let down = store.clone();
    let model = ScriptedProvider::new().turn_with(move |_| {
        down.goes_down();
        down.comes_back_after(Duration::from_secs(8));
        text("The whole")
    });
    let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
    assert!(open(&assistant, &ask("m1", "Go")).await.collect().await.is_err());
    let early = get(&assistant, "/c/stream").await;
    assert_eq!(early.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(early.headers().contains_key(header::RETRY_AFTER));
    assert_eq!(settled(&store.store).await, RunState::Finished);
    let late = read(get(&assistant, "/c/stream").await).await;
    assert!(late.contains("The whole") && late.contains(r#""type":"finish""#), "{late}");
}

#[tokio::test(start_paused = true)]
async fn a_segment_that_cannot_be_stored_does_not_hold_those_of_other_runs() {
    let store = Unsteady { refused: Some("unfit"), ..Unsteady::default() };
    // The segments of all runs are in one statement.
    store.append_ms.store(200, Ordering::SeqCst);
    let model = ScriptedProvider::new().otherwise(|payload| {
        let is_unfit = format!("{:?}", payload.transcript).contains("Be unfit");
        Turn::text(if is_unfit { "unfit" } else { "One moment" }).then(call("clock", json!({})))
    });
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let clock = Tool::new("clock", "Reads the clock", move || {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<Result<&str, ToolError>>()
    });
    let mut limits = Limits::default();
    limits.max_runs_per_principal = 5;
    let builder = Assistant::builder(model).tool(clock).store(store.clone());
    let assistant = builder.limits(limits).build().unwrap();

    let mut bodies = Vec::new();
    for number in 0..5 {
        let said = if number == 2 { "Be unfit" } else { "What time is it?" };
        let message = &ask("m1", said)["message"];
        bodies.push(open(&assistant, &json!({"id": format!("c{number}"), "message": message})).await);
    }
    sleep(Duration::from_secs(4)).await;
    assert_eq!(asked.load(Ordering::SeqCst), 4, "the calls of the other runs are stored");
    drop(bodies);
}

#[tokio::test(start_paused = true)]
async fn a_tool_does_not_run_before_its_call_is_stored() {
    let store = Unsteady::default();
    let (down, runs) = (store.clone(), Arc::new(AtomicUsize::new(0)));
    let model = ScriptedProvider::new()
        .turn_with(move |_| {
            down.goes_down();
            call("refund", json!({"order": 17}))
        })
        .turn(text("It is done."));
    let counted = Arc::clone(&runs);
    let refund = Tool::new("refund", "Refunds an order", move || {
        let counted = Arc::clone(&counted);
        async move {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ToolError>("refunded")
        }
    });
    let assistant = Assistant::builder(model).tool(refund).store(store.clone()).build().unwrap();

    // Another instance may reach the store, so the viewer sees no end that the journal does not have.
    let answer = open(&assistant, &ask("m1", "Refund it")).await.collect().await;
    assert!(answer.is_err(), "{:?}", answer.map(|answer| answer.to_bytes()));
    sleep(Duration::from_secs(20)).await;
    assert_eq!(get(&assistant, "/c/stream").await.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    store.comes_back_after(Duration::from_secs(20));
    assert_eq!(settled(&store.store).await, RunState::Finished);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let back = read(get(&assistant, "/c/stream").await).await;
    assert!(back.contains("refunded") && back.contains("It is done."), "{back}");
}

#[tokio::test(start_paused = true)]
async fn a_tool_does_not_run_after_an_outage_that_outlasts_the_deadline_of_its_run() {
    let store = Unsteady::default();
    let (down, runs) = (store.clone(), Arc::new(AtomicUsize::new(0)));
    let model = ScriptedProvider::new().turn_with(move |_| {
        down.goes_down();
        down.comes_back_after(Duration::from_secs(30));
        call("refund", json!({"order": 17}))
    });
    let counted = Arc::clone(&runs);
    let refund = Tool::new("refund", "Refunds an order", move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok::<_, ToolError>("refunded") }
    });
    let mut limits = Limits::default();
    limits.run_timeout = Duration::from_secs(20);
    let builder = Assistant::builder(model.clone()).tool(refund).store(store.clone());
    let assistant = builder.limits(limits).build().unwrap();

    assert!(open(&assistant, &ask("m1", "Refund it")).await.collect().await.is_err());
    assert_eq!(settled(&store.store).await, RunState::Failed);
    assert_eq!((runs.load(Ordering::SeqCst), model.payloads().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_client_does_not_come_back_after_an_outage_is_stopped() {
    let store = Unsteady::default();
    let down = store.clone();
    let model = ScriptedProvider::new()
        .turn_with(move |_| {
            down.goes_down();
            down.comes_back_after(Duration::from_secs(20));
            call("clock", json!({}))
        })
        .turn(Turn::pending());
    let clock = Tool::new("clock", "Reads the clock", async || Ok::<_, ToolError>("12:00"));
    let builder = Assistant::builder(model).tool(clock).store(store.clone());
    let patience = OnDisconnect::CancelAfter(Duration::from_secs(5));
    let assistant = builder.on_disconnect(patience).build().unwrap();

    assert!(open(&assistant, &ask("m1", "What time is it?")).await.collect().await.is_err());
    let since = tokio::time::Instant::now();
    assert_eq!(settled(&store.store).await, RunState::Stopped);
    assert!((19..23).contains(&since.elapsed().as_secs()), "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn only_later_model_calls_wait_for_the_journal() {
    let store = Unsteady::default();
    store.append_ms.store(1_000, Ordering::SeqCst);
    let posted = tokio::time::Instant::now();
    let times = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (first, second) = (Arc::clone(&times), Arc::clone(&times));
    let model = ScriptedProvider::new()
        .turn_with(move |_| {
            first.lock().unwrap().push(posted.elapsed().as_secs());
            call("clock", json!({}))
        })
        .turn_with(move |_| {
            second.lock().unwrap().push(posted.elapsed().as_secs());
            text("Noon.")
        });
    let clock = Tool::new("clock", "Reads the clock", async || Ok::<_, ToolError>("12:00"));
    let assistant = Assistant::builder(model).tool(clock).store(store.clone()).build().unwrap();

    post(&assistant, &ask("m1", "What time is it?")).await;
    // The call is written before its tool runs, and the result before the model gets it.
    assert_eq!(*times.lock().unwrap(), [0, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_host_keeps_conversations_in_its_own_store() {
    let (runs, own) = (MemoryStore::new(), MemoryStore::new());
    let model = ScriptedProvider::new().turn(text("In Kiel."));
    let builder = Assistant::builder(model).store(runs.clone()).conversations(own.clone());
    let assistant = builder.build().unwrap();

    post(&assistant, &ask("m1", "Where is order 17?")).await;
    assert_eq!(settled(&runs).await, RunState::Finished);
    let said: Vec<_> = messages(&own).await.iter().map(Message::text).collect();
    assert_eq!(said, ["Where is order 17?", "In Kiel."]);
}
