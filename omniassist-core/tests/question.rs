//! Tests of the validation of the last user message.

use bytes::Bytes;
use omniassist_core::dialect::{ag_ui, ai_sdk, chat_completions};
use omniassist_core::message::{Part, ProviderMetadata, ToolPart, ToolState, stored_file_id};
use omniassist_core::transcript::{TranscriptItem, UserContent, from_messages};
use omniassist_core::{Error, ErrorCode, JsonText, Limits, Message, RunRequest};
use serde_json::{Value, json};

fn ai_sdk(messages: Value) -> Result<RunRequest, Error> {
    let body = json!({ "messages": messages }).to_string();
    ai_sdk::read_request(Bytes::from(body), &Limits::default())
}

fn ag_ui(messages: Value) -> Result<RunRequest, Error> {
    let body = json!({ "threadId": "t", "runId": "r", "messages": messages }).to_string();
    ag_ui::read_request(Bytes::from(body), &Limits::default()).map(|posted| posted.request)
}

fn chat_completions(messages: Value) -> Result<RunRequest, Error> {
    let body = json!({ "model": "m", "messages": messages }).to_string();
    chat_completions::read_request(Bytes::from(body), &Limits::default()).map(|request| request.run)
}

fn user(id: &str, parts: Value) -> Value {
    json!({"id": id, "role": "user", "parts": parts})
}

#[track_caller]
fn refused(read: Result<RunRequest, Error>, path: &str) {
    let error = read.unwrap_err();
    assert_eq!((error.code(), error.path()), (ErrorCode::InvalidRequest, Some(path)), "{error}");
}

#[test]
fn a_last_user_message_without_readable_content_is_rejected() {
    let nothing = [
        json!([]),
        json!([{"type": "text", "text": ""}]),
        json!([{"type": "text", "text": " \n"}]),
        json!([{"type": "hologram", "of": "me"}, {"type": "data-x", "data": 1}, {"type": "step-start"}]),
    ];
    for parts in nothing {
        let answered = json!({"id": "a", "role": "assistant", "content": "Yes?"});
        refused(ai_sdk(json!([user("u1", json!([])), answered, user("u2", parts.clone())])), "messages[2]");
        // An older message of this kind does not end the chat, and an answer may follow it.
        let last = json!({"id": "u3", "role": "user", "content": "Hi"});
        ai_sdk(json!([user("u1", parts.clone()), last])).unwrap();
        ai_sdk(json!([user("u1", parts), answered])).unwrap();
    }
    refused(
        ai_sdk(json!([{"role": "user", "content": ""}, {"role": "narrator", "content": "x"}])),
        "messages[0]",
    );
    refused(ag_ui(json!([{"id": "u", "role": "user", "content": []}])), "messages[0]");
    refused(ag_ui(json!([{"id": "u", "role": "user", "content": [{"type": "hologram"}]}])), "messages[0]");
    refused(
        chat_completions(json!([{"role": "system", "content": "x"}, {"role": "user", "content": ""}])),
        "messages[1]",
    );
}

#[test]
fn forbidden_file_urls_are_not_sent_to_a_provider() {
    let file = |url: &str| json!({"type": "file", "mediaType": "image/png", "url": url});
    for url in
        ["file:///etc/passwd", "http://169.254.169.254/latest", "http://[fe80::1]/x", "ftp://a.example/x"]
    {
        refused(
            ai_sdk(json!([user("u", json!([{"type": "text", "text": "Look"}, file(url)]))])),
            "messages[0]",
        );
        // In an older message, the file is omitted.
        let next = json!({"id": "n", "role": "user", "content": "Hi"});
        let request = ai_sdk(json!([user("u", json!([file(url)])), next])).unwrap();
        let items = from_messages(&request.messages);
        assert!(!format!("{items:?}").contains(url), "{items:?}");
    }
    let image = |url: &str| json!([{"type": "image", "source": {"type": "url", "value": url}}]);
    refused(ag_ui(json!([{"id": "u", "role": "user", "content": image("file:///x")}])), "messages[0]");
    let image = json!([{"type": "image_url", "image_url": {"url": "http://169.254.169.254/x"}}]);
    refused(chat_completions(json!([{"role": "user", "content": image}])), "messages[0]");

    let request = ai_sdk(json!([user("u", json!([file("https://a.example/x.png")]))])).unwrap();
    let items = from_messages(&request.messages);
    assert!(matches!(
        items.as_slice(),
        [TranscriptItem::User { content }] if matches!(content.as_slice(), [UserContent::File { .. }])
    ));
}

#[test]
fn unknown_roles_do_not_end_a_chat() {
    let request = ag_ui(json!([
        {"id": "n", "role": "narrator", "content": 5},
        {"id": "u", "role": "user", "content": "Hi"},
    ]))
    .unwrap();
    assert_eq!((request.messages.len(), request.skipped_messages), (1, vec![0]));
}

