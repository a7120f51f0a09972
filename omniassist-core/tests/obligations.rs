//! Tests of approvals, front-end tools and forms, and of the run after the client has settled them.

use omniassist_core::event::CallKind;
use omniassist_core::message::{Approval, Decision, Message, MessageCollector, Part, ToolState};
use omniassist_core::run::{
    Action, ClientAbilities, Gate, Input, RefusedApproval, RunConfig, RunMachine, ToolCatalog, due_approvals,
};
use omniassist_core::transcript::{from_messages, is_legal};
use omniassist_core::{
    EventBuf, FinishReason, JsonText, LlmEvent, RunEvent, RunRequest, Text, ToolSide, TranscriptItem,
};
use serde_json::{Value, json};

/// `look` has no condition; `pay` needs an approval and is refused above 1,000; `edit` allows changed arguments; `show`
/// runs in the client; `ask` is a form with `{"name": …}`.
struct Tools;

impl ToolCatalog for Tools {
    fn side(&self, name: &str) -> Option<ToolSide> {
        match name {
            "look" | "pay" | "edit" => Some(ToolSide::Server),
            "show" | "ask" => Some(ToolSide::FrontEnd),
            _ => None,
        }
    }

    fn check(&self, name: &str, arguments: &JsonText) -> Result<(), Text> {
        let fits = !matches!(name, "pay" | "edit") || arguments.to_value()["amount"].is_number();
        if fits { Ok(()) } else { Err("`amount` is not a number".into()) }
    }

    fn gate(&self, name: &str, arguments: &JsonText) -> Gate {
        match name {
            "pay" if arguments.to_value()["amount"].as_u64() > Some(1_000) => {
                Gate::Refused { reason: "Nobody may pay that much.".into() }
            }
            "pay" => Gate::Approval { message: Some("Pay?".into()), editable: false },
            "edit" => Gate::Approval { message: None, editable: true },
            "ask" => Gate::Form { message: Some("Your name?".into()), schema: JsonText::EMPTY_OBJECT },
            _ => Gate::Open,
        }
    }

    fn check_output(&self, name: &str, _arguments: &JsonText, output: &JsonText) -> Result<(), Text> {
        let fits = name != "ask" || output.to_value()["name"].is_string();
        if fits { Ok(()) } else { Err("`name` is missing".into()) }
    }
}

struct Driven {
    machine: RunMachine,
    events: EventBuf<RunEvent>,
    seen: Vec<RunEvent>,
    collector: MessageCollector,
    /// The action that was returned and is not executed yet.
    due: Option<Action>,
}

impl Driven {
    fn start(request: &RunRequest) -> Self {
        Self::with(request, RunConfig::new("answer"))
    }

    fn with(request: &RunRequest, config: RunConfig) -> Self {
        let mut events = EventBuf::new();
        let machine = RunMachine::start(request, config, &Tools, &mut events);
        let collector = match request.messages.last() {
            Some(last) if last.role == omniassist_core::message::Role::Assistant => {
                MessageCollector::continuing(last.clone())
            }
            _ => MessageCollector::new(),
        };
        let mut driven = Self { machine, events, seen: Vec::new(), collector, due: None };
        driven.take();
        driven
    }

    fn take(&mut self) {
        for event in self.events.drain() {
            self.collector.apply(&event);
            self.seen.push(event);
        }
    }

    fn feed(&mut self, input: Input) {
        self.machine.step(input, &Tools, &mut self.events);
        self.take();
    }

    /// Feeds a model turn with these calls.
    fn calls(&mut self, calls: &[(&str, &str, Value)]) {
        assert!(matches!(self.machine.next_action(), Some(Action::CallModel { .. })));
        for (number, (id, name, arguments)) in (0..).zip(calls) {
            let (id, name, kind) = (Text::from(*id), Text::from(*name), CallKind::Function);
            self.feed(Input::Model(LlmEvent::ToolCallStart { call: number, id, name, kind }));
            let arguments = arguments.to_string().into();
            self.feed(Input::Model(LlmEvent::ToolCallEnd { call: number, arguments, metadata: None }));
        }
        let reason = FinishReason::ToolCalls;
        self.feed(Input::Model(LlmEvent::Finish { reason, raw: None, truncated: false }));
        self.feed(Input::ModelEnd);
    }

