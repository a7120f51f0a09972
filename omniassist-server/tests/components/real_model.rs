//! A test of a real model with the built-in components. It needs the address of a model:
//!
//! ```text
//! OMNIASSIST_TOOL_SEARCH_BASE_URL=http://127.0.0.1:18080/v1 \
//!     cargo test -p omniassist-server --all-features --test server -- --nocapture components::real_model
//! ```
//!
//! The model chooses one of the twelve components and writes its props. The request has a JSON schema in place of tools,
//! for servers whose chat template has none. The model may be very small, so each component has examples with other
//! contents than the questions.

use std::env;
use std::sync::Arc;

use omniassist_server::component::Component;
use omniassist_server::core::message::ToolState;
use omniassist_server::core::{ModelOptions, RunRequest, ToolChoice};
use omniassist_server::ui::builtin;
use omniassist_server::{Assistant, OpenAiChatProvider, Refusal, StepPlan, Tool};
use serde_json::{Value, json};

/// Questions, each with the component that answers it.
const QUESTIONS: [(&str, &str); 10] = [
    ("Show a bar chart of the sales: North 5, South 7, East 3", "chart"),
    ("Show a table of the regions with their sales: North 5, South 7", "table"),
    ("Show the key figure revenue: 1,200 euros", "stat"),
    ("Make a list of the ingredients: flour, eggs, milk", "list"),
    ("Show the progress of the upload: 40 percent", "progress"),
    ("Show the Python code print('hello')", "code"),
    ("Show the picture https://example.com/cat.png of a cat", "image"),
    ("Let me choose a size: small, medium or large", "choices"),
    ("Show a timeline: 1969 the first moon landing, 1989 the fall of the wall", "timeline"),
    ("Show a form that asks for my name and my email", "form"),
];

/// Returns requests that a component answers, with its props.
fn examples(component: &str) -> Vec<(&'static str, Value)> {
    let column = |label: &str| json!({"label": label});
    match component {
        "card" => vec![
            ("Show a card of the customer Ada", json!({"title": "Ada", "text": "Customer since 2021"})),
            ("Show a card of the hotel Sonne", json!({"title": "Hotel Sonne", "subtitle": "Bern"})),
        ],
        "stat" => vec![
            ("Show the key figure visitors: 310", json!({"items": [{"label": "Visitors", "value": "310"}]})),
            ("Show the key figure orders: 42", json!({"items": [{"label": "Orders", "value": "42"}]})),
        ],
        "table" => vec![
            (
                "Show a table of the cities with their inhabitants: Rome 3, Oslo 1",
                json!({"columns": [column("City"), column("Inhabitants")], "rows": [["Rome", 3], ["Oslo", 1]]}),
            ),
            (
                "Show a table of the teams with their points: Reds 9, Blues 4",
                json!({"columns": [column("Team"), column("Points")], "rows": [["Reds", 9], ["Blues", 4]]}),
            ),
        ],
        "chart" => vec![
            (
                "Show a bar chart of the visitors: Monday 2, Tuesday 8",
                json!({"kind": "bar", "labels": ["Monday", "Tuesday"], "series": [{"name": "Visitors", "values": [2, 8]}]}),
            ),
            (
                "Show a line chart of the prices: May 4, June 6",
                json!({"kind": "line", "labels": ["May", "June"], "series": [{"name": "Prices", "values": [4, 6]}]}),
            ),
        ],
        "list" => vec![
            (
                "Make a list of the tools: hammer, saw",
                json!({"title": "Tools", "items": [{"text": "hammer"}, {"text": "saw"}]}),
            ),
            (
                "Make a list of the colours: red, blue",
                json!({"title": "Colours", "items": [{"text": "red"}, {"text": "blue"}]}),
            ),
        ],
        "form" => vec![
            (
                "Show a form that asks for the city",
                json!({"fields": [{"name": "city", "label": "City", "kind": "text"}]}),
            ),
            (
                "Show a form that asks for the date and the address",
                json!({"fields": [
                    {"name": "date", "label": "Date", "kind": "date"},
                    {"name": "address", "label": "Address", "kind": "text"},
                ]}),
            ),
        ],
        "choices" => vec![
            (
                "Let me choose a colour: red or blue",
                json!({"question": "Which colour?", "options": [
                    {"id": "red", "label": "red"}, {"id": "blue", "label": "blue"},
                ]}),
            ),
            (
                "Let me choose a day: Monday or Friday",
                json!({"question": "Which day?", "options": [
                    {"id": "monday", "label": "Monday"}, {"id": "friday", "label": "Friday"},
                ]}),
            ),
        ],
        "image" => vec![
            (
                "Show the picture https://example.org/dog.jpg of a dog",
                json!({"url": "https://example.org/dog.jpg", "alt": "a dog"}),
            ),
            (
                "Show the picture https://example.net/sea.png of the sea",
                json!({"url": "https://example.net/sea.png", "alt": "the sea"}),
            ),
        ],
        "progress" => vec![
            ("Show the progress of the backup: 75 percent", json!({"title": "Backup", "percent": 75})),
            ("Show the progress of the download: 10 percent", json!({"title": "Download", "percent": 10})),
        ],
        "timeline" => vec![
            (
                "Show a timeline: 1901 the first prize, 1945 the end of the war",
                json!({"events": [
                    {"time": "1901", "title": "the first prize"}, {"time": "1945", "title": "the end of the war"},
                ]}),
            ),
            (
                "Show a timeline: 9:00 breakfast, 12:00 lunch",
                json!({"events": [{"time": "9:00", "title": "breakfast"}, {"time": "12:00", "title": "lunch"}]}),
            ),
        ],
        "code" => vec![
            ("Show the Rust code let x = 1;", json!({"language": "rust", "code": "let x = 1;"})),
            ("Show the shell code ls -l", json!({"language": "shell", "code": "ls -l"})),
        ],
        "stack" => vec![(
            "Show beside each other the figures A 1 and B 2",
            json!({"direction": "row", "children": [
                {"component": "stat", "props": {"items": [{"label": "A", "value": "1"}]}},
                {"component": "stat", "props": {"items": [{"label": "B", "value": "2"}]}},
            ]}),
        )],
        other => panic!("{other}"),
    }
}

