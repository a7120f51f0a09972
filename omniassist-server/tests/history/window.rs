use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use omniassist_server::core::history::estimate;
use omniassist_server::core::message::Message;
use omniassist_server::core::{LlmEvent, RunRequest, Usage};
use omniassist_server::http::AssistantService;
use omniassist_server::seal::SealKeys;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Assistant, History, Refusal, RunPlan, Tool, ToolError};
use serde_json::{Value, json};

use super::{ask, talk, texts};

fn with_question(turns: usize) -> RunRequest {
    RunRequest::new([talk(turns), vec![Message::user("last", "And now?")]].concat())
}

#[tokio::test]
async fn the_model_receives_the_newest_exchanges_and_the_host_keeps_all() {
    let model = ScriptedProvider::new().turn(call("count", json!({}))).turn(text("ok"));
    let count = Tool::new("count", "Counts the messages", async |run: omniassist_server::RunContext| {
        Ok::<_, ToolError>(run.messages().len().to_string())
    });
    let builder = Assistant::builder(model.clone()).system_prompt("You help.").tool(count);
    let assistant = builder.history(History::fit(2_000)).build().unwrap();
    assistant.run(with_question(200)).text().await.unwrap();
    let payloads = model.payloads();
    for payload in &payloads {
        let sent = texts(payload);
        assert!(sent[0].starts_with("Question 1"), "{}", sent[0]);
        assert_eq!(payload.system.as_deref(), Some("You help."));
        assert!((1_300..=2_000).contains(&estimate(&payload.transcript)));
    }
    assert!(format!("{:?}", payloads[1].transcript).contains("401"), "the tool must receive all messages");
}

#[tokio::test]
async fn a_plan_changes_the_window_of_one_run() {
    let model = ScriptedProvider::new().otherwise(|_| text("ok"));
    async fn prepare(plan: &mut RunPlan, run: omniassist_server::RunContext) -> Result<(), Refusal> {
        match run.messages().last().unwrap().text().as_str() {
            "small" => plan.history(History::fit(500)),
            "all" => plan.history(None),
            _ => plan,
        };
        Ok(())
    }
    let builder = Assistant::builder(model.clone()).history(History::fit(2_000)).prepare(prepare);
    let assistant = builder.build().unwrap();
    for question in ["small", "all", "default"] {
        ask(&assistant, "ada", talk(100), question).await;
    }
    let sizes: Vec<_> = model.payloads().iter().map(|payload| estimate(&payload.transcript)).collect();
    assert!(sizes[0] <= 500 && sizes[1] > 5_000 && (1_000..=2_000).contains(&sizes[2]), "{sizes:?}");
}

#[tokio::test]
async fn system_prompt_tools_and_context_count_towards_the_budget() {
    let sent = async |prompt: String, tool: String| {
        let model = ScriptedProvider::new().turn(text("ok"));
        let tool = Tool::new("look", tool, async || Ok::<_, ToolError>("x"));
        let builder = Assistant::builder(model.clone()).system_prompt(prompt).tool(tool);
        let assistant = builder.history(History::fit(4_000)).build().unwrap();
        assistant.run(with_question(200)).text().await.unwrap();
        estimate(&model.payloads()[0].transcript)
    };
    let plain = sent("p".into(), "t".into()).await;
    assert!(plain > 3_000);
    assert!(sent("p".repeat(8_000), "t".into()).await <= 2_000);
    assert!(sent("p".into(), "t".repeat(8_000)).await <= 2_000);
}

/// Returns a turn that reports `input` input tokens.
fn counted(input: u64) -> Turn {
    let mut usage = Usage::default();
    (usage.input_tokens, usage.output_tokens) = (Some(input), Some(1));
    text("ok").then(Turn::event(LlmEvent::Usage(usage)))
}

#[tokio::test]
async fn the_tokens_of_the_last_turn_correct_the_estimate_of_the_next() {
    let model = ScriptedProvider::new().otherwise(|payload| counted(2 * estimate(&payload.transcript)));
    let keys = SealKeys::new("k", [7; 32]).unwrap();
    let assistant = || {
        let builder = Assistant::builder(model.clone()).seal_keys(keys.clone());
        builder.history(History::fit(4_000)).build().unwrap()
    };
    let (messages, _) = ask(&assistant(), "ada", talk(100), "One?").await;
    // Another process with the same keys.
    ask(&assistant(), "ada", messages.clone(), "Two?").await;
    let mut forged = messages;
    let note = &mut forged.last_mut().unwrap().metadata.as_mut().unwrap()["omniassist"]["history"];
    *note = Value::from(note.as_str().unwrap().replacen("2000 ", "500 ", 1));
    ask(&assistant(), "ada", forged, "Three?").await;
    let sizes: Vec<_> = model.payloads().iter().map(|payload| estimate(&payload.transcript)).collect();
    assert!(sizes[0] > 3_000 && sizes[1] <= 2_000, "{sizes:?}");
    assert!((3_000..=4_000).contains(&sizes[2]), "a forged rate must be ignored: {sizes:?}");
}

#[tokio::test]
async fn ten_thousand_messages_are_accepted() {
    let model = ScriptedProvider::new().turn(text("ok"));
    let builder = Assistant::builder(model.clone()).allow_anonymous().history(History::fit(8_000));
    let assistant = builder.build().unwrap();
    let mut messages = talk(5_000);
    messages.push(Message::user("last", "And now?"));
    let body = serde_json::to_vec(&json!({ "id": "chat", "messages": messages })).unwrap();
    let request = Request::post("/").header("content-type", "application/json");
    let request = request.body(Full::new(Bytes::from(body))).unwrap();
    let response = AssistantService::new(assistant).handle(request).await;
    assert_eq!(response.status(), 200);
    response.into_body().collect().await.unwrap();
    let payloads = model.payloads();
    let sent = texts(&payloads[0]);
    assert_eq!(sent.last(), Some(&"And now?"));
    assert!((60..200).contains(&sent.len()), "{}", sent.len());
}
