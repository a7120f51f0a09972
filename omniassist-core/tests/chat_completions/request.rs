use bytes::Bytes;
use omniassist_core::dialect::chat_completions::read_request;
use omniassist_core::message::{Message, Part, Role};
use omniassist_core::run::ClientAbilities;
use omniassist_core::{ErrorCode, Limits, ReasoningEffort, ToolSide};
use serde_json::{Value, json};

use super::{read, refused, said, with};

#[test]
fn requests_of_the_official_clients_are_read() {
    let request = read(&json!({
        "model": "omniassist",
        "stream": true,
        "stream_options": {"include_usage": true, "other": 1},
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "developer", "content": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}]},
            {"role": "user", "content": "Hi", "name": "ann"},
        ],
        "metadata": {"ticket": "17"},
        "user": "u-1", "seed": 7, "stop": ["x"], "logit_bias": {}, "store": true, "unheard_of": [1],
        "n": 1, "modalities": ["text"], "audio": null, "tools": null, "tool_choice": null, "temperature": null,
    }))
    .unwrap();
    assert_eq!(request.model, "omniassist");
    assert!(request.stream && request.include_usage);
    let run = request.run;
    assert_eq!(run.messages.len(), 3);
    assert_eq!(run.messages[0].role, Role::System);
    assert_eq!((run.messages[1].role, run.messages[1].text()), (Role::System, "Be brief.".to_owned()));
    assert_eq!(run.messages[2], Message::user("msg-2", "Hi"));
    assert_eq!(run.abilities, ClientAbilities::none().without_seals());
    assert_eq!(run.forwarded.unwrap().as_str(), r#"{"ticket":"17"}"#);
    assert!(run.chat_id.is_none() && run.options.is_none() && run.tools.is_empty());

    let plain = read(&with(json!({}))).unwrap();
    assert!(!plain.stream && !plain.include_usage && plain.run.forwarded.is_none());
    assert_eq!(plain.settings, Default::default());
}

#[test]
fn text_shares_the_body() {
    let body = Bytes::from(said(json!([{"role": "user", "content": "A text of some length"}])).to_string());
    let range = body.as_ptr_range();
    let request = read_request(body.clone(), &Limits::default()).unwrap();
    let Part::Text(text) = &request.run.messages[0].parts[0] else { panic!("expected a text part") };
    assert!(range.contains(&text.text.as_bytes().as_ptr()));
}

#[test]
fn invalid_requests_are_rejected() {
    for (body, code) in [
        ("", ErrorCode::InvalidJson),
        ("{\"model\":\"m\",\"messages\":[", ErrorCode::InvalidJson),
        ("{} x", ErrorCode::InvalidJson),
        ("[]", ErrorCode::InvalidRequest),
    ] {
        let error = read_request(Bytes::from(body), &Limits::default()).unwrap_err();
        assert_eq!(error.code(), code, "{body}");
    }
    assert!(read_request(Bytes::from_static(b"{\"model\":\"\xff\"}"), &Limits::default()).is_err());
    refused(&json!({"messages": [{"role": "user", "content": "Hi"}]}), "model");
    refused(&with(json!({"model": 5})), "model");
    refused(&json!({"model": "m"}), "messages");
    refused(&with(json!({"messages": null})), "messages");
    refused(&with(json!({"messages": {}})), "messages");
    refused(&with(json!({"messages": []})), "messages");
    refused(&with(json!({"messages": [5]})), "messages[0]");
    refused(&with(json!({"stream": "yes"})), "stream");
    refused(&with(json!({"stream_options": 1})), "stream_options");
    refused(&with(json!({"stream_options": {"include_usage": 1}})), "stream_options.include_usage");
    refused(&with(json!({"metadata": "x"})), "metadata");
    let twice = r#"{"model": "m", "messages": [], "messages": [{"role": "user", "content": "Hi"}]}"#;
    let error = read_request(Bytes::from(twice), &Limits::default()).unwrap_err();
    assert_eq!(error.path(), Some("messages"));
    let twice = r#"{"model": "m", "model": "n", "messages": [{"role": "user", "content": "Hi"}]}"#;
    assert_eq!(read_request(Bytes::from(twice), &Limits::default()).unwrap_err().path(), Some("model"));
    let twice = r#"{"model": "m", "messages": [{"role": "user", "content": "Hi", "content": "Ho"}]}"#;
    let error = read_request(Bytes::from(twice), &Limits::default()).unwrap_err();
    assert_eq!(error.path(), Some("messages[0].content"));
}