#[test]
fn every_reader_applies_the_json_guard() {
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    for (key, value) in [("x", deep.as_str()), ("x", r#"{"a":1,"\u0061":2}"#)] {
        let ai_sdk = format!(r#"{{"messages":[{{"role":"user","content":"Hi"}}],"{key}":{value}}}"#);
        let ag_ui = format!(r#"{{"threadId":"t","runId":"r","messages":[],"{key}":{value}}}"#);
        let chat =
            format!(r#"{{"model":"m","messages":[{{"role":"user","content":"Hi"}}],"{key}":{value}}}"#);
        let prompt = format!(r#"{{"prompt":"Hi","{key}":{value}}}"#);
        let limits = Limits::default();
        let errors = [
            ai_sdk::read_request(Bytes::from(ai_sdk), &limits).unwrap_err(),
            ai_sdk::read_prompt(Bytes::from(prompt), &limits).unwrap_err(),
            ag_ui::read_request(Bytes::from(ag_ui), &limits).unwrap_err(),
            chat_completions::read_request(Bytes::from(chat), &limits).unwrap_err(),
        ];
        for error in errors {
            assert!(error.is_limit() || error.path() == Some("x.a"), "{error}");
        }
    }
}

/// Reads a request whose last message is a file with this URL.
fn read(url: &str) -> Result<RunRequest, Error> {
    ai_sdk(json!([user("u", json!([{"type": "file", "mediaType": "image/png", "url": url}]))]))
}

#[test]
fn web_and_data_urls_are_allowed() {
    for url in [
        "https://a.example/x.png",
        "HTTP://a.example",
        "https://user:pass@a.example:8443/x?y#z",
        "http://127.0.0.1:8000/x.png",
        "http://10.0.0.1/",
        "http://[::1]:80/x",
        "https://169.253.1.1/",
        "https://1690.254.1.1.example/",
        "data:image/png;base64,AAAA",
        "https://a.example/169.254.169.254",
    ] {
        assert!(read(url).is_ok(), "{url}");
    }
}

#[test]
fn other_schemes_and_link_local_hosts_are_rejected() {
    for url in [
        "",
        "x.png",
        "//169.254.169.254/",
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "ftp://a.example/",
        "gopher://a.example/",
        "gs://bucket/x",
        "https:a.example",
        "http:///x",
        "http://169.254.169.254/latest/meta-data",
        "http://169.254.169.254./",
        "http://169.254.0.0",
        "http://169.254.255.255:80",
        "http://a.example@169.254.169.254/",
        "http://2852039166/",
        "http://0xA9FEA9FE/",
        "http://0xa9.0xfe.0xa9.0xfe/",
        "http://0251.0376.0251.0376/",
        "http://169.254.43518/",
        "http://169.16689662/",
        "http://%31%36%39.254.169.254/",
        "http://１６９.254.169.254/",
        "http://169\u{3002}254.169.254/",
        "http:\\\\169.254.169.254/",
        "http://169.254.169.254\\@a.example/",
        "http://1\t69.254.169.254/",
        " http://169.254.169.254/",
        "http://[fe80::1]/",
        "http://[febf::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::169.254.169.254]/",
        "http://[fe80::1%25eth0]/",
        "http://[not-an-ip]/",
    ] {
        refused(read(url), "messages[0]");
    }
}

#[test]
fn the_id_of_a_stored_file_is_read_from_its_url() {
    let id = "file_0123456789abcdef0123456789abcdef";
    for start in ["/files/", "/assistant/files/", "https://a.example/files/", "http://a.example/files/files/"]
    {
        assert_eq!(stored_file_id(&format!("{start}{id}")), Some(id), "{start}");
    }
    for start in ["//a.example/files/", "files/", "ftp://a.example/files/", "/file/", ""] {
        assert_eq!(stored_file_id(&format!("{start}{id}")), None, "{start}");
    }
    let upper = id.to_uppercase().replace("FILE_", "file_");
    for other in [&id[..36], &format!("{id}0"), &id[5..], &upper] {
        assert_eq!(stored_file_id(&format!("/files/{other}")), None, "{other}");
    }
}

#[test]
fn a_step_of_asked_agents_belongs_to_the_step_before() {
    let call = |asked_by: Option<&str>| {
        let mut metadata = ProviderMetadata::default();
        if let Some(id) = asked_by {
            metadata.set_own(ProviderMetadata::AGENT, format!("researcher {id}"));
        }
        Part::Tool(ToolPart {
            call_id: "c".into(),
            name: "look".into(),
            dynamic: false,
            provider_executed: false,
            state: ToolState::InputAvailable { input: JsonText::EMPTY_OBJECT },
            metadata: Some(metadata),
        })
    };
    let last_step = |parts: &[Part]| {
        let mut message = Message::assistant("a", "x");
        message.parts = parts.to_vec();
        message.last_step()
    };
    let (step, own, asked) = (Part::StepStart, call(None), call(Some("c1")));
    assert_eq!(last_step(&[step.clone(), own.clone(), step.clone(), own.clone()]), 2);
    assert_eq!(last_step(&[step.clone(), own.clone(), step.clone(), asked.clone()]), 0);
    assert_eq!(last_step(&[step.clone(), own.clone(), step.clone(), asked.clone(), own.clone()]), 2);
    assert_eq!(
        last_step(&[step.clone(), own.clone(), step.clone()]),
        2,
        "a step without calls is the last one"
    );
    assert_eq!(last_step(std::slice::from_ref(&asked)), 0);
    let Part::Tool(asked) = asked else { panic!() };
    assert_eq!(asked.asked_by(), Some("c1"));
}
