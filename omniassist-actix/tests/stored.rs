//! Stored runs, which outlive their connections and the workers of actix.

use std::ops::RangeInclusive;
use std::time::Duration;

use actix_web::dev::Service;
use actix_web::{App, HttpMessage, HttpResponse, Responder, web};
use omniassist_actix::observe::FinishedRun;
use omniassist_actix::store::{
    ConversationStore, InstanceId, MemoryStore, RunState, RunStore, Scope, Which, Window,
};
use omniassist_actix::testing::{ScriptedProvider, Turn, text};
use omniassist_actix::throttle::{Grant, LimitFuture, Reservation, Spent, TokenBudget};
use omniassist_actix::{Assistant, AssistantRequest, Principal, scope};
use reqwest::{Client, StatusCode};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use crate::client::{PATIENCE, asking};
use crate::serving::{Served, serve_app};

/// A budget without a limit, which passes on the tokens that runs use.
struct Used(mpsc::UnboundedSender<u64>);

impl TokenBudget for Used {
    fn reserve<'a>(&'a self, _of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        Box::pin(async move { Ok(Grant::Tokens(*tokens.end())) })
    }

    fn settle<'a>(&'a self, _of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
        Box::pin(async move {
            yield_now().await;
            Ok(self.0.send(spent.tokens())?)
        })
    }
}

struct Host {
    store: MemoryStore,
    assistant: Assistant,
    served: Served,
    finished: mpsc::UnboundedReceiver<FinishedRun>,
    used: mpsc::UnboundedReceiver<u64>,
}

impl Host {
    /// Serves an assistant whose answers take so long.
    fn start(time: Duration) -> Self {
        let model = ScriptedProvider::new()
            .otherwise(move |_| text("So far").then(Turn::delay(time)).then(Turn::text(", and the rest")));
        let store = MemoryStore::new();
        let ((sender, finished), (spent, used)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let builder = Assistant::builder(model).store(store.clone()).token_budget(Used(spent));
        let builder = builder.on_finish(move |run| {
            let sender = sender.clone();
            async move {
                yield_now().await;
                sender.send(run)
            }
        });
        let assistant = builder.build().unwrap();
        let mounted = assistant.clone();
        let app = move || {
            App::new()
                .app_data(web::Data::new(mounted.clone()))
                .route("/own", web::post().to(own))
                .service(scope("/assistant", mounted.clone()))
                .wrap_fn(|request, next| {
                    request.extensions_mut().insert(Principal::new("ada"));
                    next.call(request)
                })
        };
        let served = serve_app(app, false);
        Self { store, assistant, served, finished, used }
    }

    /// Begins a run without a connection, and stops the server.
    async fn begin(&self, path: &str) {
        let post = Client::new().post(format!("{}{path}", self.served.base)).body(asking("hi"));
        let post = post.header("content-type", "application/json").header("prefer", "respond-async");
        assert_eq!(post.send().await.unwrap().status(), StatusCode::ACCEPTED);
        let stopped = timeout(PATIENCE, self.served.handle.stop(true));
        stopped.await.expect("the server stops");
    }

    async fn state(&self) -> RunState {
        self.store.find(&Scope::new("ada"), Which::Chat("c")).await.unwrap().unwrap().state
    }
}

async fn own(posted: AssistantRequest) -> impl Responder {
    let response: HttpResponse<_> = posted.respond().await;
    response
}

/// Begins a run without a connection on this path, and lets it end after the workers.
async fn ends_after_the_workers(path: &str) {
    let mut host = Host::start(Duration::from_millis(500));
    host.begin(path).await;
    sleep(Duration::from_millis(100)).await;
    assert_eq!(host.state().await, RunState::Running);

    let drained = host.assistant.drain(PATIENCE).await;
    assert_eq!((drained.finished, drained.ended, drained.released), (1, 0, 0));
    assert_eq!(host.state().await, RunState::Finished);
    assert!(host.used.try_recv().expect("the tokens are counted") > 0);
    let run = host.finished.try_recv().expect("the function of `on_finish` was called");
    assert_eq!((run.report.outcome.as_str(), &*run.message.text()), ("finish", "So far, and the rest"));
}

#[actix_web::test]
async fn a_run_without_a_connection_outlives_the_workers() {
    ends_after_the_workers("/assistant").await;
}

#[actix_web::test]
async fn a_run_of_a_handler_outlives_the_workers() {
    ends_after_the_workers("/own").await;
}

#[actix_web::test]
async fn another_server_does_not_take_over_a_run_that_outlives_the_workers() {
    let host = Host::start(Duration::from_secs(60));
    host.begin("/assistant").await;
    // Longer than the lease.
    sleep(Duration::from_secs(7)).await;

    let other = host.store.beat(InstanceId::random(), Duration::from_secs(6), 1).await.unwrap();
    assert!(other.free.is_empty(), "{:?}", other.free);
    assert_eq!(host.assistant.drain(Duration::ZERO).await.released, 1);
    let other = host.store.beat(InstanceId::random(), Duration::from_secs(6), 1).await.unwrap();
    assert_eq!(other.free.len(), 1);
}

#[actix_web::test]
async fn a_run_of_a_handler_in_plain_text_is_not_stored() {
    let host = Host::start(Duration::ZERO);
    let post = Client::new().post(format!("{}/own?protocol=text", host.served.base)).body(asking("hi"));
    let response = post.header("content-type", "application/json").send().await.unwrap();
    assert_eq!(response.text().await.unwrap(), "So far, and the rest");
    let scope = Scope::new("ada");
    assert!(host.store.find(&scope, Which::Chat("c")).await.unwrap().is_none());
    assert!(host.store.load(&scope, "c", &Window::default()).await.unwrap().is_none());
}
