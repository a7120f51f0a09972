use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::Bench;
use crate::tool_rate::AtMost;
use omniassist_server::CancellationToken;
use omniassist_server::tool::{Tool, ToolContext, ToolError, ToolUpdate};

/// Sets a flag when it is dropped, so that a test can detect a dropped future.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn panics_are_tool_errors() {
    let sync = Tool::new("t", "d", || -> std::future::Ready<Result<(), ToolError>> { panic!("secret") });
    let asynchronous = Tool::new("t", "d", async || -> Result<(), ToolError> {
        tokio::task::yield_now().await;
        panic!("secret")
    });
    struct Bomb;
    impl serde::Serialize for Bomb {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("secret")
        }
    }
    let serialising = Tool::new("t", "d", async || Ok::<_, ToolError>(Bomb));
    struct DropBomb;
    impl Drop for DropBomb {
        fn drop(&mut self) {
            panic!("secret")
        }
    }
    let dropping = Tool::new("t", "d", async || {
        let _bomb = DropBomb;
        tokio::task::yield_now().await;
        Ok::<_, ToolError>(1)
    });
    for tool in [sync, asynchronous, serialising, dropping] {
        let error = Bench::new().call(tool, "{}").await.unwrap_err();
        assert!(error.is_panic());
        assert_eq!(error.text(), "The tool failed.");
        assert_eq!(error.source().unwrap().to_string(), "panicked: secret");
    }
}

