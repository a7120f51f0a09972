//! A validator of streams, by the stricter rules of both versions.

use std::collections::HashSet;

use omniassist_core::dialect::ag_ui::Version;
use serde_json::Value;

/// The fields of each event that this server may send: required and optional ones, in addition to `type` and
/// `metadata`.
const EVENTS: &[(&str, &[&str], &[&str])] = &[
    ("RUN_STARTED", &["threadId", "runId"], &["parentRunId"]),
    ("RUN_FINISHED", &["threadId", "runId"], &["outcome", "usage"]),
    ("RUN_ERROR", &["message"], &["code", "usage"]),
    ("STEP_STARTED", &["stepName"], &[]),
    ("STEP_FINISHED", &["stepName"], &[]),
    ("TEXT_MESSAGE_START", &["messageId"], &["role"]),
    ("TEXT_MESSAGE_CONTENT", &["messageId", "delta"], &[]),
    ("TEXT_MESSAGE_END", &["messageId"], &[]),
    ("TOOL_CALL_START", &["toolCallId", "toolCallName"], &["parentMessageId"]),
    ("TOOL_CALL_ARGS", &["toolCallId", "delta"], &[]),
    ("TOOL_CALL_END", &["toolCallId"], &[]),
    ("TOOL_CALL_RESULT", &["messageId", "toolCallId", "content"], &["role"]),
    ("STATE_SNAPSHOT", &["snapshot"], &[]),
    ("STATE_DELTA", &["delta"], &[]),
    ("ACTIVITY_SNAPSHOT", &["messageId", "activityType", "content"], &[]),
    ("ACTIVITY_DELTA", &["messageId", "activityType", "patch"], &[]),
    ("REASONING_START", &["messageId"], &[]),
    ("REASONING_MESSAGE_START", &["messageId", "role"], &[]),
    ("REASONING_MESSAGE_CONTENT", &["messageId", "delta"], &[]),
    ("REASONING_MESSAGE_END", &["messageId"], &[]),
    ("REASONING_END", &["messageId"], &[]),
    ("REASONING_ENCRYPTED_VALUE", &["subtype", "entityId", "encryptedValue"], &[]),
    ("CUSTOM", &["name", "value"], &[]),
];

/// Fields that are not strings.
const ANY: [&str; 7] = ["snapshot", "delta", "content", "patch", "value", "outcome", "usage"];

const USAGE: [&str; 5] =
    ["inputTokens", "outputTokens", "totalTokens", "reasoningTokens", "cachedInputTokens"];

/// The open parts and the parts seen so far.
#[derive(Default)]
struct Stream {
    is_loose: bool,
    started: bool,
    ended: bool,
    texts: HashSet<String>,
    reasoning: HashSet<String>,
    spans: HashSet<String>,
    calls: HashSet<String>,
    steps: HashSet<String>,
    /// Message ids, each used for one message.
    ids: HashSet<String>,
    /// Ids of calls and messages to which data can be attached.
    entities: HashSet<(String, String)>,
    /// Calls without a result.
    unanswered: Vec<String>,
    activities: HashSet<String>,
}

/// Panics at the first event that a client of this version rejects, or that violates the protocol. `known` are the
/// messages that the client already has.
pub(super) fn check(version: Version, known: &[Value], events: &[Value]) {
    check_with(Stream::default(), version, known, events);
}

/// Checks like [`check`], but accepts data for unknown ids, which clients ignore.
pub(super) fn check_loosely(version: Version, events: &[Value]) {
    check_with(Stream { is_loose: true, ..Stream::default() }, version, &[], events);
}

fn check_with(mut stream: Stream, version: Version, known: &[Value], events: &[Value]) {
    for message in known {
        let id = message["id"].as_str().unwrap();
        stream.ids.insert(id.to_owned());
        stream.entities.insert(("message".to_owned(), id.to_owned()));
        for call in message["toolCalls"].as_array().into_iter().flatten() {
            stream.entities.insert(("tool-call".to_owned(), call["id"].as_str().unwrap().to_owned()));
        }
    }
    for event in events {
        check_shape(version, event);
        stream.check(version, event);
    }
    assert!(stream.ended, "the stream has no end: {events:?}");
}

