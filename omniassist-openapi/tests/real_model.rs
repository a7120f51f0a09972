//! A test of a real model with the 1,200 operations of a large document. It needs the address of a model:
//!
//! ```text
//! OMNIASSIST_TOOL_SEARCH_BASE_URL=http://127.0.0.1:18080/v1 \
//!     cargo test -p omniassist-openapi --test openapi -- --nocapture a_real_model
//! ```
//!
//! The host searches with the question of the user and offers the model the best three tools. The model chooses one of them,
//! and its arguments. The request has a JSON schema in place of tools, for servers whose chat template has none.
//!
//! The model may be very small. One rule therefore makes two examples for each tool that needs no body, out of its summary and
//! invented values, and the document has the first two sentences of each description.
//!
//! SmolLM2-135M calls the right operation with the right values for 7 of the 10 questions. The aim of 8 is not
//! reached: it chooses a similar operation for the others.

use std::collections::BTreeSet;
use std::env;
use std::sync::Arc;
use std::time::{Duration, Instant};

use omniassist_openapi::OpenApi;
use omniassist_server::core::message::Message;
use omniassist_server::core::{Limits, ModelOptions, RunRequest, ToolChoice};
use omniassist_server::tool::{StateMap, Tools};
use omniassist_server::{Assistant, OpenAiChatProvider, Refusal, RunContext, RunPlan, StepPlan, Tool};
use serde_json::{Map, Value, json};

use crate::hub::text;
use crate::server::Server;

/// Questions, each with the request that answers it.
const QUESTIONS: [(&str, &str); 10] = [
    ("List the teams of the organization acme", "GET /orgs/acme/teams"),
    ("Show the invoices of the organization acme", "GET /orgs/acme/billing/invoices"),
    ("Which emojis can I use?", "GET /meta/emojis"),
    ("Delete the DNS zone 7 of the organization acme", "DELETE /orgs/acme/zones/7"),
    ("Download the archive of migration 3 of the organization acme", "GET /orgs/acme/migrations/3/archive"),
    ("List my GPG keys", "GET /user/gpg-keys"),
    ("Which Kubernetes clusters does the organization acme have?", "GET /orgs/acme/clusters"),
    ("Get the latest release of the repository acme/shop", "GET /repos/acme/shop/releases/latest"),
    ("Search repositories", "GET /search/repositories"),
    ("List the stargazers of the repository acme/shop", "GET /repos/acme/shop/stargazers"),
];

/// The number of tools that the model chooses from.
const OFFERED: usize = 3;

/// The values of the examples.
const INVENTED: [&str; 7] = ["globex", "initech", "umbrella", "hooli", "stark", "wonka", "acorn"];

/// Returns the document with only the first two sentences of each description.
fn document() -> Value {
    let mut document: Value = serde_json::from_str(&text()).unwrap();
    let paths = document["paths"].as_object_mut().unwrap();
    for operation in paths.values_mut().flat_map(|path| path.as_object_mut().unwrap().values_mut()) {
        let whole = operation["description"].as_str().unwrap();
        let first: Vec<&str> = whole.split("\n\n").take(2).collect();
        operation["description"] = first.join(" ").into();
    }
    document
}

/// Adds two examples, unless the tool needs a body: the summary with invented values, and the call with these values.
fn with_examples(index: usize, tool: &Tool) -> Tool {
    let tools = Tools::new(StateMap::new(), Limits::default());
    tools.register(tool.clone()).unwrap();
    let spec = Arc::clone(&tools.snapshot().specs()[0]);
    let required = spec.input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names: BTreeSet<&str> = required.collect();
    let property = |name: &str| &spec.input_schema["properties"][name];
    let kind = |name: &str| property(name)["type"].as_str().filter(|_| property(name).get("enum").is_none());
    if !names.iter().all(|name| matches!(kind(name), Some("string" | "integer"))) {
        return tool.clone();
    }
    (2 * index..2 * index + 2).fold(tool.clone(), |tool, number| {
        let value = |(place, name): (usize, &&str)| {
            let value = match kind(name) {
                Some("integer") => json!(number * 7 % 90 + 10),
                _ => json!(INVENTED[(number + place) % INVENTED.len()]),
            };
            ((*name).to_owned(), value)
        };
        let arguments: Map<String, Value> = names.iter().enumerate().map(value).collect();
        let request = request(&spec.description, &arguments);
        let request = if number % 2 == 0 { request } else { format!("Please: {request}") };
        tool.example(request, Value::Object(arguments))
    })
}

