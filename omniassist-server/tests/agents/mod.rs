//! Tests of named agents: their routes, what their model is sent, their rights, and their stored runs.

mod asked;
mod asking;
mod cost;
mod handoff;
mod handoff_steps;
mod in_process;
mod loaded;
mod restored;
mod rights;
mod stored;
mod typed;
mod wakes;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::audit::AuditLog;
use omniassist_server::core::{ModelOptions, RunRequest};
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Agent, Assistant, AssistantBuilder, Principal, RunContext, Tool, ToolError};
use serde_json::{Value, json};

use crate::audit::Kept;

pub(super) fn tool(name: &str) -> Tool {
    Tool::new(name.to_owned(), "Does something", || async { Ok::<_, ToolError>("done") })
}

/// Returns an assistant with a tool and a prompt, and with the agents `sales` and `hr`. Only `boss` sees `hr`.
fn assistant(model: &ScriptedProvider, hr: &ScriptedProvider) -> Assistant {
    let sales = Agent::new("sales", "Sells lamps.").system_prompt("You sell.").tool(tool("offers"));
    let mut own = ModelOptions::default();
    own.max_output_tokens = Some(7);
    let hr = Agent::new("hr", "Knows salaries.")
        .system_prompt(|run: &RunContext| format!("You are {:?}.", run.agent()))
        .provider(hr.clone())
        .model_options(own)
        .visible_to(|caller: &RunContext| caller.principal().id() == "boss");
    Assistant::builder(model.clone())
        .system_prompt("You help.")
        .model("large")
        .tool(tool("help"))
        .agent(sales)
        .agent(hr)
        .build()
        .unwrap()
}

fn answering() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|_| text("Hello"))
}

/// Sends a request of a user, and returns the status and the body.
pub(super) async fn send(
    assistant: &Assistant,
    user: &str,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> (StatusCode, String) {
    let mut request =
        Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new(user));
    let body = body.map(ToString::to_string).unwrap_or_default();
    let request = request.body(Full::<Bytes>::from(body)).unwrap();
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let (status, body) = (response.status(), response.into_body().collect().await.unwrap().to_bytes());
    (status, String::from_utf8(body.into()).unwrap())
}

