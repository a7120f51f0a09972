//! Changes by the user while agents work.

use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::agents::{
    AgentSession, AgentStream, Explore, Intervention, Requested, ServerFrame, Status,
};
use omniassist_server::core::Text;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use tokio::time::timeout;

use super::{Call, ask, builder, call_of, model, prompt, questions};
use crate::agents::tool;

fn quiet(model: &ScriptedProvider) -> AgentSession {
    AgentSession::new(builder(model).build().unwrap()).explore(Explore::new().asks(false))
}

/// Reads frames up to the first text of an agent with this task, and returns its id.
async fn writes(stream: &mut AgentStream, session: &AgentSession, task: &str) -> Text {
    while let Some(frame) = stream.next().await {
        if let ServerFrame::TextDelta { agent_id, .. } = frame {
            let tree = session.get_agent_tree();
            if tree.iter().any(|state| state.agent_id == agent_id && state.user_content == *task) {
                return agent_id;
            }
        }
    }
    panic!("{task} has written nothing");
}

async fn rest(stream: AgentStream) -> Vec<ServerFrame> {
    timeout(Duration::from_secs(20), stream.collect()).await.expect("an end")
}

#[tokio::test]
async fn cancelling_one_agent_leaves_its_siblings() {
    let model = model(|call, task, _| match (call, task) {
        (Call::Plan, _) => Some(questions(&["a b?", "c d?"])),
        (Call::Work, "a b?") => Some(text("begun").then(Turn::pending())),
        _ => None,
    });
    let session = quiet(&model);
    let mut stream = session.agent("Compare lamps");
    let id = writes(&mut stream, &session, "a b?").await;
    session.user_intervention(Intervention::of(id.clone()).status(Requested::Cancelled)).unwrap();
    let frames = rest(stream).await;
    assert_eq!(model.drops(), 1, "the model call of that agent is closed");
    let statuses: Vec<_> = session.get_agent_tree().iter().map(|state| state.status).collect();
    assert_eq!(statuses, [Status::Completed, Status::Cancelled, Status::Completed]);
    assert!(matches!(frames.last(), Some(ServerFrame::AgentCompleted { .. })));
    let summary = prompt(model.payloads().last().unwrap());
    assert!(summary.contains("(cancelled by the user)") && summary.contains("Work on c d?."), "{summary}");
    let again = session.user_intervention(Intervention::of(id).status(Requested::Running)).unwrap_err();
    assert_eq!(again.code(), "agent_has_ended");
}

#[tokio::test]
async fn cancelling_the_root_ends_all() {
    let model = model(|call, _, _| match call {
        Call::Plan => Some(questions(&["a b?", "c d?"])),
        Call::Work => Some(text("begun").then(Turn::pending())),
        _ => None,
    });
    let session = quiet(&model);
    let mut stream = session.agent("Compare lamps");
    writes(&mut stream, &session, "c d?").await;
    let root = session.get_agent_tree()[0].agent_id.clone();
    session.user_intervention(Intervention::of(root).status(Requested::Cancelled)).unwrap();
    let frames = rest(stream).await;
    assert_eq!(model.drops(), 3);
    assert!(session.get_agent_tree().iter().all(|state| state.status == Status::Cancelled));
    let is_end =
        |frame: &ServerFrame| matches!(frame, ServerFrame::AgentCompleted { .. } | ServerFrame::Error { .. });
    assert!(!frames.iter().any(is_end), "the state tells the end");
}

#[tokio::test]
async fn a_task_and_a_remark_reach_the_next_model_call() {
    let model = model(|call, task, payload| match (call, task) {
        (Call::Work, "Compare lamps") if !prompt(payload).contains("remarked") => {
            Some(Turn::from([text("begun"), Turn::delay(Duration::from_millis(50))]).then(tool_call()))
        }
        _ => None,
    });
    let assistant = builder(&model).tool(tool("look")).explore(Explore::new().asks(false)).build().unwrap();
    let session = AgentSession::new(assistant);
    let mut stream = session.agent("Compare lamps");
    let id = writes(&mut stream, &session, "Compare lamps").await;
    let change = Intervention::of(id).content("Compare chairs").comment("Only red ones");
    session.user_intervention(change).unwrap();
    let state = session.get_agent_tree().remove(0);
    assert_eq!(
        (&*state.user_content, state.user_comment.as_deref()),
        ("Compare chairs", Some("Only red ones"))
    );
    rest(stream).await;
    let work: Vec<_> =
        model.payloads().iter().filter(|payload| call_of(payload) == Call::Work).map(prompt).collect();
    let last = work.last().unwrap();
    assert!(
        last.contains("Compare chairs") && last.contains("Only red ones") && last.contains("begun"),
        "{last}"
    );
    assert!(!last.contains("Compare lamps"), "{last}");
    assert_eq!(session.get_agent_tree()[0].result.as_deref(), Some("Work on Compare chairs."));
}

