//! Tests of what an agent may do, and of who reaches it.

use std::sync::atomic::Ordering;

use omniassist_server::core::ErrorCode;
use omniassist_server::core::message::Message;
use omniassist_server::testing::call;
use omniassist_server::tool::Approval;

use super::*;
use crate::approvals::{answer, call_refund, post, refund};

/// Contract A.2, 18: two principals; a foreign agent is one that does not exist.
#[tokio::test]
async fn an_agent_that_the_caller_does_not_see_is_one_that_does_not_exist() {
    let (model, own) = (answering(), answering());
    let assistant = assistant(&model, &own);
    let ag_ui = json!({
        "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{ "id": "m1", "role": "user", "content": "Hi" }],
    });
    let chat = json!({ "model": "omniassist/AGENT", "messages": [{ "role": "user", "content": "Hi" }] });
    let forms = [
        (Method::POST, "/agents/AGENT", question()),
        (Method::POST, "/api/run/AGENT", question()),
        (Method::POST, "/agents/AGENT/ag-ui", ag_ui.clone()),
        (Method::POST, "/agents/AGENT/c/stop", json!({})),
        (Method::GET, "/agents/AGENT/c/stream", json!({})),
        (Method::GET, "/agents/AGENT/manifest.json", json!({})),
        (Method::POST, "/copilotkit/agent/AGENT/run", ag_ui),
        (Method::POST, "/v1/chat/completions", chat),
        (Method::GET, "/v1/models/omniassist%2FAGENT", json!({})),
    ];
    for (method, path, body) in forms {
        let ask = async |user: &str, agent: &str| {
            let body: Value = serde_json::from_str(&body.to_string().replace("AGENT", agent)).unwrap();
            send(&assistant, user, method.clone(), &path.replace("AGENT", agent), Some(&body)).await
        };
        let unknown = ask("ada", "nobody").await;
        assert_eq!(unknown.0, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(ask("ada", "hr").await, unknown, "{path}");
        assert_eq!(ask("ada", "%ff").await.0, StatusCode::NOT_FOUND, "{path}");
        assert_ne!(ask("boss", "hr").await, unknown, "{path}");
    }
    assert!(model.payloads().is_empty(), "nothing but `hr` was asked");
    // These are refused before the agent is known.
    for (method, path) in [(Method::GET, "/agents/AGENT"), (Method::POST, "/agents/AGENT/nowhere")] {
        let ask = async |user, agent| {
            send(&assistant, user, method.clone(), &path.replace("AGENT", agent), None).await
        };
        let own = ask("boss", "hr").await;
        assert!(ask("ada", "hr").await == own && ask("ada", "nobody").await == own, "{path}");
    }
}

/// Contract A.2, 18: an agent has the tools of its own list only.
#[tokio::test]
async fn an_agent_runs_no_tool_of_another() {
    let (refund, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("I cannot."));
    let sales = Agent::new("sales", "Sells.").tool(tool("offers"));
    let assistant = Assistant::builder(model.clone()).tool(refund).agent(sales).build().unwrap();
    let sales = assistant.agent("sales").unwrap();
    assert_eq!(sales.run(RunRequest::prompt("Refund")).text().await.unwrap(), "I cannot.");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    let sent = format!("{:?}", model.payloads()[1].transcript);
    assert!(sent.contains("offers") && !sent.contains("refunded"), "{sent}");
}

#[tokio::test]
async fn an_approval_counts_for_the_agent_that_asked_for_it() {
    let (harmless, drafted) = refund(Approval::always());
    let (real, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().otherwise(|_| call_refund(5));
    let drafts = Agent::new("drafts", "Drafts refunds.").tool(harmless);
    let money = Agent::new("money", "Refunds.").tool(real);
    let assistant = Assistant::builder(model.clone()).agent(drafts).agent(money).build().unwrap();
    let (drafts, money) = (assistant.agent("drafts").unwrap(), assistant.agent("money").unwrap());

    let (mut messages, _) = post(&drafts, "c", vec![Message::user("q", "Refund 5.")]).await;
    answer(&mut messages, true);
    let mut moved = RunRequest::new(messages.clone());
    moved.chat_id = Some("c".into());
    let mut extensions = http::Extensions::new();
    extensions.insert(Principal::new("ada"));
    let refused = money.try_run(moved.clone(), extensions.clone()).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::SealInvalid, "{refused}");
    let refused = assistant.try_run(moved, extensions).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::SealInvalid, "{refused}");
    assert_eq!(ran.load(Ordering::SeqCst), 0);

    post(&drafts, "c", messages).await;
    assert_eq!((drafted.load(Ordering::SeqCst), ran.load(Ordering::SeqCst)), (1, 0));
}

