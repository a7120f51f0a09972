//! Programs that wait for the user: on another server, after the first one was killed, and with a denial.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, future};

use futures_util::StreamExt;
use http::Extensions;
use omniassist_python::{Code, Python};
use omniassist_server::core::message::{Decision, MessageCollector, Part, Role, ToolPart, ToolState, read};
use omniassist_server::core::{Limits, Message, RunRequest};
use omniassist_server::seal::SealKeys;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::tool::ToolDecision;
use omniassist_server::{Agent, Approval, Assistant, Principal, Tool, ToolContext, ToolError};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::setup::pool;

/// Names the folder of the server that is killed.
const FOLDER: &str = "OMNIASSIST_TEST_SUSPENDED";

pub(crate) const CODE: &str = "print('looks')\n\
    seen = effect(name='look')\n\
    total = 0\n\
    for cents in [500, 700]:\n    \
        try:\n        total += pay(cents=cents)\n    \
        except RuntimeError as error:\n        print(error)\n\
    print('ends')\n\
    [seen, total]";

/// Returns a tool that writes each of its calls into a file. One that `hangs` does not end then.
pub(crate) fn effect(name: &'static str, effects: PathBuf, hangs: bool) -> Tool {
    let schema = json!({ "type": "object" });
    Tool::from_fn_with_schema(name, "Has an effect", schema, move |arguments: Value, _: ToolContext| {
        let file = OpenOptions::new().append(true).create(true).open(&effects);
        let line = arguments.get("name").or_else(|| arguments.get("cents")).cloned().unwrap_or_default();
        writeln!(file.unwrap(), "{line}").unwrap();
        async move {
            if hangs {
                future::pending::<()>().await;
            }
            Ok::<_, ToolError>(line)
        }
    })
}

/// Returns a server of its own, whose model runs the program once.
async fn server(effects: &Path, limits: Code) -> Assistant {
    let pay = effect("pay", effects.to_owned(), false).requires_approval(Approval::always());
    let look = effect("effect", effects.to_owned(), false);
    let python = Python::pool(pool(1).await).limits(limits).functions([look, pay]);
    let model = ScriptedProvider::new().otherwise(|payload| {
        let has_called = format!("{:?}", payload.transcript).contains("\"python\"");
        if has_called { text("Done.") } else { call("python", json!({ "code": CODE })) }
    });
    let keys = SealKeys::new("k1", "a secret of at least 32 bytes for tests").unwrap();
    Assistant::builder(model).tool(python.tool("python").unwrap()).seal_keys(keys).build().unwrap()
}

pub(crate) async fn post(server: &Assistant, mut messages: Vec<Message>) -> Vec<Message> {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    let mut request = RunRequest::new(messages.clone());
    request.chat_id = Some("c".into());
    let mut run = server.try_run(request, extensions).await.unwrap();
    let continued = messages.pop_if(|last| last.role == Role::Assistant);
    let mut collector = continued.map_or_else(MessageCollector::new, MessageCollector::continuing);
    while let Some(event) = run.next().await {
        collector.apply(&event);
    }
    messages.push(collector.into_message());
    messages
}

pub(crate) fn answer(messages: &mut [Message], approved: bool) {
    for part in &mut messages.last_mut().unwrap().parts {
        if let Part::Tool(call) = part
            && let ToolState::ApprovalRequested { input, approval } = &call.state
        {
            let decision = Decision { approved, reason: None };
            let (input, approval) = (input.clone(), approval.clone().decided(decision));
            call.state = ToolState::ApprovalResponded { input, approval };
        }
    }
}

pub(crate) fn question() -> Vec<Message> {
    vec![Message::user("q", "Pay")]
}

pub(crate) fn waiting(messages: &[Message]) -> Option<&ToolPart> {
    let mut calls = messages.last().unwrap().tools();
    calls.find(|call| matches!(call.state, ToolState::ApprovalRequested { .. }))
}