fn tool_call() -> Turn {
    call("look", serde_json::json!({}))
}

#[tokio::test]
async fn a_remark_during_the_last_model_call_leads_to_another_one() {
    let model = model(|call, _, payload| {
        (call == Call::Work && !prompt(payload).contains("remarked"))
            .then(|| Turn::from([text("one"), Turn::delay(Duration::from_millis(50)), text("two")]))
    });
    let session = quiet(&model);
    let mut stream = session.agent("Compare lamps");
    let id = writes(&mut stream, &session, "Compare lamps").await;
    session.user_intervention(Intervention::of(id).comment("Only red ones")).unwrap();
    rest(stream).await;
    assert!(prompt(model.payloads().last().unwrap()).contains("Only red ones"));
}

#[tokio::test]
async fn completed_means_answer_now_without_tools() {
    let model = model(|call, task, _| match (call, task) {
        (Call::Plan, _) => Some(questions(&["a b?"])),
        (Call::Work, _) => Some(text("so far").then(Turn::pending())),
        _ => None,
    });
    let session = quiet(&model);
    let mut stream = session.agent("Compare lamps");
    writes(&mut stream, &session, "a b?").await;
    let root = session.get_agent_tree()[0].agent_id.clone();
    session.user_intervention(Intervention::of(root).status(Requested::Completed)).unwrap();
    rest(stream).await;
    let last = model.payloads().pop().unwrap();
    assert_eq!((call_of(&last), last.tools.len()), (Call::AnswerNow, 0));
    assert!(prompt(&last).contains("so far"));
    let tree = session.get_agent_tree();
    assert_eq!((tree[0].status, tree[0].result.as_deref()), (Status::Completed, Some("For now.")));
    assert_eq!(tree[1].status, Status::Cancelled);
}

#[tokio::test]
async fn a_paused_agent_calls_no_model_until_it_goes_on() {
    let model = model(|call, _, _| (call == Call::Block).then(|| ask("Which year?")));
    let session = AgentSession::new(builder(&model).build().unwrap());
    let mut stream = session.agent("Compare lamps");
    let id = loop {
        if let ServerFrame::UserQuery { agent_id, .. } = stream.next().await.unwrap() {
            break agent_id;
        }
    };
    session.user_intervention(Intervention::of(id.clone()).status(Requested::Paused)).unwrap();
    session.user_response(&id, "2024").unwrap();
    let calls = model.payloads().len();
    let waits = async { while stream.next().await.is_some() {} };
    assert!(timeout(Duration::from_millis(200), waits).await.is_err());
    assert_eq!((model.payloads().len(), session.get_agent_tree()[0].status), (calls, Status::Paused));
    session.user_intervention(Intervention::of(id).status(Requested::Running)).unwrap();
    rest(stream).await;
    assert_eq!(session.get_agent_tree()[0].status, Status::Completed);
}

#[tokio::test]
async fn an_answer_without_a_question_changes_nothing() {
    let model = model(|call, _, _| (call == Call::Work).then(|| text("begun").then(Turn::pending())));
    let session = quiet(&model);
    let mut stream = session.agent("Compare lamps");
    let id = writes(&mut stream, &session, "Compare lamps").await;
    let before = session.get_agent_tree();
    for id in [id.as_str(), "nobody"] {
        assert_eq!(session.user_response(id, "2024").unwrap_err().code(), "no_such_query");
    }
    let refused = session.user_intervention(Intervention::of("nobody")).unwrap_err();
    assert_eq!(refused.code(), "no_such_agent");
    assert_eq!(session.get_agent_tree(), before);
}
