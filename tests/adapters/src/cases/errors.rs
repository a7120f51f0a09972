//! Error answers.

use omniassist_server::testing::{FakeProvider, Reply, ScriptedProvider, Turn, call, text};
use serde_json::json;

use crate::host::Host;
use crate::stage::{
    adder, ag_ui_input, assistant, built, chat_request, conversation, invoice, openai, run, says, silent,
    stuck_after,
};
use crate::transport::Transport;
use crate::wire::{Answer, Ask};

async fn host(on: Transport, model: &ScriptedProvider) -> Host {
    let assistant = assistant(model.clone()).tool(adder()).object(invoice()).build().unwrap();
    Host::start(on, &assistant).await
}

async fn ask(host: &Host, ask: Ask) -> Answer {
    host.ask(&ask).await.whole().await
}

pub(crate) async fn malformed_json_is_refused(on: Transport) {
    let model = says("Hello");
    let host = host(on, &model).await;
    for body in ["", "{", "{\"messages\": [", "nonsense", "\u{feff}{}", "{\"messages\": []} x"] {
        let answer = ask(&host, Ask::post("/assistant", body.to_owned())).await;
        let error = answer.json()["error"].clone();
        assert_eq!((answer.status(), &error["code"]), (400, &json!("invalid_json")), "{body:?}");
    }
    assert!(model.payloads().is_empty());
}

pub(crate) async fn only_json_content_types_are_accepted(on: Transport) {
    let model = says("Hello");
    let host = host(on, &model).await;
    for wrong in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("json")] {
        let asked = run("/assistant").without("content-type");
        let asked = match wrong {
            None => asked,
            Some(wrong) => asked.header("content-type", wrong),
        };
        let answer = ask(&host, asked).await;
        let error = answer.json()["error"].clone();
        assert_eq!((answer.status(), &error["code"]), (415, &json!("unsupported_media_type")), "{wrong:?}");
    }
    assert!(model.payloads().is_empty());
    for right in ["Application/JSON; charset=utf-8", "application/vnd.api+json"] {
        let answer = ask(&host, run("/assistant").header("content-type", right)).await;
        assert_eq!(answer.words(), "Hello", "{right}");
    }
}

