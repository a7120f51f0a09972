//! Tests of agents whose task or answer has a type.

use omniassist_server::Args;
use omniassist_server::core::transcript::UserContent;
use omniassist_server::core::tree::AgentBudget;
use omniassist_server::core::{LlmPayload, RunEvent, TranscriptItem};
use omniassist_server::store::{MemoryStore, RunState};
use omniassist_server::testing::{Turn, call};
use omniassist_server::tool::{Agents, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::asked::{ask, events, output, sent, states};
use super::*;
use crate::stored::restart::{begin_and_stop, restart};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Essay {
    /// The heading.
    title: String,
    #[schemars(range(min = 1, max = 12))]
    year: u8,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Grade {
    /// The best is 15.
    #[schemars(range(max = 15))]
    points: u8,
}

fn essay() -> Value {
    json!({ "title": "Lamps", "year": 7 })
}

fn grader(model: &ScriptedProvider) -> Agent {
    Agent::new("grader", "Grades an essay.").provider(model.clone())
}

/// Returns an assistant whose model asks the grader once.
fn school(parent: &ScriptedProvider, grader: Agent) -> Assistant {
    Assistant::builder(parent.clone()).agent(grader).delegates(["grader"]).build().unwrap()
}

fn asking(task: Value) -> ScriptedProvider {
    ScriptedProvider::new().turn(call("grader", task)).turn(text("Done."))
}

/// Returns the last message of the user that a model was sent.
fn last_said(payload: &LlmPayload) -> String {
    let text = payload.transcript.iter().rev().find_map(|item| match item {
        TranscriptItem::User { content } => match &content[..] {
            [UserContent::Text { text }] => Some(text.to_string()),
            _ => None,
        },
        _ => None,
    });
    text.expect("a text of the user")
}

/// Returns the status, the reason and the result of a report.
fn report(events: &[RunEvent]) -> (Value, Value, Value) {
    let report = output(events);
    (report["status"].clone(), report["reason"].clone(), report["result"].clone())
}

#[tokio::test]
async fn a_model_asks_with_the_fields_of_the_type_and_reads_the_answer_as_json() {
    let parent = asking(essay());
    let child = ScriptedProvider::new().turn(text("{\"points\": 12}"));
    let prompt = |run: &RunContext| format!("You grade {}.", run.messages()[0].text());
    let grader = grader(&child).system_prompt(prompt).input::<Essay>().output::<Grade>();
    let events = events(&school(&parent, grader)).await;

    let offered = &parent.payloads()[0].tools[0];
    let schema = &offered.input_schema;
    assert_eq!((&*offered.name, &*offered.description), ("grader", "Grades an essay."));
    assert_eq!(schema["required"], json!(["title", "year"]));
    assert_eq!(schema["properties"]["title"]["description"], "The heading.");
    assert_eq!(schema["properties"].get("task"), None);

    let asked = &child.payloads()[0];
    assert_eq!(serde_json::from_str::<Value>(&last_said(asked)).unwrap(), essay());
    assert_eq!(asked.system.as_deref(), Some(&*format!("You grade {}.", last_said(asked))));
    let (name, schema) = asked.options.response_schema.clone().expect("a schema of the answer");
    assert_eq!((&*name, &schema["properties"]["points"]["maximum"]), ("Grade", &json!(15)));

    assert_eq!(report(&events), (json!("completed"), json!(null), json!({ "points": 12 })));
    let read = sent(&parent.payloads()[1]);
    assert!(read.contains(r#""result":{"points": 12}"#), "{read}");
    assert_eq!(states(&events).last().unwrap()["text"], "{\"points\": 12}");
}

#[tokio::test]
async fn arguments_that_do_not_fit_name_the_field_and_ask_nobody() {
    for (task, said) in [
        (json!({ "title": "Lamps", "year": 40 }), "/year"),
        (json!({ "year": 7 }), "\"title\" is a required property"),
        (json!({ "task": "Grade it" }), "title"),
    ] {
        let (parent, child) = (asking(task), ScriptedProvider::new());
        events(&school(&parent, grader(&child).input::<Essay>())).await;
        let read = sent(&parent.payloads()[1]).replace('\\', "");
        assert!(read.contains("do not fit the tool's schema") && read.contains(said), "{read}");
        assert_eq!(child.payloads().len(), 0);
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_corrected_once() {
    for (wrong, said) in [
        ("Well done!", "The answer is not valid JSON"),
        ("", "The answer is not valid JSON"),
        ("{\"points\": 99}", "/points"),
        ("{}", "\"points\" is a required property"),
    ] {
        let parent = ScriptedProvider::new().turn(ask("grader", "Grade it")).turn(text("Done."));
        let child = ScriptedProvider::new()
            .turn(call("rules", json!({})))
            .turn(text(wrong))
            .turn(text("{\"points\":9}"));
        let grader = grader(&child).tool(tool("rules")).output::<Grade>();
        let events = events(&school(&parent, grader)).await;
        assert_eq!(report(&events), (json!("completed"), json!(null), json!({ "points": 9 })), "{wrong}");
        let correction = last_said(&child.payloads()[2]);
        assert!(correction.contains(said) && correction.contains("Answer again"), "{correction}");
        assert!(sent(&child.payloads()[2]).contains(&format!("{wrong:?}")) || wrong.is_empty());
        assert!(child.payloads()[2].options.response_schema.is_some());
    }
}

#[tokio::test]
async fn an_agent_whose_answers_never_fit_has_failed() {
    let parent = ScriptedProvider::new().turn(ask("grader", "Grade it")).turn(text("Done."));
    let child = ScriptedProvider::new().otherwise(|_| text("{\"points\":99}"));
    let events = events(&school(&parent, grader(&child).output::<Grade>())).await;
    let (status, reason, _) = report(&events);
    assert_eq!((status, reason), (json!("failed"), json!("invalid_answer")));
    assert_eq!(child.payloads().len(), 2, "one correction");
    assert_eq!(states(&events).last().unwrap()["reason"], "invalid_answer");

    // The agent may take no step for the correction.
    let parent = ScriptedProvider::new().turn(ask("grader", "Grade it")).turn(text("Done."));
    let child = ScriptedProvider::new().turn(text("Well done!"));
    let events = self::events(&school(&parent, grader(&child).output::<Grade>().max_steps(1))).await;
    assert_eq!(report(&events), (json!("failed"), json!("invalid_answer"), json!("Well done!")));
}

#[tokio::test]
async fn a_limit_is_the_reason_for_an_answer_that_could_not_be_corrected() {
    let parent = ScriptedProvider::new().turn(ask("grader", "Grade it")).turn(text("Done."));
    let child = ScriptedProvider::new().turn(text("Well done!"));
    let grader = grader(&child).output::<Grade>().budget(AgentBudget::new().model_calls(1));
    let events = events(&school(&parent, grader)).await;
    assert_eq!(report(&events), (json!("incomplete"), json!("model_calls"), json!("Well done!")));
}

#[tokio::test]
async fn an_answer_that_is_cut_is_not_a_completed_one() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the schema counts")]
    struct Long {
        text: String,
    }
    let parent = ScriptedProvider::new().turn(ask("grader", "Grade it")).turn(text("Done."));
    let child = ScriptedProvider::new().turn(text(json!({ "text": "a".repeat(40_000) }).to_string()));
    let events = events(&school(&parent, grader(&child).output::<Long>())).await;
    let (status, reason, result) = report(&events);
    assert_eq!((status, reason), (json!("incomplete"), json!("answer_too_long")));
    assert!(result.as_str().unwrap().starts_with("{\"text\":\"aaa"), "a text, since it is no JSON");
}

/// Returns a tool that asks the grader in Rust, and an assistant whose model calls it.
fn in_rust(ask: Tool, grader: Agent) -> Assistant {
    let parent = ScriptedProvider::new().turn(call("mark", essay())).turn(text("Done."));
    Assistant::builder(parent).tool(ask).agent(grader).build().unwrap()
}

fn mark() -> Tool {
    Tool::new("mark", "Marks", async |Args(essay): Args<Essay>, agents: Agents| {
        let grade: Grade = agents.ask("grader", Json(essay)).await?.output()?;
        Ok::<_, ToolError>(grade.points + 100)
    })
}

#[tokio::test]
async fn a_tool_asks_with_a_value_and_reads_one() {
    let child = ScriptedProvider::new().turn(text("{\"points\":12}"));
    let events = events(&in_rust(mark(), grader(&child).input::<Essay>().output::<Grade>())).await;
    assert_eq!(output(&events), json!(112));
    assert_eq!(last_said(&child.payloads()[0]), "{\"title\":\"Lamps\",\"year\":7}");
}

/// The one call that the budget allows is all that an agent without tools needs.
#[tokio::test]
async fn the_answer_of_the_only_call_is_a_complete_one() {
    let child = ScriptedProvider::new().turn(text("{\"points\":12}"));
    let grader = grader(&child).input::<Essay>().output::<Grade>();
    let events = events(&in_rust(mark(), grader.budget(AgentBudget::new().model_calls(1)))).await;
    assert_eq!(output(&events), json!(112));
    assert_eq!(child.payloads()[0].system, None);
}

#[tokio::test]
async fn a_tool_reads_why_there_is_no_value() {
    let child = ScriptedProvider::new().otherwise(|_| text("Well done!"));
    let events = events(&in_rust(mark(), grader(&child).output::<Grade>())).await;
    assert_eq!(output(&events), json!({ "error": "The agent did not complete its task: invalid_answer." }));

    // Without a type of output, the answer may be anything. The reason is for the log.
    let child = ScriptedProvider::new().otherwise(|_| text("Well done!"));
    let events = self::events(&in_rust(mark(), grader(&child))).await;
    assert_eq!(output(&events), json!({ "error": "The tool failed." }));
}

#[tokio::test]
async fn a_task_of_a_tool_that_does_not_fit_asks_nobody() {
    let untyped = |task: &'static str| {
        Tool::new("mark", "Marks", move |agents: Agents| async move {
            agents.ask("grader", task).await.map(|report| report.result.to_string())
        })
    };
    for (task, said) in
        [("Grade it", "not valid JSON"), ("{\"title\":\"Lamps\",\"year\":0}", "/year"), ("{}", "title")]
    {
        let child = ScriptedProvider::new();
        let events = events(&in_rust(untyped(task), grader(&child).input::<Essay>())).await;
        let error = output(&events)["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.starts_with("The task") && error.contains(said), "{error}");
        assert_eq!((child.payloads().len(), states(&events).len()), (0, 0));
    }
}

/// The correction is a turn of the agent's run, which another server goes on with.
#[test]
fn an_answer_is_not_corrected_again_after_its_server_stopped() {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    let build = |parent: &ScriptedProvider, child: &ScriptedProvider| {
        let grader = grader(child).input::<Essay>().output::<Grade>();
        let builder = Assistant::builder(parent.clone()).agent(grader).delegates(["grader"]);
        builder.store(store.clone()).build().unwrap()
    };
    let notify = Arc::clone(&reached);
    let first = ScriptedProvider::new().turn(text("Well done!")).turn_with(move |_| {
        notify.notify_one();
        Turn::pending()
    });
    begin_and_stop(build(&asking(essay()), &first), &reached);

    let second = ScriptedProvider::new().turn(text("No."));
    let parent = ScriptedProvider::new().otherwise(|_| text("Done."));
    assert_eq!(restart(&build(&parent, &second), &store), RunState::Finished);
    let asked = second.payloads();
    assert_eq!(asked.len(), 1);
    assert!(last_said(&asked[0]).contains("Answer again") && sent(&asked[0]).contains("Well done!"));
    let read: String = parent.payloads().iter().map(sent).collect();
    assert!(read.contains("\"failed\"") && read.contains("\"invalid_answer\""), "{read}");
}

/// A client that talks to the agent reads what its model writes.
#[tokio::test]
async fn a_run_of_a_client_has_no_type() {
    let child = ScriptedProvider::new().turn(text("Well done!"));
    let assistant = school(&answering(), grader(&child).input::<Essay>().output::<Grade>());
    let run = assistant.agent("grader").unwrap().run(RunRequest::prompt("Grade it"));
    assert_eq!(run.text().await.unwrap(), "Well done!");
    assert!(child.payloads()[0].options.response_schema.is_none());
}

#[test]
fn types_that_providers_refuse_are_errors_of_the_build() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the schema counts")]
    enum Verdict {
        Good { points: u8 },
        Bad,
    }
    let agent = || grader(&answering());
    for (agent, said) in
        [(agent().input::<Verdict>(), "`Verdict`"), (agent().output::<Vec<u8>>(), "\"object\"")]
    {
        let error = Assistant::builder(answering()).agent(agent).build().unwrap_err().to_string();
        assert!(error.contains("the agent \"grader\"") && error.contains(said), "{error}");
    }
}
