//! Stored runs whose provider keeps its answers: another server fetches the answer that the model was writing.

use std::sync::Arc;
use std::time::Duration;

use omniassist_server::core::Day;
use omniassist_server::store::{Claim, Delete, InstanceId, Page};
use omniassist_server::testing::{FakeProvider, FakeRequest, Reply, responses_sse};
use omniassist_server::throttle::InMemoryTokenBudget;
use omniassist_server::{AssistantBuilder, OpenAiProvider};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

use super::*;
use crate::faults::limits;

const ANSWER: &str = "The order is on its way to Kiel.";

/// A provider that outlives the servers.
struct Provider {
    fake: FakeProvider,
    /// Dropped last.
    _runtime: Runtime,
}

impl Provider {
    /// Starts a provider whose answer stops after a part of its text.
    fn start() -> Self {
        Self::answering(|reply| reply.stall_after(1_700))
    }

    fn answering(how: impl FnOnce(Reply) -> Reply) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let fake = runtime.block_on(FakeProvider::start()).unwrap();
        let body = responses_sse::text(ANSWER).usage(100, 10);
        fake.reply(how(Reply::sse(body)));
        Self { fake, _runtime: runtime }
    }

    fn paths(&self) -> Vec<String> {
        let path = |request: &FakeRequest| format!("{} {}", request.method, request.path);
        self.fake.requests().iter().map(path).collect()
    }

    fn posts(&self) -> usize {
        self.paths().iter().filter(|path| *path == "POST /v1/responses").count()
    }

    fn cancels(&self) -> usize {
        self.paths().iter().filter(|path| *path == "POST /v1/responses/resp_fake/cancel").count()
    }

    fn server(&self, store: &MemoryStore) -> AssistantBuilder {
        let model = OpenAiProvider::builder().base_url(self.fake.base_url()).limits(limits());
        Assistant::builder(model.background(true).build().unwrap()).store(store.clone())
    }
}

/// Returns the runtime of one server. Dropping it is the death of the server.
fn process() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Opens a run, and waits until a part of its text is in the journal.
async fn begin(assistant: &Assistant) -> AssistantBody {
    let mut body = open(assistant, &ask("m1", "Where is it?")).await;
    let mut read = String::new();
    while !read.contains("The or") {
        let frame = body.frame().await.expect("the answer begins").unwrap();
        read += str::from_utf8(frame.data_ref().unwrap()).unwrap();
    }
    // Text is written at most 100 ms later.
    sleep(Duration::from_millis(250)).await;
    body
}

/// Goes on with the runs of a server that has died.
fn go_on(assistant: &Assistant, store: &MemoryStore) -> RunState {
    process().block_on(async {
        // The lease of the dead server is over.
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(7)).await;
        tokio::time::resume();
        look(assistant).await;
        timeout(Duration::from_secs(10), settled(store)).await.unwrap()
    })
}

/// Makes a server look for runs that others have left, with a post that it refuses.
async fn look(assistant: &Assistant) {
    let mut body = ask("m1", "Hello");
    (body["id"], body["message"]["role"]) = ("other".into(), "assistant".into());
    AssistantService::new(assistant.clone()).handle(request(&body)).await;
}

fn text_of(store: &MemoryStore) -> String {
    process().block_on(messages(store)).last().unwrap().text()
}

/// Waits until a condition is met, or the time is over.
async fn comes(condition: impl Fn() -> bool) -> bool {
    let comes = async {
        while !condition() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_millis(600), comes).await.is_ok()
}

#[test]
fn the_next_server_fetches_the_answer() {
    let (provider, store) = (Provider::start(), MemoryStore::new());
    process().block_on(async { drop(begin(&provider.server(&store).build().unwrap()).await) });

    let budget = Arc::new(InMemoryTokenBudget::new(1_000, Duration::from_secs(3_600)));
    let second =
        provider.server(&store).token_budget(super::usage::Shared(Arc::clone(&budget))).build().unwrap();
    assert_eq!(go_on(&second, &store), RunState::Finished);
    assert_eq!(text_of(&store), ANSWER);
    assert_eq!((provider.posts(), provider.cancels()), (1, 0), "{:?}", provider.paths());

    let records = second.usage().unwrap();
    let ada = Principal::new("ada");
    let days = process().block_on(records.of(&ada, Day::MIN..=Day::MAX, &Page::first(9))).unwrap().days;
    let used = &days[0].usage;
    assert_eq!((used.calls, used.runs, used.input_tokens, used.output_tokens), (1, 1, 100, 10));
    assert_eq!(budget.left(&ada).0, 890);
}

#[test]
fn an_answer_survives_two_deaths() {
    let (provider, store) = (Provider::start(), MemoryStore::new());
    process().block_on(async { drop(begin(&provider.server(&store).build().unwrap()).await) });

    // The second server dies before it has an event of the answer.
    provider.fake.change_rest(|rest| rest.stall_after(0));
    process().block_on(async {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(7)).await;
        tokio::time::resume();
        let second = provider.server(&store).build().unwrap();
        look(&second).await;
        provider.fake.request(2).await;
        sleep(Duration::from_millis(250)).await;
    });
    let third = provider.server(&store).build().unwrap();
    let third_state = process().block_on(async {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(15)).await;
        tokio::time::resume();
        look(&third).await;
        timeout(Duration::from_secs(10), settled(&store)).await.unwrap()
    });
    assert_eq!(third_state, RunState::Finished);
    assert_eq!(text_of(&store), ANSWER);
    assert_eq!((provider.posts(), provider.cancels()), (1, 0), "{:?}", provider.paths());
}

