use omniassist_server::testing::{ScriptedProvider, Turn, call, reasoning, text};
use omniassist_server::{Approval, Assistant, Error, ProviderErrorKind, Tool, ToolError};
use serde_json::{Value, json};
use std::time::Duration;

use super::Entry;
use crate::stage::{
    adder, adding, ag_ui_input, assistant, chat_request, closed, conversation, invoice, run, says,
};
use crate::wire::Ask;

fn talker() -> Assistant {
    assistant(says("Hello")).tool(adder()).object(invoice()).build().unwrap()
}

fn calculating() -> Assistant {
    assistant(adding()).tool(adder()).build().unwrap()
}

fn failing_at_once() -> Assistant {
    let busy = || Error::provider(ProviderErrorKind::RateLimited).with_retry_after(Duration::from_secs(7));
    assistant(ScriptedProvider::new().otherwise(move |_| Turn::error(busy())))
        .object(invoice())
        .build()
        .unwrap()
}

fn failing_later() -> Assistant {
    let model = ScriptedProvider::new().otherwise(|_| text("Half").then(Turn::interrupted()));
    assistant(model).object(invoice()).build().unwrap()
}

fn thinking() -> Assistant {
    let model = ScriptedProvider::new().otherwise(|_| {
        reasoning("Hm, 東京?").then(text("Zürich 🧑‍🚀\n\r\n\u{2028}\0 end")).then(Turn::usage(3, 4))
    });
    assistant(model).build().unwrap()
}

/// Returns an assistant with a call that needs an approval, and a call that the client runs.
fn asking() -> Assistant {
    async fn ping() -> Result<&'static str, ToolError> {
        Ok("pong")
    }
    let model = ScriptedProvider::new()
        .otherwise(|_| call("ping", json!({})).then(call("show", json!({ "total": 1 }))));
    assistant(model)
        .tool(Tool::new("ping", "Pings", ping).requires_approval(Approval::always()))
        .tool(Tool::front_end_with_schema("show", "Shows", json!({ "type": "object" })))
        .build()
        .unwrap()
}

fn chatty() -> Assistant {
    let words: Vec<String> = (0..500).map(|number| format!("{number} ")).collect();
    assistant(ScriptedProvider::new().otherwise(move |_| Turn::text_chunks(words.clone()))).build().unwrap()
}

fn kit(method: &str) -> Value {
    json!({ "method": method, "params": { "agentId": "default", "threadId": "t" }, "body": ag_ui_input("t") })
}

fn closed_to_nobody() -> Assistant {
    closed(says("Hello")).allow_origin("https://app.example.com").build().unwrap()
}

