//! Tests of the verification of a posted conversation.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use omniassist_core::message::{Message, Part, ProviderMetadata, ToolPart, ToolState, read};
use omniassist_core::run::{Gate, NoTools, ToolCatalog};
use omniassist_core::verify::{Claim, HistoryPart, Poster, Verdict, Verifier, history, history_with_seals};
use omniassist_core::{JsonText, Limits, RunRequest, Text, ToolSide};
use serde_json::{Value, json};

/// A verifier that counts its digests. A digest consists of its number and the length of its input.
#[derive(Default)]
struct Counting(AtomicU8);

impl Verifier for Counting {
    fn verify(&self, part: HistoryPart<'_>) -> Verdict {
        let make = |arguments: &str| {
            let mut digest = [u8::try_from(arguments.len()).unwrap(); 32];
            digest[0] = self.0.fetch_add(1, Ordering::Relaxed);
            digest
        };
        let expected = if part.arguments == Some("{}") { (0, 2) } else { (1, 7) };
        let digest = part.arguments_digest(make).unwrap();
        assert_eq!((digest[0], digest[1]), expected);
        Verdict::Accept
    }
}

#[test]
fn the_claims_of_a_part_share_a_digest() {
    let part = |id: &str, input: &str| {
        format!(
            r#"{{"type":"tool-t","toolCallId":"{id}","state":"output-available","input":{input},"output":1,
                "callProviderMetadata":{{"p":{{}}}}}}"#
        )
    };
    let parts = [part("a", "{}"), part("b", r#"{"a":1}"#)].join(",");
    let json = format!(r#"[{{"id":"m","role":"assistant","parts":[{parts}]}}]"#);
    let messages = read::messages(&json.into(), &Limits::default()).unwrap();
    let verifier = Counting::default();
    history(&mut RunRequest::new(messages), Poster::anonymous(0), &NoTools, &verifier).unwrap();
    assert_eq!(verifier.0.into_inner(), 2, "each part must compute one digest");
    let (message, part) = (Message::user("u", "x"), Part::StepStart);
    let none = HistoryPart::new(Claim::Call, &message, &part);
    assert_eq!(none.arguments_digest(|_| [1; 32]), None);
}

/// A verifier with one verdict, which notes the claims.
struct Scripted(Verdict, Mutex<Vec<Claim>>);

impl Verifier for Scripted {
    fn verify(&self, part: HistoryPart<'_>) -> Verdict {
        if part.claim == Claim::Output {
            assert_eq!(part.output, Some("1"));
        }
        self.1.lock().unwrap().push(part.claim);
        self.0
    }
}

/// `show` and `buy` run in the client, and `buy` needs an approval.
struct Tools;

impl ToolCatalog for Tools {
    fn side(&self, name: &str) -> Option<ToolSide> {
        Some(if name == "t" { ToolSide::Server } else { ToolSide::FrontEnd })
    }

    fn check(&self, _name: &str, _arguments: &JsonText) -> Result<(), Text> {
        Ok(())
    }

    fn gate(&self, name: &str, _arguments: &JsonText) -> Gate {
        if name == "buy" { Gate::Approval { message: None, editable: false } } else { Gate::Open }
    }
}

fn part(part: Value) -> Part {
    let json = json!([{"id": "m", "role": "assistant", "parts": [part]}]).to_string();
    read::messages(&json.into(), &Limits::default()).unwrap().remove(0).parts.remove(0)
}

fn tool(name: &str, state: &str, more: Value) -> Part {
    let mut json = json!({"type": format!("tool-{name}"), "toolCallId": "c", "state": state, "input": {}});
    json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    part(json)
}

fn request(parts: Vec<Part>) -> RunRequest {
    let mut answer = Message::assistant("m", "x");
    answer.parts = parts;
    RunRequest::new(vec![Message::user("u", "Hi"), answer])
}

/// Returns the claims that were verified, and the verified part.
fn verified(mut request: RunRequest, verdict: Verdict) -> (Vec<Claim>, Part, Vec<Text>) {
    let verifier = Scripted(verdict, Mutex::default());
    history(&mut request, Poster::anonymous(0), &Tools, &verifier).unwrap();
    let part = request.messages.remove(1).parts.remove(0);
    (verifier.1.into_inner().unwrap(), part, request.unaccepted)
}

fn metadata(part: &Part) -> Option<&ProviderMetadata> {
    match part {
        Part::Text(part) => part.metadata.as_ref(),
        Part::Reasoning(part) => part.metadata.as_ref(),
        Part::Tool(part) => part.metadata.as_ref(),
        _ => None,
    }
}

fn input(tool: &mut ToolPart) -> &mut JsonText {
    match &mut tool.state {
        ToolState::InputAvailable { input } | ToolState::ApprovalResponded { input, .. } => input,
        other => panic!("{other:?}"),
    }
}

fn error(part: &Part) -> &str {
    match part {
        Part::Tool(ToolPart { state: ToolState::OutputError { error_text, .. }, .. }) => error_text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn state_needs_a_proof() {
    let state = json!({"p": {"signature": "x"}});
    let parts = [
        (part(json!({"type": "text", "text": "x", "providerMetadata": state})), Claim::Text),
        (part(json!({"type": "reasoning", "text": "x", "providerMetadata": state})), Claim::Reasoning),
        (tool("t", "input-available", json!({"callProviderMetadata": state})), Claim::Call),
    ];
    for (part, claim) in parts {
        for (verdict, keeps) in
            [(Verdict::Accept, true), (Verdict::Distrust, false), (Verdict::Expired, false)]
        {
            let (claims, part, unaccepted) = verified(request(vec![part.clone()]), verdict);
            assert_eq!(claims, [claim]);
            assert_eq!(metadata(&part).is_some(), keeps, "{claim:?} {verdict:?}");
            assert!(unaccepted.is_empty());
        }
        let mut plain = request(vec![part]);
        plain.abilities.seals = false;
        let (claims, part, _) = verified(plain, Verdict::Distrust);
        assert_eq!(claims.is_empty(), claim != Claim::Call, "plain text has no proof to verify");
        assert_eq!(metadata(&part), None);
    }
}

#[test]
fn results_need_a_proof() {
    let results = [
        (tool("t", "output-available", json!({"output": 1})), Claim::Output),
        (tool("t", "output-error", json!({"errorText": "mine"})), Claim::Failure),
    ];
    for (posted, claim) in results {
        assert_eq!(
            verified(request(vec![posted.clone()]), Verdict::Accept),
            (vec![claim], posted.clone(), vec![])
        );
        let (_, part, unaccepted) = verified(request(vec![posted.clone()]), Verdict::Distrust);
        assert!(error(&part).contains("no longer be verified"));
        assert!(unaccepted.is_empty(), "it is valid again when the key is restored");
        let (_, part, unaccepted) = verified(request(vec![posted]), Verdict::Expired);
        assert!(error(&part).contains("after its deadline"));
        assert_eq!(unaccepted, ["c"]);
    }
    let progress = tool("t", "output-available", json!({"output": 1, "preliminary": true}));
    assert_eq!(verified(request(vec![progress]), Verdict::Distrust).0, []);
}

#[test]
fn approvals_need_a_proof_in_the_last_step() {
    let given = |approved: bool| {
        tool("t", "approval-responded", json!({"approval": {"id": "a", "approved": approved}}))
    };
    let asked = tool("t", "approval-requested", json!({"approval": {"id": "a"}}));
    let step = || part(json!({"type": "step-start"}));
    for (posted, claim) in [(given(true), Claim::Approval), (asked, Claim::Request)] {
        assert_eq!(
            verified(request(vec![posted.clone()]), Verdict::Accept),
            (vec![claim], posted.clone(), vec![])
        );
        for (verdict, text) in [(Verdict::Distrust, "no longer be verified"), (Verdict::Expired, "is over")] {
            let (_, part, unaccepted) = verified(request(vec![posted.clone()]), verdict);
            assert!(error(&part).contains(text), "{part:?}");
            assert_eq!(unaccepted, ["c"]);
        }
        // Nothing runs because of an older step.
        let (claims, part, unaccepted) = verified(request(vec![posted.clone(), step()]), Verdict::Distrust);
        assert_eq!((claims, unaccepted), (vec![], vec![]));
        let expected = if claim == Claim::Request { posted } else { tool("t", "input-available", json!({})) };
        assert_eq!(part, expected);
    }
    assert_eq!(verified(request(vec![given(false)]), Verdict::Distrust), (vec![], given(false), vec![]));
}

#[test]
fn outputs_of_the_clients_tools_need_a_proof_if_they_can_have_one() {
    let output = |name| tool(name, "output-available", json!({"output": 1}));
    let sealed = || {
        let mut part = output("show");
        let Part::Tool(tool) = &mut part else { panic!() };
        tool.metadata.get_or_insert_default().set_own("seal", "v1");
        part
    };
    let with = |part: Part, change: fn(&mut RunRequest)| {
        let mut request = request(vec![part]);
        change(&mut request);
        verified(request, Verdict::Distrust).0.contains(&Claim::Output)
    };
    let loaded: fn(&mut RunRequest) = |request| request.loaded_messages = 2;
    let recorded: fn(&mut RunRequest) = |request| request.recorded_calls.extend(["c".into()]);
    let other: fn(&mut RunRequest) = |request| request.recorded_calls.extend(["d".into()]);
    let plain: fn(&mut RunRequest) = |request| request.abilities.seals = false;
    assert!(with(output("show"), |_| {}));
    assert!(with(output("show"), other));
    assert!(with(output("show"), |request| request.loaded_messages = 1), "the message after them is posted");
    for record in [loaded, recorded] {
        assert!(!with(output("show"), record));
        assert!(with(sealed(), record), "a seal is verified");
        assert!(with(output("buy"), record), "the user must have approved it");
        assert!(with(output("t"), record), "a server tool has its output from the server");
    }
    assert!(!with(output("show"), plain));
    assert!(with(output("t"), plain));
}

#[test]
fn a_refusal_names_the_part() {
    let refused = |loaded| {
        let mut request = request(vec![tool("t", "output-available", json!({"output": 1}))]);
        request.loaded_messages = loaded;
        let verifier = Scripted(Verdict::Refuse, Mutex::default());
        let error = history(&mut request, Poster::anonymous(0), &Tools, &verifier).unwrap_err();
        error.path().unwrap().to_owned()
    };
    let paths = [refused(0), refused(1), refused(2)];
    assert_eq!(paths, ["messages[1].parts[0]", "message.parts[0]", "history[1].parts[0]"]);
}

#[test]
fn a_stored_copy_keeps_the_seals_of_what_is_proved() {
    let state = json!({"p": {"signature": "x"}, "omniassist": {"seal": "v1"}});
    let posted = part(json!({"type": "text", "text": "x", "providerMetadata": state}));
    let copy = |verdict| {
        let mut request = request(vec![posted.clone()]);
        let verifier = Scripted(verdict, Mutex::default());
        let kept = history_with_seals(&mut request, Poster::anonymous(0), &Tools, &verifier).unwrap();
        (metadata(&kept[1].parts[0]).cloned(), metadata(&request.messages[1].parts[0]).cloned())
    };
    let sent: ProviderMetadata = serde_json::from_value(json!({"p": {"signature": "x"}})).unwrap();
    assert_eq!(copy(Verdict::Accept), (metadata(&posted).cloned(), Some(sent)));
    assert_eq!(copy(Verdict::Distrust), (None, None));
}

#[test]
fn an_approved_call_runs_with_the_proved_arguments() {
    let posted = r#"{"b":1,"a":{"__proto__":2}}"#;
    let with = |state: &str, more: Value| {
        let mut part = tool("t", state, more);
        let Part::Tool(tool) = &mut part else { panic!() };
        *input(tool) = JsonText::parse(posted).unwrap();
        let (_, part, _) = verified(request(vec![part]), Verdict::Accept);
        let Part::Tool(tool) = part else { panic!() };
        tool.state.input().unwrap().as_str().to_owned()
    };
    let approval = json!({"approval": {"id": "a", "approved": true}});
    assert_eq!(with("approval-responded", approval), r#"{"a":{},"b":1}"#);
    assert_eq!(with("input-available", json!({})), r#"{"a":{},"b":1}"#, "a refused key is removed");
}

#[test]
fn arguments_are_restored_only_if_the_client_posted_the_same_value() {
    let restored = |posted: &str, exact: &str, verdict| {
        let mut part = tool("t", "input-available", json!({}));
        let Part::Tool(tool) = &mut part else { panic!() };
        *input(tool) = JsonText::parse(posted).unwrap();
        tool.metadata.get_or_insert_default().set_own(ProviderMetadata::ARGUMENTS, exact);
        let (_, part, _) = verified(request(vec![part]), verdict);
        let Part::Tool(tool) = part else { panic!() };
        tool.state.input().unwrap().as_str().to_owned()
    };
    assert_eq!(restored(r#"{"n":1}"#, r#"{"n":1.0}"#, Verdict::Accept), r#"{"n":1.0}"#);
    assert_eq!(restored(r#"{"n":1}"#, r#"{"n":1.0}"#, Verdict::Distrust), r#"{"n":1}"#);
    assert_eq!(restored(r#"{"n":1}"#, r#"{"n":2}"#, Verdict::Accept), r#"{"n":1}"#);
    assert_eq!(restored(r#"{"n":1}"#, r#"{"n":2,"n":1}"#, Verdict::Accept), r#"{"n":1}"#);
}