#[test]
fn unsupported_features_are_rejected() {
    refused(&with(json!({"n": 2})), "n");
    refused(&with(json!({"n": 0})), "n");
    refused(&with(json!({"n": "1"})), "n");
    refused(&with(json!({"modalities": ["text", "audio"]})), "modalities");
    refused(&with(json!({"audio": {"voice": "alloy", "format": "wav"}})), "audio");
    refused(&with(json!({"functions": []})), "functions");
    refused(&with(json!({"function_call": "auto"})), "function_call");
}

#[test]
fn the_settings_of_the_caller_are_read() {
    let settings = read(&with(json!({
        "temperature": 0.5, "top_p": 1, "max_tokens": 9, "max_completion_tokens": 7,
        "reasoning_effort": "low", "parallel_tool_calls": false,
    })))
    .unwrap()
    .settings;
    assert_eq!((settings.temperature, settings.top_p), (Some(0.5), Some(1.0)));
    assert_eq!(settings.max_tokens, Some(7));
    assert_eq!(settings.reasoning_effort, Some(ReasoningEffort::Low));
    assert_eq!(settings.parallel_tool_calls, Some(false));
    assert_eq!(read(&with(json!({"max_tokens": 9}))).unwrap().settings.max_tokens, Some(9));
    for (name, effort) in [
        ("minimal", ReasoningEffort::Minimal),
        ("medium", ReasoningEffort::Medium),
        ("high", ReasoningEffort::High),
        ("xhigh", ReasoningEffort::Other("xhigh".into())),
    ] {
        let read = read(&with(json!({ "reasoning_effort": name }))).unwrap().settings.reasoning_effort;
        assert_eq!(read, Some(effort));
    }
}

#[test]
fn settings_have_bounds() {
    for (key, good, bad) in [
        (
            "temperature",
            vec![json!(0), json!(2), json!(2.0)],
            vec![json!(-0.01), json!(2.01), json!("1"), json!(true)],
        ),
        ("top_p", vec![json!(0), json!(1)], vec![json!(-0.01), json!(1.01), json!([])]),
        (
            "max_tokens",
            vec![json!(1), json!(u32::MAX)],
            vec![json!(0), json!(1.5), json!(u64::from(u32::MAX) + 1), json!(-1)],
        ),
        ("max_completion_tokens", vec![json!(1)], vec![json!(0)]),
        (
            "reasoning_effort",
            vec![json!("none"), json!("a".repeat(16))],
            vec![json!(""), json!("a".repeat(17)), json!("lo\nw"), json!(1)],
        ),
        ("parallel_tool_calls", vec![json!(true)], vec![json!("true"), json!(1)]),
    ] {
        for value in good {
            read(&with(json!({ key: value }))).unwrap_or_else(|error| panic!("{key} {value}: {error}"));
        }
        for value in bad {
            refused(&with(json!({ key: value })), key);
        }
    }
}

#[test]
fn the_error_of_a_setting_tells_the_type_that_was_found() {
    for (value, found) in [(json!(3), "another number"), (json!("1"), "a string")] {
        let error = read(&with(json!({ "temperature": value }))).unwrap_err().to_string();
        assert!(error.contains(found), "{error}");
    }
}

#[test]
fn response_formats_are_read() {
    let format = |format: Value| with(json!({ "response_format": format }));
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let request = read(&format(json!({
        "type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema},
    })))
    .unwrap();
    assert_eq!(request.settings.response_schema, Some(("answer".into(), schema)));
    assert_eq!(request.run.messages.len(), 1);

    assert_eq!(read(&format(json!({"type": "text"}))).unwrap().settings.response_schema, None);
    let messages = json!([
        {"role": "user", "content": "A"}, {"role": "assistant", "content": "B"}, {"role": "user", "content": "C as JSON"},
    ]);
    let request =
        read(&with(json!({"response_format": {"type": "json_object"}, "messages": messages}))).unwrap();
    assert_eq!(request.settings.response_schema, None);
    let roles: Vec<Role> = request.run.messages.iter().map(|message| message.role).collect();
    assert_eq!(
        roles,
        [Role::User, Role::Assistant, Role::System, Role::User],
        "the note must precede the question"
    );
    assert!(request.run.messages[2].text().contains("JSON object"));

    refused(&format(json!("text")), "response_format");
    refused(&format(json!({})), "response_format.type");
    refused(&format(json!({"type": "grammar"})), "response_format.type");
    refused(&format(json!({"type": "json_schema"})), "response_format.json_schema");
    let with_schema = |inner: Value| format(json!({"type": "json_schema", "json_schema": inner}));
    refused(&with_schema(json!({"schema": {"type": "object"}})), "response_format.json_schema.name");
    refused(
        &with_schema(json!({"name": "a b", "schema": {"type": "object"}})),
        "response_format.json_schema.name",
    );
    refused(&with_schema(json!({"name": "a"})), "response_format.json_schema.schema");
    refused(
        &with_schema(json!({"name": "a", "schema": {"type": "array"}})),
        "response_format.json_schema.schema",
    );
}