#[tokio::test]
async fn a_refusal_by_a_rate_limit_is_an_error_of_its_own() {
    let tool = Tool::new("t", "d", async || Ok::<_, ToolError>(1)).rate_limit(AtMost::calls(0));
    let error = Bench::new().call(tool, "{}").await.unwrap_err();
    assert!(error.is_rate_limited() && !error.is_timeout(), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_ends_the_call_at_the_deadline() {
    let (fired, gone) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
    let tool = {
        let (fired, gone) = (Arc::clone(&fired), Arc::clone(&gone));
        Tool::new("t", "d", move |token: CancellationToken| {
            let (fired, guard) = (Arc::clone(&fired), SetOnDrop(Arc::clone(&gone)));
            async move {
                let _guard = guard;
                token.cancelled().await;
                *fired.lock().unwrap() = Some(Instant::now());
                std::future::pending::<Result<(), ToolError>>().await
            }
        })
    };
    let begin = Instant::now();
    let (tools, running) = Bench::new().start(tool, "{}");
    let outcome = running.outcome().await;
    let error = outcome.result.unwrap_err();
    assert_eq!(error.text(), "The tool timed out after 60 s.");
    assert!(error.is_timeout());
    assert_eq!(begin.elapsed().as_secs(), 60);

    sleep(Duration::from_millis(1_900)).await;
    assert_eq!(fired.lock().unwrap().unwrap().duration_since(begin).as_secs(), 60);
    assert!(!gone.load(Ordering::SeqCst), "the task must continue during the grace period");
    sleep(Duration::from_millis(200)).await;
    assert!(gone.load(Ordering::SeqCst), "the task must be aborted after the grace period");
    timeout(Duration::from_secs(1), tools.idle()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_tool_overrides_the_general_timeout() {
    let tool = Tool::new("t", "d", async || {
        sleep(Duration::from_secs(2)).await;
        Ok::<_, ToolError>(1)
    });
    let error =
        Bench::new().call(tool.clone().timeout(Duration::from_millis(1_500)), "{}").await.unwrap_err();
    assert_eq!(error.text(), "The tool timed out after 1.5 s.");
    assert_eq!(Bench::new().call(tool, "{}").await.unwrap(), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_blocks_its_thread_times_out() {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = Arc::new(Mutex::new(held));
    let tool = Tool::new("t", "d", move || {
        let held = held.clone();
        async move {
            let _ = held.lock().unwrap().recv();
            Ok::<_, ToolError>(1)
        }
    });
    let error = Bench::new().call(tool.timeout(Duration::from_millis(50)), "{}").await.unwrap_err();
    assert!(error.is_timeout());
    // The tool blocks its thread until this point.
    release.send(()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_cancels_the_token_at_once_and_aborts_after_the_grace_period() {
    let gone = Arc::new(AtomicBool::new(false));
    let (send, receive) = oneshot::channel();
    let send = Mutex::new(Some(send));
    let tool = {
        let gone = Arc::clone(&gone);
        Tool::new("t", "d", move |call: ToolContext| {
            send.lock().unwrap().take().unwrap().send(call).unwrap();
            let guard = SetOnDrop(Arc::clone(&gone));
            async move {
                let _guard = guard;
                std::future::pending::<Result<(), ToolError>>().await
            }
        })
    };
    let (tools, running) = Bench::new().start(tool, "{}");
    let call = receive.await.unwrap();
    assert!(!call.is_cancelled());

    let begin = Instant::now();
    drop(running);
    assert!(call.is_cancelled(), "the token must be cancelled when the call is dropped");
    sleep(Duration::from_millis(1_900)).await;
    assert!(!gone.load(Ordering::SeqCst));
    tools.idle().await;
    assert!(gone.load(Ordering::SeqCst));
    assert_eq!(begin.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_tool_can_finish_within_the_grace_period() {
    let tool = Tool::new("t", "d", async |token: CancellationToken| {
        token.cancelled().await;
        sleep(Duration::from_millis(1_900)).await;
        Ok::<_, ToolError>("half")
    });
    let bench = Bench::new();
    let tools = bench.tools(tool);
    let cancel = CancellationToken::new();
    let call = bench.invocation("{}").cancel(cancel.clone());
    let running = tools.start(tools.snapshot().get("t").unwrap(), call);
    tokio::task::yield_now().await;
    cancel.cancel();
    assert_eq!(running.outcome().await.result.unwrap().as_str(), "\"half\"");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ignores_its_token_is_aborted_after_the_grace_period() {
    let tool = Tool::new("t", "d", std::future::pending::<Result<(), ToolError>>);
    let bench = Bench::new();
    let tools = bench.tools(tool);
    let cancel = CancellationToken::new();
    let call = bench.invocation("{}").cancel(cancel.clone());
    let running = tools.start(tools.snapshot().get("t").unwrap(), call);
    tokio::task::yield_now().await;
    let begin = Instant::now();
    cancel.cancel();
    let error = running.outcome().await.result.unwrap_err();
    assert!(error.is_cancelled());
    assert_eq!(begin.elapsed().as_secs(), 2);
}

#[tokio::test]
async fn a_call_of_a_cancelled_run_does_not_start() {
    let ran = Arc::new(AtomicBool::new(false));
    let tool = {
        let ran = Arc::clone(&ran);
        Tool::new("t", "d", move || {
            ran.store(true, Ordering::SeqCst);
            async { Ok::<_, ToolError>(1) }
        })
    };
    let bench = Bench::new();
    let tools = bench.tools(tool);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let running = tools.start(tools.snapshot().get("t").unwrap(), bench.invocation("{}").cancel(cancel));
    assert!(running.outcome().await.result.unwrap_err().is_cancelled());
    tools.idle().await;
    assert!(!ran.load(Ordering::SeqCst));
}

#[tokio::test]
async fn dropping_one_call_cancels_no_other_call() {
    let bench = Bench::new();
    let tools = bench.tools(Tool::new("t", "d", async |token: CancellationToken| {
        let cancelled = timeout(Duration::from_millis(50), token.cancelled()).await.is_ok();
        Ok::<_, ToolError>(cancelled)
    }));
    let cancel = CancellationToken::new();
    let start = || {
        let call = bench.invocation("{}").cancel(cancel.clone());
        tools.start(tools.snapshot().get("t").unwrap(), call)
    };
    let (first, second) = (start(), start());
    drop(first);
    assert!(!cancel.is_cancelled());
    assert_eq!(second.outcome().await.result.unwrap().as_str(), "false");
}

/// Returns a tool that ends at once and a receiver for the context of its call.
fn handing_out_its_context() -> (Tool, oneshot::Receiver<ToolContext>) {
    let (send, receive) = oneshot::channel();
    let send = Mutex::new(Some(send));
    let tool = Tool::new("t", "d", move |call: ToolContext| {
        send.lock().unwrap().take().unwrap().send(call).unwrap();
        async { Ok::<_, ToolError>(1) }
    });
    (tool, receive)
}

#[tokio::test]
async fn the_token_of_a_finished_call_is_not_cancelled() {
    let (tool, receive) = handing_out_its_context();
    Bench::new().call(tool, "{}").await.unwrap();
    assert!(!receive.await.unwrap().is_cancelled());
}

async fn updates(tool: Tool) -> Vec<String> {
    let (_tools, running) = Bench::new().start(tool, "{}");
    running
        .map(|update| match update {
            ToolUpdate::Progress { call_id, output } => format!("{call_id} {output}"),
            ToolUpdate::Done(outcome) => format!("{} = {}", outcome.call_id, outcome.result.unwrap()),
            other => format!("{other:?}"),
        })
        .collect()
        .await
}

#[tokio::test]
async fn progress_arrives_in_order_before_the_result() {
    let tool = Tool::new("t", "d", async |call: ToolContext| {
        for percent in [10, 20] {
            call.progress(percent);
            tokio::task::yield_now().await;
        }
        call.progress(serde_json::json!({"percent": 30}));
        Ok::<_, ToolError>("done")
    });
    assert_eq!(
        updates(tool).await,
        ["call-1 10", "call-1 20", "call-1 {\"percent\":30}", "call-1 = \"done\""]
    );
}

#[tokio::test]
async fn progress_never_waits_and_keeps_the_newest_values() {
    let tool = Tool::new("t", "d", async |call: ToolContext| {
        for n in 1..=17 {
            call.progress(n);
        }
        Ok::<_, ToolError>("done")
    });
    let updates = updates(tool).await;
    assert_eq!(updates.len(), 17);
    assert_eq!((updates[0].as_str(), updates[15].as_str()), ("call-1 2", "call-1 17"));
}

#[tokio::test]
async fn the_bytes_of_unread_progress_are_bounded() {
    // The tool reports three values of six bytes.
    for (bytes, kept) in [(18, 3), (17, 2), (5, 1)] {
        let mut bench = Bench::new();
        bench.limits.max_unread_tool_bytes = bytes;
        let tool = Tool::new("t", "d", async |call: ToolContext| {
            for text in ["aaaa", "bbbb", "cccc"] {
                call.progress(text);
            }
            Ok::<_, ToolError>(())
        });
        let updates: Vec<_> = bench.start(tool, "{}").1.collect().await;
        assert_eq!(updates.len(), kept + 1, "{bytes}: {updates:?}");
        let oldest = ["aaaa", "bbbb", "cccc"][3 - kept];
        assert!(
            matches!(&updates[0], ToolUpdate::Progress { output, .. } if output.as_str().contains(oldest))
        );
    }
}

#[tokio::test]
async fn progress_after_the_end_is_dropped() {
    let (tool, receive) = handing_out_its_context();
    let (tools, running) = Bench::new().start(tool, "{}");
    let call = receive.await.unwrap();
    tools.idle().await;
    call.progress("late");
    let updates: Vec<_> = running.collect().await;
    assert!(matches!(updates.as_slice(), [ToolUpdate::Done(_)]), "{updates:?}");
}

#[tokio::test]
async fn progress_without_a_json_form_is_dropped() {
    let tool = Tool::new("t", "d", async |call: ToolContext| {
        call.progress(std::collections::HashMap::from([(vec![1_u8], 1)]));
        Ok::<_, ToolError>(1)
    });
    assert_eq!(updates(tool).await, ["call-1 = 1"]);
}

#[tokio::test]
async fn calls_run_without_being_polled() {
    let (send, receive) = oneshot::channel();
    let send = Mutex::new(Some(send));
    let tool = Tool::new("t", "d", move || {
        let send = send.lock().unwrap().take().unwrap();
        async move {
            send.send(()).unwrap();
            Ok::<_, ToolError>(1)
        }
    });
    let (_tools, running) = Bench::new().start(tool, "{}");
    timeout(Duration::from_secs(5), receive).await.unwrap().unwrap();
    drop(running);
}

#[test]
fn a_call_without_a_runtime_fails() {
    let tool = Tool::new("t", "d", async || Ok::<_, ToolError>(1));
    let (_tools, running) = Bench::new().start(tool, "{}");
    let error = futures_util::FutureExt::now_or_never(running.outcome()).unwrap().result.unwrap_err();
    assert_eq!(error.source().unwrap().to_string(), "a tool call needs a tokio runtime");
}

#[test]
fn dropping_the_runtime_ends_the_call() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let tool = Tool::new("t", "d", std::future::pending::<Result<(), ToolError>>);
    let (_tools, running) = runtime.block_on(async { Bench::new().start(tool, "{}") });
    drop(runtime);
    let outcome = futures_util::FutureExt::now_or_never(running.outcome()).unwrap();
    assert!(outcome.result.unwrap_err().is_cancelled());
}
