//! A real model among 300 tools. It needs the address of one, and prints what it measures:
//!
//! ```text
//! OMNIASSIST_TOOL_SEARCH_BASE_URL=http://127.0.0.1:18080/v1 cargo test -p omniassist-server --test server -- \
//!     --nocapture among_300_tools
//! ```

use omniassist_server::core::{ModelOptions, RunRequest, ToolChoice};
use omniassist_server::provider::openai::OpenAiChatProvider;
use omniassist_server::{Assistant, AssistantBuilder, Refusal, StepPlan};

use super::catalogue::{Calls, QUESTIONS, tools};

fn provider(base_url: &str) -> OpenAiChatProvider {
    let model = std::env::var("OMNIASSIST_E2E_MODEL").unwrap_or_else(|_| "smollm2-135m-instruct".into());
    let provider = OpenAiChatProvider::builder().base_url(base_url).model(model);
    provider.constrained_tools(true).build().unwrap()
}

/// Requires a search, then a call, then the answer, which weak models would not do by themselves.
fn prepare_step(step: &mut StepPlan) -> std::future::Ready<Result<(), Refusal>> {
    match step.number() {
        1 => step.tool_choice(ToolChoice::Tool("tool_search".into())),
        2 => step.deny_tools(["tool_search"]).tool_choice(ToolChoice::Required),
        _ => step.tool_choice(ToolChoice::None),
    };
    std::future::ready(Ok(()))
}

#[tokio::test]
async fn a_real_model_calls_the_right_one_among_300_tools() {
    let Ok(base_url) = std::env::var("OMNIASSIST_TOOL_SEARCH_BASE_URL") else {
        return println!("not run: OMNIASSIST_TOOL_SEARCH_BASE_URL names no server");
    };
    let (mut right, mut input) = (0, 0);
    for (question, tool) in QUESTIONS {
        let calls = Calls::default();
        let builder = Assistant::builder(provider(&base_url)).prepare_step(prepare_step);
        let assistant = tools(&calls).into_iter().fold(builder, AssistantBuilder::tool).build().unwrap();
        let mut request = RunRequest::prompt(question);
        let mut options = ModelOptions::default();
        (options.temperature, options.max_output_tokens) = (Some(0.0), Some(80));
        request.options = Some(options.into());
        let outcome = assistant.run(request).outcome().await;
        let usage = outcome.as_ref().map(|outcome| outcome.usage.input_tokens.unwrap_or_default());
        input += usage.as_ref().copied().unwrap_or_default();
        let called = calls.lock().unwrap().clone();
        right += usize::from(called.first().is_some_and(|name| name == tool));
        let parts: Vec<_> = match &outcome {
            Ok(outcome) => outcome.message.tools().map(|part| format!("{:?}", part.state)).collect(),
            Err(failure) => vec![failure.to_string()],
        };
        println!(
            "{question}\n    wanted {tool}, called {called:?}, {usage:?} tokens of input\n    {:.300}",
            parts.join("\n    ")
        );
    }
    println!("right: {right} of {}; tokens of input in a run: {}", QUESTIONS.len(), input / 20);
}