pub(super) async fn get(assistant: &Assistant, user: &str, path: &str) -> Value {
    let (status, body) = send(assistant, user, Method::GET, path, None).await;
    assert_eq!(status, StatusCode::OK, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

fn question() -> Value {
    json!({ "id": "c", "messages": [{ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] }] })
}

/// Returns the system prompt, the model and the tools of the last call.
fn last_call(model: &ScriptedProvider) -> (String, Option<String>, Vec<String>) {
    let payload = model.payloads().pop().expect("a model call");
    let system = payload.system.map(|system| system.to_string()).unwrap_or_default();
    let tools = payload.tools.iter().map(|tool| tool.name.to_string()).collect();
    (system, payload.model.map(|model| model.to_string()), tools)
}

#[tokio::test]
async fn each_agent_has_its_own_prompt_model_and_tools() {
    let (model, own) = (answering(), answering());
    let assistant = assistant(&model, &own);
    let run =
        |assistant: Assistant| async move { assistant.run(RunRequest::prompt("Hi")).text().await.unwrap() };

    run(assistant.clone()).await;
    let large = Some("large".to_owned());
    assert_eq!(last_call(&model), ("You help.".into(), large.clone(), vec!["help".into()]));
    run(assistant.agent("sales").unwrap()).await;
    assert_eq!(last_call(&model), ("You sell.".into(), large, vec!["offers".into()]));
    run(assistant.agent("hr").unwrap()).await;
    assert_eq!(last_call(&own), ("You are Some(\"hr\").".into(), None, vec![]));
    assert_eq!(own.payloads()[0].options.max_output_tokens, Some(7));
    assert_eq!(assistant.agent("sales").unwrap().model().1, Some("large"));
    assert!(assistant.agent("nobody").is_none());
}

/// Contract A.2, 14: `POST {baseUrl}/api/run/:agentId`.
#[tokio::test]
async fn every_protocol_reaches_an_agent_by_its_route() {
    let model = answering();
    let assistant = assistant(&model, &answering());
    let ag_ui = json!({
        "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{ "id": "m1", "role": "user", "content": "Hi" }],
    });
    let chat = |model: &str| json!({ "model": model, "messages": [{ "role": "user", "content": "Hi" }] });
    let hsafa =
        json!({ "messages": question()["messages"], "chatId": "c", "agentId": "sales", "extra": { "a": 1 } });
    let single = json!({ "method": "agent/run", "params": { "agentId": "sales" }, "body": ag_ui });
    let posts = [
        ("/agents/sales", question()),
        ("/agents/sales/", question()),
        ("/agents/s%61les", question()),
        ("/api/run/sales", hsafa),
        ("/agents/sales/completion", json!({ "prompt": "Hi" })),
        ("/agents/sales/ag-ui", ag_ui.clone()),
        ("/agents/sales/v1/chat/completions", chat("omniassist")),
        ("/v1/chat/completions", chat("omniassist/sales")),
        ("/copilotkit/agent/sales/run", ag_ui.clone()),
        ("/copilotkit", single),
    ];
    for (at, (path, body)) in posts.iter().enumerate() {
        let (status, answer) = send(&assistant, "ada", Method::POST, path, Some(body)).await;
        assert!(status == StatusCode::OK && answer.contains("Hello"), "{path}: {status} {answer}");
        assert_eq!(model.payloads().len(), at + 1, "{path}");
        assert_eq!(last_call(&model).0, "You sell.", "{path}");
    }
}

#[tokio::test]
async fn agents_are_listed_for_those_who_see_them() {
    let assistant = assistant(&answering(), &answering());
    let sales = json!({ "id": "sales", "description": "Sells lamps." });
    let hr = json!({ "id": "hr", "description": "Knows salaries." });
    assert_eq!(get(&assistant, "ada", "/agents").await, json!({ "agents": [sales] }));
    assert_eq!(get(&assistant, "boss", "/agents").await, json!({ "agents": [hr, sales] }));
    assert_eq!(get(&assistant, "boss", "/manifest.json").await["agents"], json!([hr, sales]));
    let models = |list: &Value| {
        let data = list["data"].as_array().unwrap().iter();
        data.map(|model| model["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(models(&get(&assistant, "ada", "/v1/models").await), ["omniassist", "omniassist/sales"]);
    assert_eq!(get(&assistant, "ada", "/v1/models/omniassist%2Fsales").await["id"], "omniassist/sales");
    let info = get(&assistant, "ada", "/copilotkit/info").await;
    let names: Vec<_> = info["agents"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["default", "sales"]);
    assert_eq!(info["agents"]["sales"]["description"], "Sells lamps.");

    let own = get(&assistant, "ada", "/agents/sales/manifest.json").await;
    assert_eq!((&own["agent"], &own["tools"][0]["name"]), (&json!("sales"), &json!("offers")));
    let paths = own["dialects"].as_array().unwrap().iter().map(|dialect| dialect["path"].as_str().unwrap());
    let paths: Vec<_> = paths.collect();
    assert!(paths.contains(&"/ag-ui") && !paths.contains(&"/copilotkit"), "{paths:?}");
    let (_, types) = send(&assistant, "ada", Method::GET, "/agents/sales/types.d.ts", None).await;
    assert!(types.contains("offers") && !types.contains("help"), "{types}");
}

#[test]
fn agents_that_cannot_be_reached_are_refused() {
    let build = |agent: Agent| Assistant::builder(answering()).agent(agent).build();
    let long = "a".repeat(64);
    build(Agent::new(long.clone(), "Does a lot.")).unwrap();
    let cases = [
        (Agent::new(long + "a", "Does a lot."), "1 to 64"),
        (Agent::new("a/b", "Does a lot."), "1 to 64"),
        (Agent::new("", "Does a lot."), "1 to 64"),
        (Agent::new("default", "Does a lot."), "another meaning"),
        (Agent::new("stop", "Does a lot."), "another meaning"),
        (Agent::new("stream", "Does a lot."), "another meaning"),
        (Agent::new("sales", " "), "description"),
        (Agent::new("sales", "Sells.").tool(tool("a b")), "a b"),
        (Agent::new("sales", "Sells.").tool(tool("a")).tool(tool("a")), "already registered"),
    ];
    for (agent, said) in cases {
        let name = format!("{agent:?}");
        let error = build(agent).unwrap_err().to_string();
        assert!(error.contains(said), "{name}: {error}");
    }
    let twice = Assistant::builder(answering()).agent(Agent::new("a", "A.")).agent(Agent::new("a", "A."));
    assert!(twice.build().unwrap_err().to_string().contains("two agents"));
}

#[tokio::test]
async fn reports_and_audit_records_name_the_agent() {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let (ends, audit) = (Arc::clone(&reported), Kept::default());
    let parent = ScriptedProvider::new().turn(call("clerk", json!({ "task": "Look" }))).turn(text("Done."));
    let assistant = Assistant::builder(parent)
        .agent(Agent::new("clerk", "Looks things up.").provider(answering()))
        .agent(Agent::new("lead", "Leads.").delegates(["clerk"]))
        .on_run_end(move |report| ends.lock().unwrap().push(report.run.agent.clone()))
        .audit(AuditLog::new(audit.clone()))
        .build()
        .unwrap();
    send(&assistant, "ada", Method::POST, "/agents/lead", Some(&question())).await;
    assistant.shutdown().await;
    let named = |name: &str| Some(name.into());
    assert_eq!(*reported.lock().unwrap(), [named("clerk"), named("lead")]);
    let began = audit.json().into_iter().filter(|record| record["action"] == "run_started");
    let agents: Vec<_> = began.map(|record| (record["agent"].clone(), record["principal"].clone())).collect();
    assert_eq!(agents, [(json!("lead"), json!("ada")), (json!("clerk"), json!("ada"))]);
}