pub(crate) async fn the_error_names_the_wrong_field(on: Transport) {
    let host = host(on, &says("Hello")).await;
    let body =
        json!({ "messages": [{ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": 7 }] }] });
    let answer = ask(&host, Ask::json("/assistant", &body)).await;
    assert_eq!(answer.status(), 400);
    assert_eq!(answer.json()["error"]["path"], "messages[0].parts[0].text");
    let answer = ask(&host, run("/assistant?protocol=morse")).await;
    assert_eq!((answer.status(), &answer.json()["error"]["path"]), (400, &json!("?protocol")));
    let answer = ask(&host, run("/assistant?ai-sdk=4")).await;
    assert_eq!((answer.status(), &answer.json()["error"]["path"]), (400, &json!("?ai-sdk")));
}

pub(crate) async fn each_dialect_has_its_own_error_format(on: Transport) {
    let host = host(on, &says("Hello")).await;
    let openai = ask(&host, Ask::json("/assistant/v1/chat/completions", &json!({ "messages": 1 }))).await;
    assert_eq!((openai.status(), &openai.json()["error"]["type"]), (400, &json!("invalid_request_error")));
    let kit = ask(&host, Ask::json("/assistant/copilotkit/agent/default/run", &json!({}))).await;
    assert_eq!((kit.status(), &kit.json()["error"]), (400, &json!("Invalid request body")));
    let ag_ui = ask(&host, Ask::json("/assistant/ag-ui", &json!({}))).await;
    assert_eq!((ag_ui.status(), &ag_ui.json()["error"]["code"]), (400, &json!("invalid_request")));
}

pub(crate) async fn provider_fails_before_the_first_byte(on: Transport) {
    let provider = FakeProvider::start().await.unwrap();
    let body = json!({ "error": { "message": "slow down", "code": "rate_limit_exceeded" } });
    provider.otherwise(Reply::json(429, &body).header("retry-after", "3600"));
    let assistant = assistant(openai(&provider)).limits(silent()).build().unwrap();
    let host = Host::start(on, &assistant).await;
    let told = ask(&host, run("/assistant")).await;
    assert_eq!(told.status(), 200);
    assert!(told.event("error")["errorText"].is_string());
    let text = ask(&host, run("/assistant?protocol=text")).await;
    assert_eq!((text.status(), text.header("retry-after")), (429, Some("3600")));
    let openai = ask(&host, Ask::json("/assistant/v1/chat/completions", &chat_request(true))).await;
    assert_eq!((openai.status(), openai.header("retry-after")), (429, Some("3600")));
    let ag_ui = ask(&host, Ask::json("/assistant/ag-ui", &ag_ui_input("t"))).await;
    assert_eq!((ag_ui.status(), ag_ui.events().last().unwrap()["type"].clone()), (200, json!("RUN_ERROR")));
}

pub(crate) async fn provider_fails_after_the_first_byte(on: Transport) {
    let model = ScriptedProvider::new().otherwise(|_| text("Half").then(Turn::interrupted()));
    let host = host(on, &model).await;
    let told = ask(&host, run("/assistant")).await;
    assert_eq!(told.words(), "Half");
    assert!(told.event("error")["errorText"].is_string());
    assert!(told.text().ends_with("data: [DONE]\n\n"));
    let lines = ask(&host, run("/assistant").header("accept", "application/x-ndjson")).await;
    assert!(lines.text().contains("\"error\""));
    let openai = ask(&host, Ask::json("/assistant/v1/chat/completions", &chat_request(true))).await;
    assert!(openai.events().iter().any(|event| event["error"].is_object()), "{}", openai.text());
    let whole = ask(&host, Ask::json("/assistant/v1/chat/completions", &chat_request(false))).await;
    assert!(whole.status() >= 500, "{}", whole.status());
    let ag_ui = ask(&host, Ask::json("/assistant/ag-ui", &ag_ui_input("t"))).await;
    assert_eq!(ag_ui.events().last().unwrap()["type"], "RUN_ERROR");
}

/// Plain text has no format for errors. The body is cut after the text so far.
pub(crate) async fn a_failure_cuts_plain_text(on: Transport) {
    let model = ScriptedProvider::new().otherwise(|_| text("Half").then(Turn::interrupted()));
    let host = host(on, &model).await;
    let stopped = built(stuck_after("Half"));
    let second = Host::start(on, &stopped).await;
    for path in ["?protocol=text", "/completion?protocol=text", "/object/invoice"] {
        let body = if path.starts_with('?') { conversation("c") } else { json!({ "prompt": "hi" }) };
        let answer = host.ask(&Ask::json(format!("/assistant{path}"), &body)).await.cut().await;
        assert_eq!((answer.status(), answer.text()), (200, "Half"), "{path}");
    }
    let mut running = second.ask(&run("/assistant?protocol=text")).await;
    running.until("Half").await;
    let stop = Ask::json("/assistant/c/stop", &json!({}));
    assert_eq!(ask(&second, stop).await.json()["stopped"], true);
    assert_eq!(running.cut().await.text(), "Half");
}

pub(crate) async fn a_tool_error_reaches_the_client_and_the_model(on: Transport) {
    let too_much = || call("add", json!({ "one": u32::MAX, "other": 1 }));
    let model = ScriptedProvider::new().turn(too_much()).turn(text("It is too much."));
    let host = host(on, &model).await;
    let answer = ask(&host, run("/assistant")).await;
    assert_eq!(answer.event("tool-output-error")["errorText"], "That is too much.");
    assert_eq!(answer.words(), "It is too much.");
}

pub(crate) async fn a_duplicate_run_is_refused(on: Transport) {
    let host = Host::start(on, &built(stuck_after("so far"))).await;
    let mut running = host.ask(&run("/assistant")).await;
    running.until("so far").await;
    let answer = ask(&host, run("/assistant")).await;
    assert_eq!((answer.status(), &answer.json()["error"]["code"]), (409, &json!("duplicate_run")));
}