/// Returns a summary with the values of arguments.
fn request(summary: &str, arguments: &Map<String, Value>) -> String {
    let text =
        |name: &str| arguments.get(name).map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
    let repository = text("owner").zip(text("repo")).map(|(owner, repo)| format!("{owner}/{repo}"));
    let mut request = summary.to_owned();
    for (noun, general, value) in
        [("organization", "an organization", text("org")), ("repository", "a repository", repository)]
    {
        match value.map(|value| format!("{noun} {value}")) {
            Some(named) if request.contains(general) => {
                request = request.replace(general, &format!("the {named}"));
            }
            Some(named) => request.push_str(&format!(", {named}")),
            None => {}
        }
    }
    for name in arguments.keys().filter(|name| !["org", "owner", "repo"].contains(&name.as_str())) {
        request.push_str(&format!(", {name} {}", text(name).unwrap()));
    }
    request
}

async fn prepare(plan: &mut RunPlan, run: RunContext) -> Result<(), Refusal> {
    let question = run.messages().last().map(Message::text).unwrap_or_default();
    let best = plan.tools().search(&question).into_iter().take(OFFERED);
    let names: Vec<_> = best.map(|tool| tool.spec().name.clone()).collect();
    plan.allow_tools(names);
    Ok(())
}

fn prepare_step(step: &mut StepPlan) -> std::future::Ready<Result<(), Refusal>> {
    step.tool_choice(if step.number() == 1 { ToolChoice::Required } else { ToolChoice::None });
    std::future::ready(Ok(()))
}

#[tokio::test]
async fn a_real_model_calls_the_right_operation_of_1200() {
    let Ok(base_url) = env::var("OMNIASSIST_TOOL_SEARCH_BASE_URL") else {
        return println!("not run: OMNIASSIST_TOOL_SEARCH_BASE_URL names no server");
    };
    let server = Server::start().await;
    let hub = OpenApi::from_json("hub", &document().to_string()).unwrap();
    let hub = hub.server(server.url()).allow_hosts(["127.0.0.1"]).approval_for_writes(false);
    let tools = hub.tools().unwrap();
    let model = env::var("OMNIASSIST_E2E_MODEL").unwrap_or_else(|_| "smollm2-135m-instruct".into());
    let provider = OpenAiChatProvider::builder().base_url(base_url).model(model).constrained_tools(true);
    let assistant = Assistant::builder(provider.build().unwrap()).prepare(prepare).prepare_step(prepare_step);
    let mut tools: Vec<&Tool> = tools.tools().iter().collect();
    tools.sort_by_key(|tool| tool.name());
    let tools = tools.into_iter().enumerate().map(|(index, tool)| with_examples(index, tool));
    let assistant = tools.fold(assistant, |assistant, tool| assistant.tool(tool)).build().unwrap();
    let mut options = ModelOptions::default();
    (options.temperature, options.max_output_tokens) = (Some(0.0), Some(80));
    let options = Arc::new(options);

    let (mut right, start) = (0, Instant::now());
    for (question, wanted) in QUESTIONS {
        let (since, before) = (Instant::now(), server.received().len());
        let mut request = RunRequest::prompt(question);
        request.options = Some(Arc::clone(&options));
        let called = async {
            while server.received().len() == before {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        // The answer of the model does not matter.
        let ended = tokio::select! {
            () = called => "called".to_owned(),
            outcome = assistant.run(request).outcome() => format!("{:?}", outcome.map(|outcome| outcome.message)),
        };
        let received = server.received().get(before).cloned();
        let line = received.map(|received| format!("{} {}", received.method, received.target));
        let is_right = line.as_deref().and_then(|line| line.split('?').next()) == Some(wanted);
        right += usize::from(is_right);
        println!("{is_right} {question}: {line:?} after {:?} ({ended:.300})", since.elapsed());
    }
    println!("{right} of {} are right, in {:?}", QUESTIONS.len(), start.elapsed());
    // Another build of the model's server may round otherwise, and change one answer.
    assert!(right >= 6, "{right}");
}
