//! Tests of the usage and cost of runs: exact sums, and no sum if a part is unknown.

use std::future::ready;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::StreamExt;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::{LlmEvent, RunEvent, RunRequest, Usage};
use omniassist_server::http::AssistantService;
use omniassist_server::observe::RunReport;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Assistant, Cost, Price, Prices, RunOutcome, Tool, ToolError};
use serde_json::json;

async fn ping() -> Result<&'static str, ToolError> {
    Ok("pong")
}

fn usage(input: u64, output: u64, cached: Option<u64>) -> Usage {
    let mut usage = Usage::default();
    (usage.input_tokens, usage.output_tokens) = (Some(input), Some(output));
    usage.cached_input_tokens = cached;
    usage
}

fn prices() -> Prices {
    Prices::new().model("gpt-5-mini", Price::per_million_tokens(0.25, 2.0).cached_input(0.025))
}

fn two_steps(second: impl Into<Turn>) -> ScriptedProvider {
    let first = Turn::event(LlmEvent::Usage(usage(1_000, 100, Some(400))));
    ScriptedProvider::new()
        .with_model("gpt-5-mini")
        .turn([call("ping", json!({})), first])
        .turn(text("done").then(second))
}

async fn run(model: ScriptedProvider, prices: Option<Prices>) -> RunOutcome {
    let mut builder = Assistant::builder(model).tool(Tool::new("ping", "Pings", ping));
    if let Some(prices) = prices {
        builder = builder.prices(prices);
    }
    builder.build().unwrap().run(RunRequest::prompt("hi")).outcome().await.unwrap()
}

fn printed(cost: Option<Cost>) -> Option<String> {
    cost.map(|cost| cost.to_string())
}

#[tokio::test]
async fn the_cost_of_a_run_is_the_sum_of_its_steps() {
    let outcome = run(two_steps(Turn::usage(2_000, 50)), Some(prices())).await;
    assert_eq!(
        (outcome.usage.input_tokens, outcome.usage.output_tokens, outcome.usage.cached_input_tokens),
        (Some(3_000), Some(150), Some(400))
    );
    // The cost is (2600 · 0.25 + 400 · 0.025 + 150 · 2) / 1 000 000.
    assert_eq!(printed(outcome.cost).as_deref(), Some("0.00096"));
    assert_eq!(outcome.cost.unwrap().micros(), 960);
    let metadata = outcome.message.metadata.unwrap();
    assert_eq!(metadata["cost"], "0.00096");
    assert_eq!(metadata["usage"]["inputTokens"], 3_000);
    assert_eq!(metadata["usage"]["cachedInputTokens"], 400);
}

#[tokio::test]
async fn there_is_no_cost_if_a_part_of_it_is_unknown() {
    let named = |model: &str| {
        let start = LlmEvent::Start { id: None, model: Some(model.into()) };
        Turn::event(start).then(Turn::usage(1, 1))
    };
    let known = || Turn::usage(1, 1);
    let other = Prices::new().model("other", Price::per_million_tokens(1.0, 1.0));
    for (what, model, prices) in [
        ("no prices", two_steps(known()), None),
        ("no price of this model", two_steps(known()), Some(other)),
        ("a step without usage", two_steps(Turn::new()), Some(prices())),
        ("a step that another model answered", two_steps(named("someone-else")), Some(prices())),
    ] {
        let outcome = run(model, prices).await;
        assert_eq!(outcome.cost, None, "{what}");
        assert!(!outcome.message.metadata.unwrap()["cost"].is_string(), "{what}");
    }
    let outcome = run(two_steps(named("gpt-5-mini-2025-08-07")), Some(prices())).await;
    assert!(outcome.cost.is_some());
}

/// Anthropic reports the input and one token of output when an answer begins.
#[tokio::test]
async fn a_call_that_was_cut_off_keeps_its_tokens_and_has_no_cost() {
    let begun = |end: Turn| Turn::event(LlmEvent::Usage(usage(1_000, 1, None))).then([text("Hel"), end]);
    for (end, turn) in [
        ("dropped", begun(Turn::pending())),
        ("aborted", begun(Turn::pending())),
        ("interrupted", begun(Turn::interrupted())),
    ] {
        let report = Arc::<Mutex<Option<RunReport>>>::default();
        let kept = Arc::clone(&report);
        let model = ScriptedProvider::new().with_model("gpt-5-mini").turn(turn);
        let assistant = Assistant::builder(model)
            .prices(prices())
            .on_run_end(move |report: &RunReport| *kept.lock().unwrap() = Some(report.clone()))
            .build()
            .unwrap();
        let mut run = assistant.run(RunRequest::prompt("hi"));
        while !matches!(run.next().await, Some(RunEvent::TextDelta { .. })) {}
        match end {
            "dropped" => drop(run),
            "aborted" => {
                run.handle().abort("enough");
                run.for_each(|_| ready(())).await;
            }
            _ => run.for_each(|_| ready(())).await,
        }
        let report = report.lock().unwrap().take().unwrap();
        assert_eq!((report.usage, report.cost), (usage(1_000, 1, None), None), "{end}");
    }
}