fn check_shape(version: Version, event: &Value) {
    let object = event.as_object().unwrap();
    let kind = object["type"].as_str().unwrap();
    let (_, required, optional) =
        EVENTS.iter().find(|(name, ..)| *name == kind).unwrap_or_else(|| panic!("{kind}"));
    for key in *required {
        assert!(object.contains_key(*key), "{kind} without {key}");
    }
    for (key, value) in object {
        let is_version = key == "protocolVersion" && kind == "RUN_STARTED";
        let known =
            key == "type" || key == "metadata" || required.contains(&&**key) || optional.contains(&&**key);
        assert!(known || (is_version && version == Version::V1), "{kind} with {key}");
        if key == "metadata" {
            assert!(value.is_object(), "{event}");
        } else if !ANY.contains(&&**key) || (key == "content" && kind == "TOOL_CALL_RESULT") {
            assert!(value.is_string(), "{kind}.{key} of {event}");
        }
        if !["snapshot", "value"].contains(&&**key) {
            assert!(!value.is_null(), "{kind}.{key}");
        }
    }
    let roles = [
        ("TEXT_MESSAGE_START", "assistant"),
        ("TOOL_CALL_RESULT", "tool"),
        ("REASONING_MESSAGE_START", "reasoning"),
    ];
    for (of, role) in roles {
        assert!(of != kind || event["role"] == role, "{event}");
    }
    match kind {
        "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" | "TOOL_CALL_ARGS" => {
            assert!(event["delta"].is_string(), "{event}");
        }
        "STATE_DELTA" => check_patch(&event["delta"]),
        "ACTIVITY_DELTA" => check_patch(&event["patch"]),
        "ACTIVITY_SNAPSHOT" => assert!(event["content"].is_object(), "{event}"),
        "REASONING_ENCRYPTED_VALUE" => {
            assert!(["message", "tool-call"].contains(&event["subtype"].as_str().unwrap()));
        }
        _ => {}
    }
    if let Some(usage) = object.get("usage") {
        let entries = usage.as_array().unwrap();
        assert!(!entries.is_empty());
        for entry in entries {
            for (key, count) in entry.as_object().unwrap() {
                let is_new = key == "cacheWriteInputTokens" && version == Version::V1;
                assert!(is_new || USAGE.contains(&&**key), "{key}");
                assert!(count.as_u64().unwrap() < 1 << 53, "{entry}");
            }
        }
    }
    if let Some(outcome) = object.get("outcome") {
        check_outcome(version, outcome);
    }
}

fn check_outcome(version: Version, outcome: &Value) {
    let keys: Vec<_> = outcome.as_object().unwrap().keys().map(String::as_str).collect();
    match outcome["type"].as_str().unwrap() {
        "success" => {
            assert_eq!(version, Version::V1);
            assert_eq!(keys, ["pendingToolCallIds", "type"]);
            assert!(outcome["pendingToolCallIds"].as_array().unwrap().iter().all(Value::is_string));
        }
        "cancelled" => {
            assert_eq!(version, Version::V1);
            assert_eq!(keys, ["type"]);
        }
        "interrupt" => {
            assert_eq!(keys, ["interrupts", "type"]);
            let interrupts = outcome["interrupts"].as_array().unwrap();
            assert!(!interrupts.is_empty());
            let ids: HashSet<_> =
                interrupts.iter().map(|interrupt| interrupt["id"].as_str().unwrap()).collect();
            assert_eq!(ids.len(), interrupts.len());
            for interrupt in interrupts {
                for (key, value) in interrupt.as_object().unwrap() {
                    match key.as_str() {
                        "id" | "reason" | "message" | "toolCallId" | "expiresAt" => {
                            assert!(value.is_string(), "{interrupt}");
                        }
                        "responseSchema" => assert!(value.is_object(), "{interrupt}"),
                        _ => panic!("{key} in {interrupt}"),
                    }
                }
                assert!(interrupt["reason"].is_string());
            }
        }
        other => panic!("{other}"),
    }
}