    fn run_tools(&mut self) -> Vec<(String, Value)> {
        self.due = self.due.take().or_else(|| self.machine.next_action());
        let Some(Action::RunTools { calls }) = self.due.take_if(|due| matches!(due, Action::RunTools { .. }))
        else {
            return Vec::new();
        };
        let ran: Vec<_> = calls.iter().map(|call| (call.id.to_string(), call.arguments.to_value())).collect();
        for call in calls {
            let result = Ok(JsonText::from_str_value("done"));
            self.feed(Input::ToolResult { call_id: call.id, result });
        }
        ran
    }

    /// Returns the transcript of the next model call.
    fn transcript(&mut self) -> Vec<TranscriptItem> {
        let due = self.due.take().or_else(|| self.machine.next_action());
        let Some(Action::CallModel { transcript }) = due else { panic!("no model call is due") };
        assert!(is_legal(&transcript));
        transcript.to_vec()
    }

    fn results(&mut self) -> Vec<(String, Value, bool)> {
        let results = self.transcript();
        let result = |item: &TranscriptItem| match item {
            TranscriptItem::Result(result) => {
                Some((result.call_id.to_string(), result.output.to_value(), result.is_error))
            }
            _ => None,
        };
        results.iter().filter_map(result).collect()
    }

    fn message(&self) -> Message {
        self.collector.clone().into_message()
    }
}

fn question() -> Vec<Message> {
    vec![Message::user("q", "Do it.")]
}

/// Returns the conversation after a model turn with these calls, and its run.
fn asked(calls: &[(&str, &str, Value)]) -> (Vec<Message>, Driven) {
    let mut run = Driven::start(&RunRequest::new(question()));
    run.calls(calls);
    let mut messages = question();
    if run.machine.is_suspended() {
        messages.push(run.message());
    }
    (messages, run)
}

fn pay(amount: u64) -> (&'static str, &'static str, Value) {
    ("c1", "pay", json!({ "amount": amount }))
}

fn answer(messages: &mut [Message], call_id: &str, answer: Value) {
    for part in &mut messages.last_mut().unwrap().parts {
        let Part::Tool(tool) = part else { continue };
        if tool.call_id != call_id {
            continue;
        }
        let input = tool.state.input().unwrap().clone();
        tool.state = match &tool.state {
            ToolState::ApprovalRequested { approval, .. } => {
                let mut whole = serde_json::to_value(approval).unwrap();
                whole.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
                let approval = serde_json::from_value(whole).unwrap();
                ToolState::ApprovalResponded { input, approval }
            }
            _ => ToolState::OutputAvailable {
                input,
                output: JsonText::from_value(&answer),
                preliminary: false,
            },
        };
    }
}

fn count(events: &[RunEvent], is_it: impl Fn(&RunEvent) -> bool) -> usize {
    events.iter().filter(|event| is_it(event)).count()
}

#[test]
fn a_call_that_needs_an_approval_suspends_the_run_and_does_not_run() {
    let (messages, mut run) = asked(&[pay(5)]);
    assert!(run.machine.is_suspended());
    assert!(run.machine.next_action().is_none());
    let requests: Vec<_> = run
        .seen
        .iter()
        .filter_map(|event| match event {
            RunEvent::ToolApprovalRequest(request) => Some(request),
            _ => None,
        })
        .collect();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(request.id, "approval-c1");
    assert_eq!(request.input.to_value(), json!({ "amount": 5 }));
    assert_eq!(request.message.as_deref(), Some("Pay?"));
    assert!(matches!(
        messages.last().unwrap().tools().next().unwrap().state,
        ToolState::ApprovalRequested { .. }
    ));
}

#[test]
fn an_approved_call_runs_with_the_shown_arguments_and_the_model_continues() {
    let (mut messages, _) = asked(&[pay(5)]);
    answer(&mut messages, "c1", json!({ "approved": true }));
    let request = RunRequest::new(messages);
    assert_eq!(due_approvals(&request, &Tools).len(), 1);
    let mut run = Driven::start(&request);
    assert_eq!(run.run_tools(), [("c1".to_owned(), json!({ "amount": 5 }))]);
    assert!(matches!(
        run.seen.as_slice(),
        [RunEvent::Start { message_id, .. }, RunEvent::ToolOutput { .. }] if message_id == "answer"
    ));
    assert_eq!(run.results(), [("c1".to_owned(), json!("done"), false)]);
}

