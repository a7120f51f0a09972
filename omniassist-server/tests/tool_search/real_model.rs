//! A test of a real model with 300 tools. It needs the address of a model and prints its measurements:
//!
//! ```text
//! OMNIASSIST_TOOL_SEARCH_BASE_URL=http://127.0.0.1:18080/v1 OMNIASSIST_CONSTRAINED_TOOLS=1 \
//!     cargo test -p omniassist-server --test server -- --nocapture among_300_tools
//! ```
//!
//! With `OMNIASSIST_CONSTRAINED_TOOLS=1`, the request has a JSON schema in place of tools. With
//! `OMNIASSIST_TOOL_EXAMPLES=1`, each tool has an example.

use std::env;
use std::sync::Arc;

use futures_util::StreamExt;
use omniassist_server::core::message::{Message, ToolState};
use omniassist_server::core::transcript::UserContent;
use omniassist_server::core::{LlmPayload, ModelOptions, RunRequest, ToolChoice, TranscriptItem};
use omniassist_server::provider::LlmProvider;
use omniassist_server::provider::openai::OpenAiChatProvider;
use omniassist_server::{Assistant, AssistantBuilder, Refusal, RunContext, RunPlan, StepPlan};

use super::catalogue::{Calls, QUESTIONS, tools, tools_with_examples};

fn provider(base_url: &str) -> OpenAiChatProvider {
    let model = env::var("OMNIASSIST_E2E_MODEL").unwrap_or_else(|_| "smollm2-135m-instruct".into());
    let provider = OpenAiChatProvider::builder().base_url(base_url).model(model);
    provider.constrained_tools(env::var_os("OMNIASSIST_CONSTRAINED_TOOLS").is_some()).build().unwrap()
}

/// Requires a search, then a call, then the answer. Weak models do not choose these steps without it.
fn prepare_step(step: &mut StepPlan) -> std::future::Ready<Result<(), Refusal>> {
    match step.number() {
        1 => step.tool_choice(ToolChoice::Tool("tool_search".into())),
        2 => step.deny_tools(["tool_search"]).tool_choice(ToolChoice::Required),
        _ => step.tool_choice(ToolChoice::None),
    };
    std::future::ready(Ok(()))
}

/// Searches with the unchanged question in place of the model and offers the best tools.
async fn prepare(plan: &mut RunPlan, run: RunContext) -> Result<(), Refusal> {
    let question = run.messages().last().map(Message::text).unwrap_or_default();
    let best = plan.tools().search(&question).into_iter().take(5);
    let names: Vec<_> = best.map(|tool| tool.spec().name.clone()).collect();
    plan.allow_tools(names);
    Ok(())
}

/// Requires a call, then the answer.
fn prepare_step_after_search(step: &mut StepPlan) -> std::future::Ready<Result<(), Refusal>> {
    step.tool_choice(if step.number() == 1 { ToolChoice::Required } else { ToolChoice::None });
    std::future::ready(Ok(()))
}

fn options() -> Arc<ModelOptions> {
    let mut options = ModelOptions::default();
    (options.temperature, options.max_output_tokens) = (Some(0.0), Some(80));
    options.into()
}

/// Returns the events or the error of a request with the definitions of all tools.
async fn with_all_tools(provider: &OpenAiChatProvider, question: &str) -> String {
    let content = vec![UserContent::Text { text: question.into() }];
    let mut payload = LlmPayload::new(vec![TranscriptItem::User { content }]);
    payload.tools = super::snapshot(tools(&Calls::default())).specs();
    payload.options = options();
    let events: Vec<_> = provider.stream(payload).collect().await;
    let said = events.iter().map(|event| match event {
        Ok(event) => format!("{event:?}"),
        Err(error) => format!("{error}: {}", error.detail().unwrap_or_default()),
    });
    said.collect::<Vec<_>>().join(" ")
}

/// Returns the names of the tools that the search of a run found.
fn found(message: &Message) -> Vec<String> {
    let search = message.tools().find(|part| part.name == "tool_search");
    let Some(ToolState::OutputAvailable { output, .. }) = search.map(|part| &part.state) else {
        return Vec::new();
    };
    let found = output.to_value()["tools"].as_array().cloned().unwrap_or_default();
    found.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// Asks all questions and prints the results.
#[expect(clippy::print_stdout, reason = "the test prints measurements")]
async fn ask_all(name: &str, assistant: impl Fn(&Calls) -> AssistantBuilder) {
    let (mut is_found, mut is_first, mut is_called, mut input) = (0, 0, 0, 0);
    for (question, wanted) in QUESTIONS {
        let calls = Calls::default();
        let mut request = RunRequest::prompt(question);
        request.options = Some(options());
        let outcome = assistant(&calls).build().unwrap().run(request).outcome().await.unwrap();
        let (found, called) = (found(&outcome.message), calls.lock().unwrap().clone());
        let used = outcome.usage.input_tokens.unwrap_or_default();
        is_found += usize::from(found.iter().any(|name| name == wanted));
        is_first += usize::from(found.first().is_some_and(|name| name == wanted));
        is_called += usize::from(called.first().is_some_and(|name| name == wanted));
        input += used;
        println!(
            "{question}\n    wanted {wanted}, found {found:?}, called {called:?}, {used} tokens of input"
        );
    }
    let (all, input) = (QUESTIONS.len(), input / 20);
    println!(
        "{name}, of {all}: found {is_found}, first {is_first}, called {is_called}; {input} tokens of input a run"
    );
}

#[tokio::test]
async fn a_real_model_calls_the_right_one_among_300_tools() {
    let Ok(base_url) = env::var("OMNIASSIST_TOOL_SEARCH_BASE_URL") else {
        return println!("not run: OMNIASSIST_TOOL_SEARCH_BASE_URL names no server");
    };
    let has_examples = env::var_os("OMNIASSIST_TOOL_EXAMPLES").is_some();
    let shop = |calls: &Calls| {
        let tools = if has_examples { tools_with_examples(calls) } else { tools(calls) };
        tools.into_iter().fold(Assistant::builder(provider(&base_url)), AssistantBuilder::tool)
    };
    println!("with all definitions: {:.400}", with_all_tools(&provider(&base_url), QUESTIONS[0].0).await);
    ask_all("the host searches", |calls| {
        shop(calls).prepare(prepare).prepare_step(prepare_step_after_search)
    })
    .await;
    ask_all("the model searches", |calls| shop(calls).prepare_step(prepare_step)).await;
}
