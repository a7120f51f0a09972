use std::sync::Arc;
use std::sync::atomic::Ordering;

use omniassist_server::core::message::{Part, ToolState};
use omniassist_server::core::run::ToolUse;
use omniassist_server::core::{ContextMessage, ModelOptions, RunEvent, RunRequest, ToolChoice};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::tool::{Approval, ChatId};
use omniassist_server::{Assistant, Extension, Principal, Refusal, RunContext, RunPlan, State, Tool};
use serde_json::json;

use super::{Rank, extensions, offered, post, question, tool};
use crate::approvals::{answer, call_refund, refund, state};

#[derive(Clone)]
struct Greeting(&'static str);

async fn by_role(
    plan: &mut RunPlan,
    Extension(role): Extension<Rank>,
    State(greeting): State<Greeting>,
    user: Principal,
    run: RunContext,
    ChatId(chat): ChatId,
) -> Result<(), Refusal> {
    tokio::task::yield_now().await;
    plan.system_prompt(format!("{} {user} in {chat}, {} messages", greeting.0, run.messages().len()));
    if role < Rank::Admin {
        plan.model("small").deny_tag("admin").max_steps(1);
    }
    plan.options_mut().max_output_tokens = Some(9);
    plan.context(ContextMessage::new("account", "account", json!({ "plan": "gold" })));
    plan.metadata("role", format!("{role:?}")).metadata("usage", "not the host's");
    Ok(())
}

fn planned(model: &ScriptedProvider) -> omniassist_server::AssistantBuilder {
    let mut options = ModelOptions::default();
    options.temperature = Some(0.5);
    Assistant::builder(model.clone())
        .state(Greeting("Greet"))
        .system_prompt("Not this one.")
        .model_options(options)
        .tool(tool("read"))
        .tool(tool("close").tag("admin"))
        .prepare(by_role)
}

#[tokio::test]
async fn a_plan_changes_the_request_to_the_provider() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = planned(&model).build().unwrap();
    let (messages, _) = post(&assistant, Rank::Viewer, question()).await;
    post(&assistant, Rank::Admin, question()).await;

    let payloads = model.payloads();
    assert_eq!(payloads[0].system.as_deref(), Some("Greet ada in c, 1 messages"));
    assert_eq!(payloads[0].model.as_deref(), Some("small"));
    assert_eq!(payloads[1].model, None, "the provider must use its own model");
    let options = &payloads[0].options;
    assert_eq!((options.temperature, options.max_output_tokens), (Some(0.5), Some(9)));
    assert_eq!(
        assistant.model_options().max_output_tokens,
        None,
        "the options must change for this run only"
    );
    assert_eq!((offered(&payloads[0]), offered(&payloads[1])), (vec!["read"], vec!["close", "read"]));
    assert!(format!("{:?}", payloads[0].transcript).contains("gold"));
    let metadata = messages.last().unwrap().metadata.clone().unwrap();
    assert_eq!(metadata["role"], "Viewer");
    assert_ne!(metadata["usage"], "not the host's");
}

#[tokio::test]
async fn a_plan_limits_the_steps_of_its_run() {
    let model = ScriptedProvider::new().otherwise(|payload| match payload.transcript.len() {
        1 => call("read", json!({})),
        _ => text("Read."),
    });
    let assistant = planned(&model).build().unwrap();
    let last = async |role| format!("{:?}", post(&assistant, role, question()).await.1.pop().unwrap());
    assert!(last(Rank::Viewer).await.contains("MaxSteps"));
    assert!(last(Rank::Admin).await.contains("Finish"));
}

#[tokio::test]
async fn hidden_tools_are_unknown_to_the_model_and_tool_lists_combine() {
    let model = ScriptedProvider::new().turn(call("b", json!({}))).turn(text("Hm."));
    let builder = ["a", "b", "c", "d"]
        .iter()
        .fold(Assistant::builder(model.clone()), |builder, name| builder.tool(tool(name)));
    let assistant = builder
        .prepare(async |plan: &mut RunPlan| {
            plan.allow_tools(["a", "b", "c"]).deny_tools(["b"]).retain_tools(|tool| tool.spec().name != "c");
            plan.tool_choice(ToolChoice::Tool("b".into()));
            assert_eq!(plan.tools().len(), 1);
            Ok(())
        })
        .build()
        .unwrap();
    post(&assistant, Rank::Admin, question()).await;
    let payloads = model.payloads();
    assert_eq!(offered(&payloads[0]), ["a"]);
    assert_eq!(
        payloads[0].tool_choice,
        ToolChoice::Auto,
        "a choice that names a hidden tool must be dropped"
    );
    assert!(format!("{:?}", payloads[1].transcript).contains("The tools are: a."));
}