/// Returns the output of the program.
pub(crate) fn output(messages: &[Message]) -> Value {
    let mut calls = messages.last().unwrap().tools();
    match &calls.find(|call| call.name == *"python").unwrap().state {
        ToolState::OutputAvailable { output, .. } => output.to_value(),
        ToolState::OutputError { error_text, .. } => error_text.as_str().into(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Is the server that is killed, if its folder is named.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_while_a_program_waits() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else { return };
    let messages = post(&server(&folder.join("effects"), Code::new()).await, question()).await;
    fs::write(folder.join("part"), serde_json::to_string(&messages).unwrap()).unwrap();
    fs::rename(folder.join("part"), folder.join("messages")).unwrap();
    future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_waits_goes_on_after_its_server_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let (effects, kept) = (folder.path().join("effects"), folder.path().join("messages"));
    let mut first = Command::new(env::current_exe().unwrap());
    first.args(["--exact", "suspended::a_server_that_is_killed_while_a_program_waits"]);
    let mut first = first.env(FOLDER, folder.path()).stdout(Stdio::null()).spawn().unwrap();
    while !kept.exists() {
        assert!(first.try_wait().unwrap().is_none(), "the server ended by itself");
        sleep(Duration::from_millis(10)).await;
    }
    first.kill().unwrap();
    first.wait().unwrap();

    let text = fs::read_to_string(kept).unwrap();
    let mut messages = read::messages(&text.into(), &Limits::default()).unwrap();
    let asked = waiting(&messages).unwrap();
    assert_eq!(
        (asked.name.as_str(), asked.state.input().unwrap().to_value()),
        ("pay", json!({ "cents": 500 }))
    );
    assert_eq!(lines(&effects), ["\"look\""]);

    answer(&mut messages, true);
    messages = post(&server(&effects, Code::new()).await, messages).await;
    assert_eq!(lines(&effects), ["\"look\"", "500"], "what was done is not repeated");
    assert_eq!(waiting(&messages).unwrap().state.input().unwrap().to_value(), json!({ "cents": 700 }));

    answer(&mut messages, false);
    messages = post(&server(&effects, Code::new()).await, messages).await;
    assert_eq!(lines(&effects), ["\"look\"", "500"]);
    let output = output(&messages);
    assert_eq!((&output["result"], &output["error"]), (&json!(["look", 500]), &Value::Null), "{output}");
    assert_eq!(output["stdout"], "looks\nThe user denied this call; it was not run.\nends\n");
    assert!(messages.last().unwrap().text().ends_with("Done."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_does_not_go_on_with_other_limits() {
    let folder = tempfile::tempdir().unwrap();
    let effects = folder.path().join("effects");
    let mut messages = post(&server(&effects, Code::new()).await, question()).await;
    answer(&mut messages, true);
    let messages = post(&server(&effects, Code::new().memory(8 << 20)).await, messages).await;
    assert_eq!(lines(&effects), ["\"look\""]);
    assert!(output(&messages).as_str().unwrap().contains("Run it again"), "{messages:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_asks_after_its_agents_and_counts_on() {
    const CODE: &str = "first = fork('Look')\n\
        try:\n    pay(cents=1)\n\
        except RuntimeError as error:\n    refused = 'Wait for all agents' in str(error)\n\
        said = wait(first)['result']\n\
        before = number()\n\
        paid = pay(cents=2)\n\
        second = fork('Look again')\n\
        [refused, said, paid, second, wait(second)['result'], before == number()]";
    for by_hook in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let effects = folder.path().join("effects");
        let mut pay = effect("pay", effects.clone(), false);
        if !by_hook {
            pay = pay.requires_approval(Approval::always());
        }
        let object = json!({ "type": "object" });
        let number = Tool::from_fn_with_schema("number", "Numbers", object, |_: Value, call: ToolContext| {
            future::ready(Ok::<_, ToolError>(call.call_id().to_string()))
        });
        let python = Python::pool(pool(1).await).functions([pay, number]).fork("worker");
        let worker = ScriptedProvider::new().otherwise(|_| text("seen"));
        let model = ScriptedProvider::new().turn(call("python", json!({ "code": CODE }))).turn(text("Done."));
        let assistant = Assistant::builder(model)
            .agent(Agent::new("worker", "Works.").provider(worker))
            .tool(python.tool("python").unwrap())
            .before_tool(move |call: ToolContext| async move {
                Ok::<_, ToolError>(match call.tool_name().as_str() {
                    "pay" if by_hook => ToolDecision::RequireApproval(None),
                    _ => ToolDecision::Allow,
                })
            })
            .build()
            .unwrap();
        let mut messages = post(&assistant, question()).await;
        let asked = waiting(&messages).map(|call| call.state.input().unwrap().to_value());
        assert_eq!(asked, Some(json!({ "cents": 2 })), "{messages:?}");
        assert!(lines(&effects).is_empty());
        answer(&mut messages, true);
        let messages = post(&assistant, messages).await;
        assert_eq!(lines(&effects), ["2"]);
        let output = output(&messages);
        assert_eq!(output["result"], json!([true, "seen", 2, 2, "seen", false]), "{output}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_too_large_to_wait_gets_an_exception() {
    let folder = tempfile::tempdir().unwrap();
    let effects = folder.path().join("effects");
    let pay = effect("pay", effects.clone(), false).requires_approval(Approval::always());
    let python = Python::pool(pool(1).await).functions([pay]).tool("python").unwrap();
    let code = "large = 'x' * 40000\ntry:\n    pay(cents=1)\nexcept RuntimeError as error:\n    text = str(error)\ntext";
    let model = ScriptedProvider::new().turn(call("python", json!({ "code": code }))).turn(text("Done."));
    let assistant = Assistant::builder(model).tool(python).build().unwrap();
    let messages = post(&assistant, question()).await;
    assert!(waiting(&messages).is_none());
    let output = output(&messages);
    assert_eq!(output["result"], "The call cannot wait for the user: its state is too large.", "{output}");
}