#[test]
fn the_callers_tools_are_front_end_tools() {
    let parameters = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let function = json!({"name": "show", "description": "Shows", "parameters": parameters, "strict": true});
    let tools = json!([
        {"type": "function", "function": function},
        {"type": "function", "function": function},
        {"type": "function", "function": {"name": "bare"}},
    ]);
    let run = read(&with(json!({ "tools": tools }))).unwrap().run;
    assert_eq!(run.tools.len(), 2);
    assert_eq!((run.tools[0].name.as_str(), run.tools[0].description.as_str()), ("show", "Shows"));
    assert_eq!(run.tools[0].input_schema, parameters);
    assert!(run.tools.iter().all(|tool| tool.side == ToolSide::FrontEnd));
    assert_eq!(run.tools[1].input_schema, json!({"type": "object", "properties": {}}));
    assert!(run.tool_use.server_tools && run.past_tools.is_empty());

    let one = |tool: Value| with(json!({ "tools": [tool] }));
    refused(&with(json!({"tools": {}})), "tools");
    refused(&one(json!(1)), "tools[0]");
    refused(&one(json!({"function": {"name": "a"}})), "tools[0].type");
    refused(&one(json!({"type": "custom", "custom": {"name": "a"}})), "tools[0].type");
    refused(&one(json!({"type": "function"})), "tools[0].function");
    refused(&one(json!({"type": "function", "function": {}})), "tools[0].function.name");
    refused(&one(json!({"type": "function", "function": {"name": "a\nb"}})), "tools[0].function.name");
    refused(
        &one(json!({"type": "function", "function": {"name": "a", "parameters": {}}})),
        "tools[0].function.parameters",
    );
    refused(
        &one(json!({"type": "function", "function": {"name": "a", "description": 1}})),
        "tools[0].function.description",
    );
    let two = json!([
        {"type": "function", "function": {"name": "a", "description": "one"}},
        {"type": "function", "function": {"name": "a", "description": "two"}},
    ]);
    refused(&with(json!({ "tools": two })), "tools[1]");
}

#[test]
fn the_limits_are_exact() {
    let mut limits = Limits::default();
    limits.max_conversation_parts = 1_024;
    let read = |body: &Value| read_request(Bytes::from(body.to_string()), &limits);
    let limit = |body: &Value| read(body).unwrap_err().limit().map(|(name, _)| name);
    let user = json!({"role": "user", "content": "Hi"});

    assert!(read(&said(json!(vec![user.clone(); 1_024]))).is_ok());
    assert_eq!(limit(&said(json!(vec![user.clone(); 1_025]))), Some("max_conversation_parts"));
    let call = json!({"id": "c", "type": "function", "function": {"name": "a", "arguments": ""}});
    let spread = |count: usize| {
        let parts = vec![json!({"type": "text", "text": "x"}); count];
        said(json!([{"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": parts}]))
    };
    assert!(read(&spread(1_023)).is_ok());
    assert_eq!(limit(&spread(1_024)), Some("max_conversation_parts"));

    let parts =
        |count| said(json!([{"role": "user", "content": vec![json!({"type": "text", "text": "x"}); count]}]));
    assert!(read(&parts(limits.max_parts)).is_ok());
    assert_eq!(limit(&parts(limits.max_parts + 1)), Some("max_parts"));

    let calls = |count: usize| {
        let calls: Vec<Value> = (0..count)
            .map(|n| json!({"id": format!("c{n}"), "type": "function", "function": {"name": "a", "arguments": ""}}))
            .collect();
        said(json!([{"role": "assistant", "tool_calls": calls}, {"role": "user", "content": "Hi"}]))
    };
    assert!(read(&calls(limits.max_parts)).is_ok());
    assert_eq!(limit(&calls(limits.max_parts + 1)), Some("max_parts"));

    let id = |length: usize| {
        let call = json!({"id": "i".repeat(length), "function": {"name": "a", "arguments": "{}"}});
        said(json!([{"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "Hi"}]))
    };
    assert!(read(&id(limits.max_id_bytes)).is_ok());
    assert_eq!(limit(&id(limits.max_id_bytes + 1)), Some("max_id_bytes"));

    let tools = |count: usize| {
        let tools: Vec<Value> =
            (0..count).map(|n| json!({"type": "function", "function": {"name": format!("t{n}")}})).collect();
        with(json!({ "tools": tools }))
    };
    assert_eq!(read(&tools(limits.max_declared_tools)).unwrap().run.tools.len(), limits.max_declared_tools);
    assert_eq!(limit(&tools(limits.max_declared_tools + 1)), Some("max_declared_tools"));
}