#[tokio::test]
async fn functions_are_called_in_order_and_each_receives_the_changed_plan() {
    let (own, other) = (ScriptedProvider::new(), ScriptedProvider::new().with_model("big").turn(text("Hi")));
    let shared: Arc<dyn omniassist_server::LlmProvider> = Arc::new(other.clone());
    let assistant = Assistant::builder(own.clone())
        .model("mine")
        .tool(tool("a"))
        .prepare(move |plan: &mut RunPlan| {
            plan.model("dropped with its provider").provider(Arc::clone(&shared)).deny_tools(["a"]);
            std::future::ready(Ok(()))
        })
        .prepare(async |plan: &mut RunPlan| {
            assert!(plan.tools().is_empty());
            Ok(())
        })
        .build()
        .unwrap();
    assistant.run(RunRequest::prompt("Hi")).text().await.unwrap();
    assert!(own.payloads().is_empty());
    assert_eq!(other.payloads()[0].model, None);
}

/// Returns an assistant whose plan adds this tool to each run.
fn with_added(model: &ScriptedProvider, tool: Tool) -> Assistant {
    Assistant::builder(model.clone())
        .prepare(move |plan: &mut RunPlan| {
            let added = plan.add_tool(tool.clone()).map(drop);
            std::future::ready(added.map_err(Refusal::from))
        })
        .build()
        .unwrap()
}

#[tokio::test]
async fn an_approval_of_an_added_tool_is_valid_once() {
    let (tool, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().turn(call_refund(5)).otherwise(|_| text("Done."));
    let assistant = with_added(&model, tool);
    let (mut messages, _) = post(&assistant, Rank::Agent, question()).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    answer(&mut messages, true);
    let (done, _) = post(&assistant, Rank::Agent, messages.clone()).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert!(matches!(state(&done), ToolState::OutputAvailable { .. }));
    post(&assistant, Rank::Agent, messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1, "the approval must be valid only once");
}

#[tokio::test]
async fn a_run_is_refused_if_a_tool_cannot_be_added() {
    let model = ScriptedProvider::new();
    for (builder, added) in [
        (tool("a"), tool("a")),
        (tool("a"), Tool::new("b", "", async || Ok::<_, omniassist_server::ToolError>(()))),
    ] {
        let assistant = Assistant::builder(model.clone()).tool(builder).prepare(move |plan: &mut RunPlan| {
            let added = plan.add_tool(added.clone()).map(drop);
            std::future::ready(added.map_err(Refusal::from))
        });
        let failure = assistant.build().unwrap().run(RunRequest::prompt("Hi")).text().await.unwrap_err();
        assert_eq!(failure.refusal().unwrap().code(), "internal");
    }
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn a_plan_adds_no_tools_to_a_run_without_server_tools() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = with_added(&model, tool("extra"));
    let mut request = RunRequest::prompt("Hi");
    assistant.run(request.clone()).text().await.unwrap();
    request.tool_use = ToolUse::without_server_tools();
    assistant.run(request).text().await.unwrap();
    assert_eq!(offered(&model.payloads()[0]), ["extra"]);
    assert!(offered(&model.payloads()[1]).is_empty());
}

#[tokio::test]
async fn an_approved_call_does_not_run_when_the_plan_hides_its_tool() {
    let (tool, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("Well."));
    let assistant = Assistant::builder(model.clone())
        .tool(tool)
        .prepare(async |plan: &mut RunPlan, Extension(role): Extension<Rank>| {
            if role == Rank::Viewer {
                plan.deny_tools(["refund"]);
            }
            Ok(())
        })
        .build()
        .unwrap();
    let (mut messages, _) = post(&assistant, Rank::Agent, question()).await;
    answer(&mut messages, true);
    let (messages, events) = post(&assistant, Rank::Viewer, messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(events.iter().any(|event| matches!(event, RunEvent::ToolError { .. })));
    assert!(
        messages
            .last()
            .unwrap()
            .parts
            .iter()
            .any(|part| matches!(part, Part::Text(text) if text.text == "Well."))
    );
}

#[test]
fn a_missing_state_is_reported_when_the_assistant_is_built() {
    async fn greets(_: &mut RunPlan, _: State<Greeting>) -> Result<(), Refusal> {
        Ok(())
    }
    let error = Assistant::builder(ScriptedProvider::new()).prepare(greets).build().unwrap_err();
    assert!(error.is_configuration());
    assert!(
        error.to_string().contains("Greeting>`, and there is none; give it with `.state(value)`"),
        "{error}"
    );
}

#[tokio::test]
async fn the_report_of_a_run_names_the_model_of_its_plan() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let model = ScriptedProvider::new().turn(Turn::text("Hi"));
    let assistant = planned(&model)
        .on_run_end(move |report| log.lock().unwrap().push(report.run.model.clone()))
        .build()
        .unwrap();
    let mut request = RunRequest::prompt("Hi");
    request.chat_id = Some("c".into());
    assistant.try_run(request, extensions(Rank::Viewer)).await.unwrap().text().await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [Some("small".into())]);
}