#[test]
fn a_denied_call_becomes_a_result_for_the_model() {
    for (reason, read) in [
        (
            json!({ "approved": false, "reason": "Too dear." }),
            "This call was denied; it was not run. The reason given: Too dear.",
        ),
        (json!({ "approved": false }), "This call was denied; it was not run."),
    ] {
        let (mut messages, _) = asked(&[pay(5)]);
        answer(&mut messages, "c1", reason);
        let mut run = Driven::start(&RunRequest::new(messages));
        assert_eq!(run.results(), [("c1".to_owned(), json!(read), true)]);
        assert_eq!(count(&run.seen, |event| matches!(event, RunEvent::ToolDenied { .. })), 1);
        let message = run.message();
        assert!(matches!(message.tools().next().unwrap().state, ToolState::OutputDenied { .. }));
        // The posted denial is read as a denial. A reason alone could be mistaken for the tool's output.
        let results = from_messages(&[message]).into_iter().filter_map(|item| match item {
            TranscriptItem::Result(result) => Some(result.output.to_value()),
            _ => None,
        });
        assert_eq!(results.collect::<Vec<_>>(), [json!(read)]);
    }
}

#[test]
fn no_approved_call_runs_until_all_obligations_are_settled() {
    let (mut messages, _) = asked(&[
        pay(5),
        ("c2", "pay", json!({ "amount": 6 })),
        ("c3", "show", json!({})),
        ("c4", "look", json!({})),
    ]);
    // The server tool of the same step is still running, so the run is not suspended.
    assert_eq!(messages.len(), 1);
    let mut run = Driven::start(&RunRequest::new(question()));
    run.calls(&[
        pay(5),
        ("c2", "pay", json!({ "amount": 6 })),
        ("c3", "show", json!({})),
        ("c4", "look", json!({})),
    ]);
    assert_eq!(run.run_tools(), [("c4".to_owned(), json!({}))]);
    assert!(run.machine.is_suspended());
    messages.push(run.message());

    answer(&mut messages, "c2", json!({ "approved": true }));
    for (call, value) in [("c1", json!({ "approved": true })), ("c3", json!("shown"))] {
        let request = RunRequest::new(messages.clone());
        assert!(due_approvals(&request, &Tools).is_empty());
        let mut partial = Driven::start(&request);
        assert!(partial.machine.is_suspended());
        assert!(partial.machine.next_action().is_none());
        answer(&mut messages, call, value);
    }
    let mut run = Driven::start(&RunRequest::new(messages));
    // The calls run in the model's order, for any order of approvals.
    let ran: Vec<_> = run.run_tools().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ran, ["c1", "c2"]);
    let results: Vec<_> = run.results().into_iter().map(|(id, output, _)| (id, output)).collect();
    let expected = [("c1", "done"), ("c2", "done"), ("c3", "shown"), ("c4", "done")];
    assert_eq!(results, expected.map(|(id, output)| (id.to_owned(), json!(output))));
}

#[test]
fn an_open_approval_is_requested_again() {
    let (messages, _) = asked(&[pay(5)]);
    let run = Driven::start(&RunRequest::new(messages));
    assert!(run.machine.is_suspended());
    assert_eq!(count(&run.seen, |event| matches!(event, RunEvent::ToolApprovalRequest(_))), 1);
}

#[test]
fn a_new_question_settles_an_approved_call_without_running_it() {
    let (mut messages, _) = asked(&[pay(5)]);
    answer(&mut messages, "c1", json!({ "approved": true }));
    messages.push(Message::user("q2", "Never mind."));
    let request = RunRequest::new(messages);
    assert!(due_approvals(&request, &Tools).is_empty());
    let mut run = Driven::start(&request);
    let results = run.results();
    let [(id, _, true)] = results.as_slice() else { panic!("{results:?}") };
    assert_eq!(id, "c1");
}

#[test]
fn a_client_without_approvals_leads_to_an_error_result() {
    let mut request = RunRequest::new(question());
    request.abilities = ClientAbilities::none();
    let mut run = Driven::start(&request);
    run.calls(&[pay(5), ("c2", "ask", json!({}))]);
    assert!(!run.machine.is_suspended());
    assert!(run.run_tools().is_empty());
    let results = run.results();
    assert!(results.iter().all(|(_, _, is_error)| *is_error));
    assert_eq!(results.len(), 2);
    assert_eq!(count(&run.seen, |event| matches!(event, RunEvent::ToolRefused { .. })), 2);
    assert_eq!(count(&run.seen, |event| matches!(event, RunEvent::ToolApprovalRequest(_))), 0);
}