/// Returns the requests. Most are for an assistant at `/assistant`.
pub(crate) fn entries() -> Vec<Entry> {
    let at = |path: &str| format!("/assistant{path}");
    let post = |path: &str, body: &Value| Ask::json(at(path), body);
    let completions = "/v1/chat/completions";
    let ask_of = |name, ask, assistant| Entry { name, mount: "/assistant", ask, assistant, is_cut: false };
    let cut = |entry: Entry| Entry { is_cut: true, ..entry };
    let talk = |name, ask| ask_of(name, ask, talker as fn() -> Assistant);
    let prompt = json!({ "prompt": "hi" });
    let input = ag_ui_input("t");
    let mut entries = vec![
        talk("run", run("/assistant")),
        talk("run-below-a-slash", run("/assistant/")),
        talk("run-as-ndjson", run("/assistant").header("accept", "text/html, application/x-ndjson;q=0.5")),
        talk("run-as-text", run("/assistant?protocol=text")),
        talk("run-of-version-5", run("/assistant?ai-sdk=5")),
        talk("run-without-a-chat", post("", &json!({ "messages": conversation("c")["messages"] }))),
        talk("run-for-a-client-that-takes-gzip", run("/assistant").header("accept-encoding", "gzip, br")),
        talk("run-for-a-user", run("/assistant").user("ann")),
        ask_of("run-with-a-tool", run("/assistant"), calculating),
        ask_of("run-with-a-tool-as-text", run("/assistant?protocol=text"), calculating),
        ask_of(
            "run-with-a-tool-as-ndjson",
            run("/assistant").header("accept", "application/x-ndjson"),
            calculating,
        ),
        ask_of("run-with-any-text", run("/assistant"), thinking),
        ask_of("run-with-many-deltas", run("/assistant"), chatty),
        ask_of("run-with-an-approval", run("/assistant"), asking),
        ask_of("run-that-fails", run("/assistant"), failing_at_once),
        ask_of("run-that-fails-later", run("/assistant"), failing_later),
        ask_of("text-that-fails", run("/assistant?protocol=text"), failing_at_once),
        cut(ask_of("text-that-fails-later", run("/assistant?protocol=text"), failing_later)),
        talk("completion", post("/completion", &prompt)),
        talk("completion-as-text", post("/completion?protocol=text", &prompt)),
        cut(ask_of("completion-that-fails-later", post("/completion?protocol=text", &prompt), failing_later)),
        talk("object", post("/object/invoice", &json!({ "page": 1 }))),
        talk("the-only-object", post("/object", &json!("a page"))),
        talk("no-such-object", post("/object/other", &json!(1))),
        ask_of("object-that-fails", post("/object", &json!(1)), failing_at_once),
        cut(ask_of("object-that-fails-later", post("/object", &json!(1)), failing_later)),
        talk("openai", post(completions, &chat_request(false))),
        talk("openai-streamed", post(completions, &chat_request(true))),
        ask_of("openai-with-a-tool", post(completions, &chat_request(false)), calculating),
        ask_of("openai-with-a-tool-streamed", post(completions, &chat_request(true)), calculating),
        ask_of("openai-with-any-text", post(completions, &chat_request(true)), thinking),
        ask_of("openai-that-fails", post(completions, &chat_request(false)), failing_at_once),
        ask_of("openai-that-fails-streamed", post(completions, &chat_request(true)), failing_at_once),
        ask_of("openai-that-fails-later", post(completions, &chat_request(true)), failing_later),
        talk(
            "openai-with-a-wrong-field",
            post(completions, &json!({ "model": "omniassist", "messages": 1 })),
        ),
        talk("openai-with-another-model", post(completions, &json!({ "model": "gpt", "messages": [] }))),
        talk("openai-models", Ask::get(at("/v1/models"))),
        talk("openai-model", Ask::get(at("/v1/models/omniassist"))),
        talk("openai-no-such-model", Ask::get(at("/v1/models/gpt%2D5"))),
        talk("openai-unknown-path", Ask::get(at("/v1/nowhere"))),
        talk("openai-method", Ask::get(at(completions))),
        talk("ag-ui", post("/ag-ui", &input)),
        ask_of("ag-ui-with-a-tool", post("/ag-ui", &input), calculating),
        ask_of("ag-ui-with-any-text", post("/ag-ui", &input), thinking),
        ask_of("ag-ui-with-an-approval", post("/ag-ui", &input), asking),
        ask_of("ag-ui-that-fails", post("/ag-ui", &input), failing_at_once),
        ask_of("ag-ui-that-fails-later", post("/ag-ui", &input), failing_later),
        talk("ag-ui-refused", post("/ag-ui", &json!({ "threadId": 1 }))),
        talk("copilotkit-info", Ask::get(at("/copilotkit/info"))),
        talk("copilotkit-threads", Ask::get(at("/copilotkit/threads?agentId=default"))),
        talk("copilotkit-run", post("/copilotkit/agent/default/run", &input)),
        talk("copilotkit-connect", post("/copilotkit/agent/default/connect", &input)),
        talk("copilotkit-stop", post("/copilotkit/agent/default/stop/t%20t", &json!({}))),
        talk("copilotkit-no-such-agent", post("/copilotkit/agent/%C3%A9/run", &input)),
        talk("copilotkit-refused", post("/copilotkit/agent/default/run", &json!([]))),
        talk("copilotkit-unknown-path", Ask::get(at("/copilotkit/a/b"))),
        talk("copilotkit-method", Ask::new("PUT", at("/copilotkit"))),
        talk("copilotkit-single-info", post("/copilotkit", &kit("info"))),
        talk("copilotkit-single-run", post("/copilotkit", &kit("agent/run"))),
        talk("copilotkit-single-connect", post("/copilotkit", &kit("agent/connect"))),
        talk("copilotkit-single-stop", post("/copilotkit", &kit("agent/stop"))),
        talk("copilotkit-single-other", post("/copilotkit", &kit("other"))),
        talk("stop", post("/c/stop", &json!({}))),
        talk("stop-without-a-body", Ask::new("POST", at("/c/stop"))),
        talk("stop-of-an-escaped-chat", Ask::new("POST", at("/a%2Fb%20c/stop"))),
        talk("stop-of-a-chat-in-invalid-utf-8", Ask::new("POST", at("/%FF/stop"))),
        talk("stream", Ask::get(at("/c/stream"))),
        talk("manifest", Ask::get(at("/manifest.json"))),
        talk("types", Ask::get(at("/types.d.ts"))),
        talk("head-of-the-manifest", Ask::new("HEAD", at("/manifest.json"))),
        talk("head-of-a-run", Ask::new("HEAD", at(""))),
        talk("head-of-an-unknown-path", Ask::new("HEAD", at("/nowhere"))),
        talk("head-of-a-stream", Ask::new("HEAD", at("/c/stream"))),
        talk("get-with-a-body", Ask::get(at("/manifest.json")).body("{}")),
        talk("unknown-path", Ask::get(at("/nowhere"))),
        talk("unknown-path-with-a-body", post("/nowhere", &json!({}))),
        talk("two-slashes", Ask::get(at("//manifest.json"))),
        talk("three-slashes", Ask::get(at("///manifest.json"))),
        talk("slashes-at-the-end", Ask::get(at("/manifest.json//"))),
        talk("dots", Ask::get(at("/x/../manifest.json"))),
        talk("escaped-letters", Ask::get(at("/%6Danifest.json"))),
        talk("escaped-slash", Ask::get(at("/v1%2Fmodels"))),
        talk("invalid-escape", Ask::get(at("/%zz/stream"))),
        talk("query-of-special-characters", Ask::get(at("/manifest.json?a=%zz&b=%C3%A9&c=[]{}|\\^`"))),
        talk("unknown-method", Ask::new("BREW", at("/manifest.json"))),
        talk("options", Ask::new("OPTIONS", at(""))),
        talk("get-of-the-run-route", Ask::get(at(""))),
        talk("put-of-the-run-route", Ask::new("PUT", at("/"))),
        talk("delete-of-a-chat", Ask::new("DELETE", at("/c/stop"))),
        talk("malformed-json", Ask::post(at(""), "{")),
        talk("empty-body", Ask::post(at(""), "")),
        talk("no-body", Ask::new("POST", at("")).header("content-type", "application/json")),
        talk("no-content-type", run("/assistant").without("content-type")),
        talk("other-content-type", run("/assistant").header("content-type", "text/plain; charset=utf-8")),
        talk("content-encoding-gzip", run("/assistant").header("content-encoding", "gzip")),
        talk("wrong-field", post("", &json!({ "messages": [{ "id": 1, "role": "user", "parts": [] }] }))),
        talk("unknown-role", post("", &json!({ "messages": [{ "id": "m", "role": "root", "parts": [] }] }))),
        talk("wrong-query", run("/assistant?protocol=morse")),
        talk("body-in-chunks", run("/assistant").pieces(3).unannounced()),
        talk("too-deep", Ask::post(at(""), format!("{}{}", "[".repeat(65), "]".repeat(65)))),
        talk("too-large", run("/assistant").padded((8 << 20) + 1)),
        talk("too-large-in-chunks", run("/assistant").padded((8 << 20) + 1).pieces(1 << 20).unannounced()),
        ask_of("anonymous", run("/assistant"), closed_to_nobody),
        ask_of("anonymous-to-openai", post(completions, &chat_request(true)), closed_to_nobody),
        ask_of("anonymous-to-copilotkit", post("/copilotkit", &kit("info")), closed_to_nobody),
        talk("other-origin", run("/assistant").header("sec-fetch-site", "cross-site")),
        talk("other-origin-to-openai", post(completions, &chat_request(true)).header("origin", "null")),
        talk("other-host", run("/assistant").host("evil.example")),
        ask_of(
            "listed-origin",
            run("/assistant").user("ann").header("origin", "https://app.example.com"),
            closed_to_nobody,
        ),
        ask_of(
            "preflight",
            Ask::new("OPTIONS", at("/completion"))
                .header("origin", "https://app.example.com")
                .header("access-control-request-method", "POST")
                .header("access-control-request-headers", "content-type"),
            closed_to_nobody,
        ),
        talk("the-backends-own-route", Ask::get("/health")),
        talk("widget", Ask::get(at("/widget.js"))),
        talk("widget-module-of-another-build", Ask::get(at("/w/000000000000/widget.js"))),
    ];
    let tag = omniassist_server::widget::tag("/assistant");
    let module = tag.rsplit_once("src=\"").unwrap().1.split('"').next().unwrap();
    for (name, accepted) in [
        ("widget-module-as-br", "gzip, br"),
        ("widget-module-as-gzip", "gzip"),
        ("widget-module-as-it-is", "gzip;q=0"),
    ] {
        let ask = Ask::get(module).header("accept-encoding", accepted);
        entries.push(talk(name, ask));
    }
    for (name, mount) in [("run-at-the-root", "/"), ("run-below-three-segments", "/a/b/c")] {
        entries.push(Entry { mount, ..talk(name, run(mount)) });
    }
    entries
}