#[tokio::test]
async fn the_client_receives_usage_and_cost_before_the_end() {
    let assistant = Assistant::builder(two_steps(Turn::usage(2_000, 50)))
        .allow_anonymous()
        .tool(Tool::new("ping", "Pings", ping))
        .prices(prices())
        .build()
        .unwrap();
    let body = json!({ "messages": [{ "id": "m", "role": "user", "content": "hi" }] }).to_string();
    let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    let request = request.body(Full::new(Bytes::from(body))).unwrap();
    let response = AssistantService::new(assistant).handle(request).await;
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8(bytes.into()).unwrap();
    let cost = body.find(r#"{"type":"message-metadata","messageMetadata":{"cost":"0.00096"}}"#).unwrap();
    let finish = body.find(r#""type":"finish""#).unwrap();
    assert!(cost < finish, "{body}");
    assert_eq!(body.matches(r#""type":"finish""#).count(), 1);
    assert!(body[finish..].contains(r#""inputTokens":3000"#), "{body}");
}

#[test]
fn sums_are_exact() {
    // Sums of such prices are inexact as floats, and 0.07 has no exact float.
    let price = Price::per_million_tokens(0.07, 0.1).cached_input(0.000_001);
    let once = price.cost(&usage(3, 1, Some(1))).unwrap();
    assert_eq!(once.to_string(), "0.000000240001");
    let sum: Cost = std::iter::repeat_n(once, 1_000_000).sum();
    assert_eq!(sum.to_string(), "0.240001");
    assert_eq!(once.micros(), 1, "the micros must be rounded up");
    assert_eq!(serde_json::to_string(&once).unwrap(), r#""0.000000240001""#);
    assert_eq!(Cost::default().to_string(), "0");

    let dearest = Price::per_million_tokens(1e9, 1e9).cost(&usage(u64::MAX, u64::MAX, None)).unwrap();
    assert_eq!(dearest.to_string(), "36893488147419103230000");
}

#[test]
fn cached_tokens_are_capped_at_the_input_tokens() {
    let price = Price::per_million_tokens(1.0, 1.0).cached_input(0.5);
    assert_eq!(printed(price.cost(&usage(10, 0, Some(99)))).as_deref(), Some("0.000005"));
    let plain = Price::per_million_tokens(1.0, 1.0);
    assert_eq!(printed(plain.cost(&usage(10, 0, Some(10)))).as_deref(), Some("0.00001"));
}

#[test]
fn cache_writes_have_their_own_price() {
    let written = |input: u64, cached: u64, written: u64| {
        let mut usage = usage(input, 0, Some(cached));
        usage.cache_write_input_tokens = Some(written);
        usage
    };
    let price = Price::per_million_tokens(1.0, 5.0).cached_input(0.1);
    // The first cost is 50 · 1 + 20 · 0.1 + 30 · 1. The second cost has 30 · 1.25.
    assert_eq!(printed(price.cost(&written(100, 20, 30))).as_deref(), Some("0.000082"));
    let price = price.cache_write(1.25);
    assert_eq!(printed(price.cost(&written(100, 20, 30))).as_deref(), Some("0.0000895"));
    // The charged tokens cannot exceed the input tokens.
    assert_eq!(printed(price.cost(&written(100, 20, 999))).as_deref(), Some("0.000102"));
    assert_eq!(printed(price.cost(&written(100, 999, 999))).as_deref(), Some("0.00001"));
    assert_eq!(price.cost(&usage(100, 0, Some(20))), price.cost(&written(100, 20, 0)));
}

#[test]
fn a_model_is_found_under_its_name_with_or_without_a_date() {
    let prices = Prices::new()
        .model("gpt-5", Price::per_million_tokens(1.0, 1.0))
        .model("gpt-5-2025-01-01", Price::per_million_tokens(2.0, 2.0))
        .model("claude", Price::per_million_tokens(3.0, 3.0));
    let found = |name| prices.price(name).copied();
    let costs = |price: f64| Some(Price::per_million_tokens(price, price));
    assert_eq!(found("gpt-5"), costs(1.0));
    assert_eq!(found("gpt-5-2025-08-07"), costs(1.0));
    assert_eq!(found("gpt-5-2025-01-01"), costs(2.0), "the full name must have precedence");
    assert_eq!(found("claude-20250929"), costs(3.0));
    assert_eq!(found("claude@20250929"), costs(3.0));
    for other in
        ["gpt-5-mini", "gpt-5-mini-2025-08-07", "gpt-5-high", "gpt-5-1", "gpt-5-2025", "-20250929", ""]
    {
        assert_eq!(found(other), None, "{other}");
    }
}

#[test]
fn an_invalid_price_is_refused() {
    for wrong in [-0.01, f64::NAN, f64::INFINITY, 1e9 + 1.0] {
        for price in [
            Price::per_million_tokens(wrong, 1.0),
            Price::per_million_tokens(1.0, wrong),
            Price::per_million_tokens(1.0, 1.0).cached_input(wrong),
            Price::per_million_tokens(1.0, 1.0).cache_write(wrong),
        ] {
            let prices = Prices::new().model("m", price);
            assert_eq!(prices.cost("m", &usage(1, 1, None)).filter(|_| wrong.is_nan()), None);
            let error = Assistant::builder(ScriptedProvider::new()).prices(prices).build().unwrap_err();
            assert!(error.is_configuration(), "{wrong}");
        }
    }
    assert!(Assistant::builder(ScriptedProvider::new()).prices(prices()).build().is_ok());
}