#[tokio::test]
async fn a_chat_goes_on_with_another_agent() {
    let model =
        ScriptedProvider::new().turn(call("offers", json!({}))).turn(text("Two.")).turn(text("Thanks."));
    let assistant = assistant(&model, &answering());
    let (mut messages, _) =
        post(&assistant.agent("sales").unwrap(), "c", vec![Message::user("q", "Offers?")]).await;
    messages.push(Message::user("q2", "Thank you."));
    post(&assistant, "c", messages).await;
    let payload = model.payloads().pop().unwrap();
    let sent = format!("{:?}", payload.transcript);
    assert!(sent.contains("offers") && sent.contains("done") && sent.contains("Two."), "{sent}");
    assert_eq!(payload.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["help"]);
}

/// Must show: an agent is no way around a condition of visibility.
#[tokio::test]
async fn a_model_asks_no_agent_that_the_caller_does_not_see() {
    let model = ScriptedProvider::new().otherwise(|payload| match payload.tools.is_empty() {
        true => call("hr", json!({ "task": "Tell me" })),
        false => text("I could ask."),
    });
    let secret = answering();
    let hr = Agent::new("hr", "Knows salaries.")
        .provider(secret.clone())
        .visible_to(|caller: &RunContext| caller.principal().id() == "boss");
    let helper = Agent::new("helper", "Helps.").delegates(["hr"]);
    let assistant =
        Assistant::builder(model.clone()).agent(hr).agent(helper).delegates(["hr"]).build().unwrap();
    for path in ["/", "/agents/helper"] {
        let seen = model.payloads().len();
        send(&assistant, "ada", Method::POST, path, Some(&question())).await;
        assert!(secret.payloads().is_empty(), "{path}");
        let sent = format!("{:?}", model.payloads().split_off(seen));
        assert!(!sent.contains("Knows salaries"), "{sent}");
        let (_, answer) = send(&assistant, "boss", Method::POST, path, Some(&question())).await;
        assert!(answer.contains("I could ask."), "{answer}");
        assert_eq!(last_call(&model).2, ["hr"]);
    }
}

#[tokio::test]
async fn an_internal_agent_can_only_be_asked() {
    let model = ScriptedProvider::new().turn(call("clerk", json!({ "task": "Look" }))).turn(text("Done."));
    let clerk = Agent::new("clerk", "Looks things up.").provider(answering()).internal();
    let assistant = Assistant::builder(model).agent(clerk).delegates(["clerk"]).build().unwrap();
    assert_eq!(get(&assistant, "ada", "/agents").await, json!({ "agents": [] }));
    let unknown = send(&assistant, "ada", Method::POST, "/agents/nobody", Some(&question())).await;
    assert_eq!(send(&assistant, "ada", Method::POST, "/agents/clerk", Some(&question())).await, unknown);
    let (_, answer) = send(&assistant, "ada", Method::POST, "/", Some(&question())).await;
    assert!(answer.contains("Hello") && answer.contains("Done."), "{answer}");
}

/// A path is parsed before anybody is authenticated.
#[tokio::test]
async fn an_agent_has_no_agents_however_long_the_path_is() {
    let assistant = assistant(&answering(), &answering());
    for below in
        ["/agents/sales", "/api/run/sales", "/agents", "/copilotkit/info", "/threads", "/files", "/runs/r"]
    {
        let path = format!("/agents/sales{below}");
        assert_eq!(
            send(&assistant, "ada", Method::GET, &path, None).await.0,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    for prefix in ["/agents/sales", "/api/run/sales", "/agents/agents", "/agents//"] {
        let long = prefix.repeat(60_000 / prefix.len());
        let (status, _) = send(&assistant, "ada", Method::POST, &long, Some(&question())).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{prefix}");
    }
}