#[test]
fn an_expired_answer_is_asked_for_again() {
    let (provider, store) = (Provider::start(), MemoryStore::new());
    process().block_on(async { drop(begin(&provider.server(&store).build().unwrap()).await) });

    provider.fake.expire();
    provider.fake.reply(Reply::sse(responses_sse::text("It is in Kiel.")));
    let second = provider.server(&store).build().unwrap();
    assert_eq!(go_on(&second, &store), RunState::Finished);
    assert_eq!(text_of(&store), "It is in Kiel.");
    assert_eq!(provider.posts(), 2, "{:?}", provider.paths());
}

#[test]
fn a_server_with_another_model_asks_it() {
    let (provider, store) = (Provider::start(), MemoryStore::new());
    process().block_on(async { drop(begin(&provider.server(&store).build().unwrap()).await) });

    let model = ScriptedProvider::new().otherwise(|_| text("It is in Kiel."));
    let second = Assistant::builder(model).store(store.clone()).build().unwrap();
    assert_eq!(go_on(&second, &store), RunState::Finished);
    assert_eq!(text_of(&store), "It is in Kiel.");
}

#[test]
fn a_drained_run_keeps_its_answer() {
    let (provider, store) = (Provider::start(), MemoryStore::new());
    process().block_on(async {
        let first = provider.server(&store).build().unwrap();
        let body = begin(&first).await;
        assert_eq!(first.drain(Duration::ZERO).await.released, 1);
        drop(body);
        assert!(!comes(|| provider.cancels() > 0).await);
        let second = provider.server(&store).build().unwrap();
        look(&second).await;
        assert_eq!(timeout(Duration::from_secs(10), settled(&store)).await.unwrap(), RunState::Finished);
    });
    assert_eq!(text_of(&store), ANSWER);
    assert_eq!((provider.posts(), provider.cancels()), (1, 0), "{:?}", provider.paths());
}

#[test]
fn an_answer_that_nobody_goes_on_with_is_cancelled() {
    for (how, ending) in
        [("stop", RunState::Stopped), ("disconnect", RunState::Stopped), ("deadline", RunState::Failed)]
    {
        let (provider, store) = (Provider::start(), MemoryStore::new());
        process().block_on(async {
            let mut limits = Limits::default();
            if how == "deadline" {
                limits.run_timeout = Duration::from_millis(700);
            }
            let mut first = provider.server(&store).limits(limits);
            if how == "disconnect" {
                first = first.on_disconnect(OnDisconnect::Cancel);
            }
            let first = first.build().unwrap();
            let body = begin(&first).await;
            let body = match how {
                "stop" => {
                    let mut stop = request(&json!({}));
                    *stop.uri_mut() = "/c/stop".parse().unwrap();
                    AssistantService::new(first.clone()).handle(stop).await;
                    Some(body)
                }
                "disconnect" => {
                    drop(body);
                    None
                }
                _ => Some(body),
            };
            assert_eq!(timeout(Duration::from_secs(5), settled(&store)).await.unwrap(), ending, "{how}");
            assert!(comes(|| provider.cancels() == 1).await, "{how}: {:?}", provider.paths());
            drop(body);
        });
        assert_eq!(provider.posts(), 1, "{how}");
    }
}

#[test]
fn a_run_that_goes_on_elsewhere_keeps_its_answer() {
    let slow = |reply: Reply| reply.chunked_by(500).pace(Duration::from_millis(300));
    let (provider, store) = (Provider::answering(slow), MemoryStore::new());
    process().block_on(async {
        let first = provider.server(&store).build().unwrap();
        let body = begin(&first).await;
        let head = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
        store.claim(head.run, InstanceId::random(), Claim::Force).await.unwrap().unwrap();
        // The next write of the first server is refused, and it drops the stream of the answer.
        timeout(Duration::from_secs(5), provider.fake.closed()).await.unwrap();
        assert!(!comes(|| provider.cancels() > 0).await, "{:?}", provider.paths());
        drop(body);
    });
}

#[test]
fn the_answer_of_a_deleted_conversation_is_cancelled() {
    let slow = |reply: Reply| reply.chunked_by(500).pace(Duration::from_millis(300));
    let (provider, store) = (Provider::answering(slow), MemoryStore::new());
    process().block_on(async {
        let first = provider.server(&store).build().unwrap();
        let body = begin(&first).await;
        // Another server deletes it, and the next write of this one fails.
        store.delete(&scope(), Delete::Chat("c")).await.unwrap();
        assert!(comes(|| provider.cancels() == 1).await, "{:?}", provider.paths());
        drop(body);
    });
}

#[test]
fn a_run_without_a_store_cancels_its_answer() {
    let provider = Provider::start();
    process().block_on(async {
        let model =
            OpenAiProvider::builder().base_url(provider.fake.base_url()).background(true).build().unwrap();
        let assistant = Assistant::builder(model).build().unwrap();
        let whole = json!({"id": "c", "messages": [ask("m1", "Where is it?")["message"]]});
        let mut body = open(&assistant, &whole).await;
        while !str::from_utf8(body.frame().await.unwrap().unwrap().data_ref().unwrap())
            .unwrap()
            .contains("The or")
        {}
        drop(body);
        assert!(comes(|| provider.cancels() == 1).await, "{:?}", provider.paths());
    });
    assert_eq!(provider.posts(), 1);
}
