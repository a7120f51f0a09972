//! Tests of the wake-ups of a run whose tools and agents work at the same time. A run that loses one waits for ever.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use omniassist_server::core::event::AgentStatus;
use omniassist_server::core::tree::AgentBudget;
use omniassist_server::core::{Limits, RunEvent};
use omniassist_server::testing::Turn;
use omniassist_server::tool::{Agents, ToolContext};
use tokio::time::{Instant, sleep, timeout};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// Returns a tool that reports twice after this time, and ends a second later.
fn reports_after(time: Duration) -> Tool {
    Tool::new("report", "Reports", move |call: ToolContext| async move {
        sleep(time).await;
        call.progress(1);
        call.progress(2);
        sleep(SECOND).await;
        Ok::<_, ToolError>("reported")
    })
}

/// Returns an agent that writes, is silent for this time, and ends.
fn silent_for(time: Duration) -> Agent {
    says(Turn::text("Half").then(Turn::delay(time)).then(text(".")))
}

fn says(turn: Turn) -> Agent {
    Agent::new("worker", "Works.").provider(ScriptedProvider::new().turn(turn))
}

/// Returns an assistant whose model calls the tool this many times, and asks the agent.
fn side_by_side(tool: Tool, times: usize, worker: Agent) -> Assistant {
    let turn = (0..times)
        .fold(call("worker", json!({ "task": "Work" })), |turn, _| turn.then(call("report", json!({}))));
    let model = ScriptedProvider::new().turn(turn).turn(text("Done."));
    let mut limits = Limits::default();
    limits.max_parallel_tools = 100;
    let builder = Assistant::builder(model).tool(tool).agent(worker).delegates(["worker"]).limits(limits);
    builder.build().unwrap()
}

/// Returns how many outputs of tools and data a run shows, by the second at which it shows them. Progress counts.
async fn outputs(mut run: impl Stream<Item = RunEvent> + Unpin, began: Instant) -> BTreeMap<u64, usize> {
    let mut outputs = BTreeMap::new();
    let mut is_finished = false;
    while let Some(event) = timeout(60 * SECOND, run.next()).await.expect("the run is woken") {
        match event {
            RunEvent::ToolOutput { .. } | RunEvent::Data { .. } => {
                *outputs.entry(began.elapsed().as_secs()).or_default() += 1;
            }
            RunEvent::ToolError { error_text, .. } => panic!("{error_text}"),
            event => is_finished = matches!(event, RunEvent::Finish { .. }),
        }
    }
    assert!(is_finished);
    outputs
}

#[tokio::test(start_paused = true)]
async fn tools_are_heard_while_an_agent_is_silent() {
    // More tools than an agent may ask others, all of which report at the same time.
    for tools in [1, 3, 70] {
        let assistant = side_by_side(reports_after(SECOND), tools, silent_for(9 * SECOND));
        let shown = outputs(assistant.run(RunRequest::prompt("Go")), Instant::now()).await;
        assert_eq!(shown, [(1, 2 * tools), (2, tools), (9, 1)].into());
    }
}

/// The text of an agent comes between the data. The run then takes data from the queue, and is still woken for more.
#[tokio::test(start_paused = true)]
async fn data_of_the_host_is_heard_while_tools_and_agents_are_silent() {
    let sends = Tool::new("report", "Reports", |call: ToolContext| async move {
        let run = call.run().clone();
        tokio::spawn(async move {
            for number in 0..3 {
                sleep(SECOND).await;
                run.data("note", None, number);
            }
        });
        sleep(5 * SECOND).await;
        Ok::<_, ToolError>("reported")
    });
    let half = Duration::from_millis(1_500);
    let talks = Turn::delay(half).then(text("Half")).then(Turn::delay(5 * half)).then(text("."));
    let assistant = side_by_side(sends, 1, says(talks));
    let shown = outputs(assistant.run(RunRequest::prompt("Go")), Instant::now()).await;
    assert_eq!(shown, [(1, 1), (2, 1), (3, 1), (5, 1), (9, 1)].into());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_moves_to_another_task_is_woken_there() {
    let assistant = side_by_side(reports_after(5 * SECOND), 1, silent_for(9 * SECOND));
    let (mut run, began) = (assistant.run(RunRequest::prompt("Go")), Instant::now());
    // The tool and the agent have waited for this task.
    let moved = poll_fn(|cx| {
        let is_silent = began.elapsed() >= SECOND;
        while run.poll_next_unpin(cx).is_ready() {}
        if is_silent { Poll::Ready(()) } else { Poll::Pending }
    });
    let (_, ()) = tokio::join!(sleep(SECOND), moved);
    let shown = tokio::spawn(outputs(run, began)).await.unwrap();
    assert_eq!(shown, [(5, 2), (6, 1), (9, 1)].into());
}

/// The time is watched between the words of an agent, and ends it where it is silent.
#[tokio::test(start_paused = true)]
async fn the_time_of_an_agent_ends_while_it_writes_and_while_it_is_silent() {
    let words = (0..3).map(|_| Turn::delay(SECOND).then(text("word")));
    let talks = words.fold(Turn::new(), Turn::then).then(Turn::pending());
    let endless = (0..900).map(|_| Turn::delay(SECOND).then(text("word"))).fold(Turn::new(), Turn::then);
    for turn in [talks, endless] {
        let worker = says(turn).budget(AgentBudget::new().time(10 * SECOND));
        let assistant = side_by_side(reports_after(SECOND), 1, worker);
        let shown = outputs(assistant.run(RunRequest::prompt("Go")), Instant::now()).await;
        assert_eq!(shown, [(1, 2), (2, 1), (10, 1)].into());
    }
}

/// The tasks of the tools run on other threads than the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_wake_up_of_another_thread_is_lost() {
    for _ in 0..100 {
        let busy = Tool::new("report", "Reports", |call: ToolContext| async move {
            for number in 0..20 {
                call.progress(number);
                tokio::task::yield_now().await;
            }
            Ok::<_, ToolError>("reported")
        });
        let pieces = Turn::text_chunks((0..20).map(|number| number.to_string()));
        let run = side_by_side(busy, 4, says(pieces)).run(RunRequest::prompt("Go"));
        let shown = tokio::spawn(outputs(run, Instant::now())).await.unwrap();
        assert!(shown.into_values().sum::<usize>() >= 5);
    }
}

/// The tool goes on, so its end is no reason for that of the agent.
#[tokio::test(start_paused = true)]
async fn an_agent_that_nobody_waits_for_ends_while_it_is_silent() {
    let gives_up = Tool::new("report", "Gives up", async |agents: Agents| {
        assert!(timeout(SECOND, agents.ask("worker", "Work")).await.is_err());
        sleep(5 * SECOND).await;
        Ok::<_, ToolError>("reported")
    });
    let model = ScriptedProvider::new().turn(call("report", json!({}))).turn(text("Done."));
    let builder = Assistant::builder(model).tool(gives_up).agent(silent_for(9 * SECOND));
    let (mut run, began) = (builder.build().unwrap().run(RunRequest::prompt("Go")), Instant::now());
    let mut ends = Vec::new();
    while let Some(event) = run.next().await {
        if let RunEvent::AgentState(state) = event
            && state.status != AgentStatus::Running
        {
            ends.push((state.status, began.elapsed().as_secs()));
        }
    }
    assert_eq!(ends, [(AgentStatus::Cancelled, 1)]);
}