#[test]
fn an_open_approval_does_not_block_a_client_without_approvals() {
    let (messages, _) = asked(&[pay(5)]);
    let mut request = RunRequest::new(messages);
    request.abilities = ClientAbilities::none();
    let mut run = Driven::start(&request);
    assert!(!run.machine.is_suspended());
    let results = run.results();
    assert!(matches!(results.as_slice(), [(id, _, true)] if id == "c1"), "{results:?}");
}

#[test]
fn the_policy_overrides_an_approval() {
    let (_, mut run) = asked(&[pay(1_001)]);
    assert!(!run.machine.is_suspended());
    assert_eq!(run.results(), [("c1".to_owned(), json!("Nobody may pay that much."), true)]);

    // The policy is checked again after the approval, and its decision may differ.
    let (mut messages, _) = asked(&[pay(5)]);
    for part in &mut messages.last_mut().unwrap().parts {
        if let Part::Tool(tool) = part {
            tool.state = ToolState::ApprovalResponded {
                input: JsonText::from_value(&json!({ "amount": 1_001 })),
                approval: Approval::new("approval-c1").decided(Decision::approved()),
            };
        }
    }
    let mut run = Driven::start(&RunRequest::new(messages));
    assert!(run.run_tools().is_empty());
    assert_eq!(run.results(), [("c1".to_owned(), json!("Nobody may pay that much."), true)]);
}

#[test]
fn arguments_can_be_changed_if_the_host_allows_it_and_are_checked_again() {
    let edited = |name: &'static str, arguments: Value| {
        let (mut messages, _) = asked(&[("c1", name, json!({ "amount": 5 }))]);
        answer(&mut messages, "c1", json!({ "approved": true, "arguments": arguments }));
        let mut run = Driven::start(&RunRequest::new(messages));
        let ran = run.run_tools();
        (ran, run.transcript())
    };
    let (ran, transcript) = edited("edit", json!({ "amount": 4 }));
    assert_eq!(ran, [("c1".to_owned(), json!({ "amount": 4 }))]);
    assert!(transcript.iter().any(|item| matches!(
        item,
        TranscriptItem::Call(call) if call.arguments.to_value() == json!({ "amount": 4 })
    )));
    assert!(edited("edit", json!({ "amount": "four" })).0.is_empty());
    assert!(edited("pay", json!({ "amount": 4 })).0.is_empty());
}

#[test]
fn a_used_approval_runs_no_call() {
    let (mut messages, _) = asked(&[pay(5)]);
    answer(&mut messages, "c1", json!({ "approved": true }));
    let mut config = RunConfig::new("answer");
    config.refused_approvals.push(RefusedApproval { call_id: "c1".into(), reason: "Used.".into() });
    let mut run = Driven::with(&RunRequest::new(messages), config);
    assert!(run.run_tools().is_empty());
    let results = run.results();
    assert!(matches!(results.as_slice(), [(_, _, true)]), "{results:?}");
}

#[test]
fn a_form_suspends_the_run_and_its_answer_is_checked() {
    let (messages, run) = asked(&[("c1", "ask", json!({}))]);
    assert!(run.machine.is_suspended());
    let asks = |event: &RunEvent| matches!(event, RunEvent::InputRequest(request) if request.call_id == "c1");
    assert_eq!(count(&run.seen, asks), 1);

    let mut good = messages.clone();
    answer(&mut good, "c1", json!({ "name": "Ada" }));
    let mut run = Driven::start(&RunRequest::new(good));
    assert_eq!(run.results(), [("c1".to_owned(), json!({ "name": "Ada" }), false)]);

    let mut bad = messages;
    answer(&mut bad, "c1", json!({ "name": 5 }));
    let mut run = Driven::start(&RunRequest::new(bad));
    assert_eq!(run.results(), [("c1".to_owned(), json!("`name` is missing"), true)]);
    assert_eq!(count(&run.seen, |event| matches!(event, RunEvent::ToolError { .. })), 1);
}

#[test]
fn an_approval_for_a_removed_tool_does_not_block_the_chat() {
    let (mut messages, _) = asked(&[pay(5)]);
    for part in &mut messages.last_mut().unwrap().parts {
        if let Part::Tool(tool) = part {
            tool.name = "gone".into();
        }
    }
    let mut run = Driven::start(&RunRequest::new(messages));
    assert!(!run.machine.is_suspended());
    assert!(matches!(run.results().as_slice(), [(_, _, true)]));
}
