use std::sync::Arc;
use std::sync::atomic::Ordering;

use omniassist_server::core::{Limits, RunEvent, RunRequest, ToolChoice, ToolSpec};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::tool::{Approval, StateMap, Tools};
use omniassist_server::{Assistant, RunContext};
use serde_json::json;

use super::{Rank, extensions, offered, post, question, send, tool, tool_from};
use crate::approvals::{answer, call_refund, refund, state};

fn shop(model: &ScriptedProvider) -> Assistant {
    Assistant::builder(model.clone())
        .tool(tool("read"))
        .tool(tool_from(Rank::Agent, "refund"))
        .tool(tool_from(Rank::Admin, "close"))
        .build()
        .unwrap()
}

#[tokio::test]
async fn the_request_the_manifest_and_the_types_name_the_tools_of_the_callers_role() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = shop(&model);
    let table: [(Rank, &[&str], &[&str]); 3] = [
        (Rank::Viewer, &["read"], &["refund", "close"]),
        (Rank::Agent, &["read", "refund"], &["close"]),
        (Rank::Admin, &["close", "read", "refund"], &[]),
    ];
    for (role, seen, hidden) in table {
        post(&assistant, role, question()).await;
        let mut names =
            offered(model.payloads().last().unwrap()).into_iter().map(str::to_owned).collect::<Vec<_>>();
        names.sort();
        assert_eq!(names, seen, "{role:?}");
        for path in ["/manifest.json", "/types.d.ts"] {
            let (status, _, body) = send(&assistant, role, path, None).await;
            assert_eq!(status, 200);
            assert!(seen.iter().all(|name| body.contains(&format!("Describes {name}"))), "{role:?} {body}");
            assert!(!hidden.iter().any(|name| body.contains(name)), "{role:?} {body}");
        }
    }
}

#[tokio::test]
async fn a_call_of_a_hidden_tool_is_answered_like_one_of_an_unknown_tool() {
    let run = async |tools: &[&str], role| {
        let turns =
            || ScriptedProvider::new().turn(Turn::call_with_id("c1", "close", json!({}))).turn(text("Ok"));
        let model = turns();
        // Seals are bound to the id of the message.
        let builder = Assistant::builder(model.clone()).trust_client_history().tool(tool("read"));
        let builder = tools.iter().fold(builder, |builder, name| builder.tool(tool_from(Rank::Admin, name)));
        let (_, events) = post(&builder.build().unwrap(), role, question()).await;
        let transcript = model.payloads()[1].transcript.to_vec();
        let events = events.into_iter().filter(|event| !matches!(event, RunEvent::Start { .. }));
        (format!("{:?}", events.collect::<Vec<_>>()), format!("{transcript:?}"))
    };
    let hidden = run(&["close"], Rank::Viewer).await;
    let unknown = run(&[], Rank::Viewer).await;
    assert!(hidden.1.contains("There is no tool of this name. The tools are: read."), "{}", hidden.1);
    assert!(hidden.0.contains("ToolInputError"));
    assert_eq!(hidden, unknown);
    let seen = run(&["close"], Rank::Admin).await;
    assert!(seen.1.contains("pong"), "{}", seen.1);
}

#[tokio::test]
async fn an_approved_call_does_not_run_when_its_tool_became_invisible() {
    for demoted in [Rank::Viewer, Rank::Agent] {
        let (tool, ran) = refund(Approval::always());
        let tool = tool.visible_to(|run: &RunContext| run.extensions().get() == Some(&Rank::Agent));
        let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("Well."));
        let assistant = Assistant::builder(model.clone()).tool(tool).build().unwrap();
        let (mut messages, _) = post(&assistant, Rank::Agent, question()).await;
        answer(&mut messages, true);
        let (messages, _) = post(&assistant, demoted, messages).await;
        let lost = demoted == Rank::Viewer;
        assert_eq!(ran.load(Ordering::SeqCst), usize::from(!lost));
        let state = format!("{:?}", state(&messages));
        assert_eq!(state.contains("There is no tool of this name"), lost, "{state}");
        assert_eq!(offered(&model.payloads()[1]).is_empty(), lost);
    }
}

#[tokio::test]
async fn a_client_can_declare_a_tool_with_the_name_of_a_hidden_tool() {
    let model = ScriptedProvider::new().otherwise(|_| call("close", json!({})));
    let assistant = shop(&model);
    let mut request = RunRequest::prompt("Hi");
    let schema = json!({"type": "object", "properties": {}});
    request.tools = vec![Arc::new(ToolSpec::new("close", "Closes the tab", schema).front_end())];
    let refused = assistant.try_run(request.clone(), extensions(Rank::Admin)).await.unwrap_err();
    assert!(refused.to_string().contains("`close` is the name of a tool that the server runs"), "{refused}");

    let message =
        assistant.try_run(request, extensions(Rank::Viewer)).await.unwrap().message().await.unwrap();
    assert!(!message.tools().next().unwrap().state.is_answered(), "the client must run the call");
    assert_eq!(model.payloads()[0].tools.last().unwrap().description.as_str(), "Closes the tab");
}

#[tokio::test]
async fn a_condition_that_panics_hides_its_tool() {
    let model = ScriptedProvider::new().turn(text("Hi"));
    let broken = tool("broken").visible_to(|_: &RunContext| panic!("no role"));
    let assistant = Assistant::builder(model.clone()).tool(tool("read")).tool(broken).build().unwrap();
    assistant.run(RunRequest::prompt("Hi")).text().await.unwrap();
    assert_eq!(offered(&model.payloads()[0]), ["read"]);
}

#[tokio::test]
async fn a_choice_of_a_hidden_tool_is_not_sent() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = shop(&model);
    for (role, choice) in [(Rank::Viewer, ToolChoice::Auto), (Rank::Admin, ToolChoice::Tool("close".into()))]
    {
        let mut request = RunRequest::prompt("Hi");
        request.tool_use.choice = ToolChoice::Tool("close".into());
        assistant.try_run(request, extensions(role)).await.unwrap().text().await.unwrap();
        assert_eq!(model.payloads().last().unwrap().tool_choice, choice);
    }
}

#[test]
fn tags_stay_with_a_registered_tool() {
    let tools = Tools::new(StateMap::new(), Limits::default());
    tools.register(tool("read").tag("a").tag("b")).unwrap();
    assert_eq!(tools.snapshot().get("read").unwrap().tags(), ["a", "b"]);
}