fn with_examples(component: Component) -> Tool {
    let examples = examples(component.name());
    examples.into_iter().fold(component.into_tool(), |tool, (request, props)| tool.example(request, props))
}

fn prepare_step(step: &mut StepPlan) -> std::future::Ready<Result<(), Refusal>> {
    step.tool_choice(if step.number() == 1 { ToolChoice::Required } else { ToolChoice::None });
    std::future::ready(Ok(()))
}

#[tokio::test]
async fn a_real_model_shows_the_right_component_with_valid_props() {
    let Ok(base_url) = env::var("OMNIASSIST_TOOL_SEARCH_BASE_URL") else {
        return println!("not run: OMNIASSIST_TOOL_SEARCH_BASE_URL names no server");
    };
    let model = env::var("OMNIASSIST_E2E_MODEL").unwrap_or_else(|_| "smollm2-135m-instruct".into());
    let provider = OpenAiChatProvider::builder().base_url(base_url).model(model).constrained_tools(true);
    let assistant = Assistant::builder(provider.build().unwrap()).prepare_step(prepare_step);
    let tools = builtin::all().into_iter().map(with_examples);
    let assistant = tools.fold(assistant, |assistant, tool| assistant.tool(tool)).build().unwrap();
    let mut options = ModelOptions::default();
    (options.temperature, options.max_output_tokens) = (Some(0.0), Some(160));
    let options = Arc::new(options);

    let mut right = 0;
    for (question, wanted) in QUESTIONS {
        let mut request = RunRequest::prompt(question);
        request.options = Some(Arc::clone(&options));
        let message = match assistant.run(request).message().await {
            Ok(message) => message,
            Err(failure) => failure.into_partial(),
        };
        let first = message.tools().next();
        let is_right = first.is_some_and(|call| {
            let is_valid = !matches!(call.state, ToolState::OutputError { .. });
            is_valid && call.name == *format!("ui_{wanted}")
        });
        right += usize::from(is_right);
        println!("{is_right} {question}: {first:?}");
    }
    println!("{right} of {} are right", QUESTIONS.len());
    // Another build of the model's server may round otherwise, and change one answer.
    assert!(right >= 8, "{right}");
}