fn check_patch(patch: &Value) {
    let pointer = |value: &Value| {
        let text = value.as_str().unwrap();
        assert!(text.is_empty() || text.starts_with('/'), "{text}");
        let after: Vec<_> = text.match_indices('~').map(|(at, _)| text.get(at + 1..at + 2)).collect();
        assert!(after.iter().all(|next| matches!(next, Some("0" | "1"))), "{text}");
    };
    for operation in patch.as_array().unwrap() {
        pointer(&operation["path"]);
        match operation["op"].as_str().unwrap() {
            "add" | "replace" | "test" => assert!(operation.as_object().unwrap().contains_key("value")),
            "move" | "copy" => pointer(&operation["from"]),
            op => assert_eq!(op, "remove"),
        }
    }
}

impl Stream {
    fn check(&mut self, version: Version, event: &Value) {
        let kind = event["type"].as_str().unwrap();
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        assert!(!self.ended, "{event} after the end");
        assert!(self.started || kind == "RUN_STARTED" || kind == "RUN_ERROR", "{event} before the start");
        let id = text("messageId");
        match kind {
            "RUN_STARTED" => assert!(!std::mem::replace(&mut self.started, true), "two starts"),
            "STEP_STARTED" => assert!(self.steps.insert(text("stepName")), "{event}"),
            "STEP_FINISHED" => assert!(self.steps.remove(&text("stepName")), "{event}"),
            "TEXT_MESSAGE_START" => {
                self.new_message(&id);
                assert!(self.texts.insert(id));
            }
            "TEXT_MESSAGE_CONTENT" => assert!(self.texts.contains(&id), "{event}"),
            "TEXT_MESSAGE_END" => assert!(self.texts.remove(&id), "{event}"),
            "REASONING_START" => assert!(self.spans.insert(id), "{event}"),
            "REASONING_MESSAGE_START" => {
                self.new_message(&id);
                assert!(self.reasoning.insert(id));
            }
            "REASONING_MESSAGE_CONTENT" => assert!(self.reasoning.contains(&id), "{event}"),
            "REASONING_MESSAGE_END" => assert!(self.reasoning.remove(&id), "{event}"),
            "REASONING_END" => assert!(self.spans.remove(&id), "{event}"),
            "TOOL_CALL_START" => {
                let (call, parent) = (text("toolCallId"), text("parentMessageId"));
                if !self.ids.contains(&parent) {
                    self.new_message(&parent);
                }
                assert!(self.calls.insert(call.clone()), "{event}");
                assert!(self.entities.insert(("tool-call".to_owned(), call.clone())), "{event}");
                self.unanswered.push(call);
            }
            "TOOL_CALL_ARGS" => assert!(self.calls.contains(&text("toolCallId")), "{event}"),
            "TOOL_CALL_END" => assert!(self.calls.remove(&text("toolCallId")), "{event}"),
            "TOOL_CALL_RESULT" => {
                self.new_message(&id);
                self.unanswered.retain(|call| *call != text("toolCallId"));
            }
            "REASONING_ENCRYPTED_VALUE" => {
                let entity = (text("subtype"), text("entityId"));
                assert!(self.is_loose || self.entities.contains(&entity), "{event} for an unknown entity");
            }
            "ACTIVITY_SNAPSHOT" => drop(self.activities.insert(id)),
            "RUN_FINISHED" => {
                let open = [&self.texts, &self.reasoning, &self.spans, &self.calls, &self.steps];
                assert!(open.iter().all(|set| set.is_empty()), "{open:?} open at the end");
                self.check_pending(version, event);
            }
            _ => {}
        }
        self.ended = matches!(kind, "RUN_FINISHED" | "RUN_ERROR");
        assert!(self.activities.is_disjoint(&self.ids), "one id for an activity and another message");
    }

    fn new_message(&mut self, id: &str) {
        assert!(!id.is_empty());
        assert!(self.ids.insert(id.to_owned()), "two messages have the id {id}");
        self.entities.insert(("message".to_owned(), id.to_owned()));
    }

    /// Checks the pending calls. A client with front-end tools executes exactly these calls.
    fn check_pending(&self, version: Version, event: &Value) {
        let outcome = &event["outcome"];
        match (outcome["type"].as_str(), version) {
            (Some("success"), _) => {
                let pending: Vec<_> = outcome["pendingToolCallIds"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|id| id.as_str().unwrap().to_owned())
                    .collect();
                assert!(!pending.is_empty());
                assert_eq!(pending, self.unanswered);
            }
            (None, Version::V1) | (Some("cancelled"), _) => assert!(self.unanswered.is_empty(), "{event}"),
            _ => {}
        }
    }
}
