//! Tests of the run machine, without sockets and clocks.

use omniassist_core::event::{CallKind, RunErrorCode};
use omniassist_core::message::{Message, Part, ProviderMetadata, Role, ToolPart, ToolState};
use omniassist_core::run::{
    Action, CallLabel, Gate, Input, NoTools, RunConfig, RunMachine, RunState, ToolCatalog,
};
use omniassist_core::transcript::{TranscriptItem, is_legal};
use omniassist_core::{
    EventBuf, FinishReason, JsonText, LlmEvent, RunEvent, RunRequest, Text, ToolSide, Usage,
};

/// `look` runs on the server and needs `{"n": …}`; `show` runs in the client.
struct Tools;

impl ToolCatalog for Tools {
    fn side(&self, name: &str) -> Option<ToolSide> {
        match name {
            "look" => Some(ToolSide::Server),
            "show" => Some(ToolSide::FrontEnd),
            _ => None,
        }
    }

    fn check(&self, name: &str, arguments: &JsonText) -> Result<(), Text> {
        let fits = name != "look" || arguments.to_value().get("n").is_some();
        if fits { Ok(()) } else { Err("`n` is missing".into()) }
    }
}

struct Driven {
    machine: RunMachine,
    events: EventBuf<RunEvent>,
}

impl Driven {
    fn new(request: &RunRequest) -> Self {
        Self::with(request, RunConfig::new("new-message"))
    }

    fn with(request: &RunRequest, config: RunConfig) -> Self {
        let mut events = EventBuf::new();
        let machine = RunMachine::start(request, config, &Tools, &mut events);
        Self { machine, events }
    }

    fn turn(&mut self, said: impl IntoIterator<Item = LlmEvent>) {
        assert!(matches!(self.machine.next_action(), Some(Action::CallModel { .. })));
        for event in said {
            self.feed(Input::Model(event));
        }
        self.feed(Input::ModelEnd);
    }

    fn feed(&mut self, input: Input) {
        // Each state must survive serialisation.
        let state = serde_json::to_string(self.machine.state()).unwrap();
        let state: RunState = serde_json::from_str(&state).unwrap();
        assert_eq!(&state, self.machine.state());
        self.machine = RunMachine::resume(state, RunConfig::new("new-message")).unwrap();
        self.machine.step(input, &Tools, &mut self.events);
    }

    fn tools(&mut self) -> Vec<String> {
        match self.machine.next_action() {
            Some(Action::RunTools { calls }) => calls.into_iter().map(|call| call.id.to_string()).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn result(&mut self, call_id: &str, result: Result<JsonText, Text>) {
        self.feed(Input::ToolResult { call_id: call_id.into(), result });
    }

    fn seen(&mut self) -> Vec<RunEvent> {
        self.events.drain().collect()
    }
}

fn text(delta: &str) -> LlmEvent {
    LlmEvent::TextDelta { block: 0, delta: delta.into() }
}

fn call(number: u32, id: &str, name: &str, arguments: &str) -> [LlmEvent; 3] {
    [
        LlmEvent::ToolCallStart { call: number, id: id.into(), name: name.into(), kind: CallKind::Function },
        LlmEvent::ToolCallDelta { call: number, delta: arguments.into() },
        LlmEvent::ToolCallEnd { call: number, arguments: arguments.into(), metadata: None },
    ]
}

fn state(value: &str) -> ProviderMetadata {
    serde_json::from_value(serde_json::json!({"p": {"state": value}})).unwrap()
}

fn finish(reason: FinishReason) -> LlmEvent {
    let truncated = reason.is_cut();
    LlmEvent::Finish { reason, raw: None, truncated }
}

fn kinds(events: &[RunEvent]) -> Vec<&'static str> {
    events
        .iter()
        .map(|event| match event {
            RunEvent::Start { .. } => "start",
            RunEvent::StepStart => "step-start",
            RunEvent::StepFinish { .. } => "step-finish",
            RunEvent::TextStart { .. } => "text-start",
            RunEvent::TextDelta { .. } => "text-delta",
            RunEvent::TextEnd { .. } => "text-end",
            RunEvent::ReasoningStart { .. } => "reasoning-start",
            RunEvent::ReasoningDelta { .. } => "reasoning-delta",
            RunEvent::ReasoningEnd { .. } => "reasoning-end",
            RunEvent::ToolInputStart { .. } => "input-start",
            RunEvent::ToolInputDelta { .. } => "input-delta",
            RunEvent::ToolInputAvailable { .. } => "input-available",
            RunEvent::ToolInputError { .. } => "input-error",
            RunEvent::ToolOutput { .. } => "output",
            RunEvent::ToolError { .. } => "tool-error",
            RunEvent::Finish { .. } => "finish",
            RunEvent::Error { .. } => "error",
            RunEvent::Abort { .. } => "abort",
            _ => "other",
        })
        .collect()
}

fn ok() -> Result<JsonText, Text> {
    Ok(JsonText::parse("{\"found\":true}").unwrap())
}

#[test]
fn text_is_forwarded_in_order() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    let usage = Usage::default();
    run.turn([text("He"), text(""), text("llo"), finish(FinishReason::Stop), LlmEvent::Usage(usage)]);
    let events = run.seen();
    let expected = "start step-start text-start text-delta text-delta text-end step-finish finish";
    assert_eq!(kinds(&events).join(" "), expected);
    assert!(matches!(&events[0], RunEvent::Start { message_id, .. } if message_id == "new-message"));
    assert!(run.machine.is_done() && !run.machine.is_suspended());
    assert_eq!(run.machine.next_action(), None);
}

#[test]
fn a_server_tool_runs_and_the_model_continues() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    run.turn(call(0, "c1", "look", "{\"n\":1}").into_iter().chain([finish(FinishReason::ToolCalls)]));
    assert_eq!(run.tools(), ["c1"]);
    run.feed(Input::ToolProgress { call_id: "c1".into(), output: JsonText::NULL });
    run.result("c1", ok());
    run.turn([text("Found."), finish(FinishReason::Stop)]);
    let events = run.seen();
    let expected = "start step-start input-start input-delta input-available output output step-finish \
                    step-start text-start text-delta text-end step-finish finish";
    assert_eq!(kinds(&events).join(" "), expected);
    assert!(is_legal(run.machine.transcript()));
}

#[test]
fn results_reach_the_model_in_the_order_of_the_calls() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    let calls = call(0, "c1", "look", "{\"n\":1}").into_iter().chain(call(1, "c2", "look", "{\"n\":2}"));
    run.turn(calls.chain([finish(FinishReason::ToolCalls)]));
    assert_eq!(run.tools(), ["c1", "c2"]);
    let (name, arguments) = run.machine.call("c2").unwrap();
    assert_eq!((name.as_str(), arguments.as_str()), ("look", "{\"n\":2}"));
    run.result("c2", ok());
    assert_eq!(run.machine.next_action(), None, "the other tool is still running");
    run.result("c1", Err("no luck".into()));
    let Some(Action::CallModel { transcript }) = run.machine.next_action() else { panic!() };
    let results: Vec<_> = transcript
        .iter()
        .filter_map(|item| match item {
            TranscriptItem::Result(result) => Some((result.call_id.to_string(), result.is_error)),
            _ => None,
        })
        .collect();
    assert_eq!(results, [("c1".to_owned(), true), ("c2".to_owned(), false)]);
}

#[test]
fn inputs_for_a_call_that_is_not_running_change_nothing() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    let calls = call(0, "c1", "look", "{\"n\":1}").into_iter().chain(call(1, "c2", "look", "{\"n\":2}"));
    run.turn(calls.chain([finish(FinishReason::ToolCalls)]));
    assert_eq!(run.tools(), ["c1", "c2"]);
    run.result("c1", ok());
    run.seen();
    run.feed(Input::ModelEnd);
    run.feed(Input::Model(text("late")));
    run.feed(Input::ModelError(RunErrorCode::Timeout));
    run.feed(Input::ContextOverflow);
    assert_eq!(run.seen(), []);
    for other in ["c1", "c3"] {
        run.feed(Input::ToolProgress { call_id: other.into(), output: JsonText::NULL });
        run.result(other, Err("again".into()));
        run.feed(Input::ApprovalNeeded { call_id: other.into(), gate: approval() });
        run.feed(Input::ToolWaits { call_id: other.into(), questions: vec![RunEvent::StepReset] });
        assert_eq!(run.seen(), [], "{other}");
    }
    assert_eq!(run.machine.next_action(), None);
    run.result("c2", ok());
    assert!(matches!(run.machine.next_action(), Some(Action::CallModel { .. })));
}

#[test]
fn a_block_ends_at_the_end_event_of_the_model() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    let state = serde_json::from_value(serde_json::json!({"p": {"id": "t1"}})).unwrap();
    let end = LlmEvent::TextEnd { block: 0, metadata: Some(state) };
    let said = [text("Let me look."), end].into_iter().chain(call(1, "c1", "show", "{}"));
    run.turn(said.chain([finish(FinishReason::ToolCalls)]));
    let events = run.seen();
    let kinds = kinds(&events).join(" ");
    assert!(kinds.contains("text-delta text-end input-start"), "{kinds}");
    let ends = |event: &&RunEvent| matches!(event, RunEvent::TextEnd { metadata: Some(_), .. });
    assert_eq!(events.iter().filter(ends).count(), 1);
}

#[test]
fn no_call_runs_without_tools() {
    let mut events = EventBuf::new();
    let config = RunConfig::new("new-message");
    let mut machine = RunMachine::start(&RunRequest::prompt("hi"), config, &NoTools, &mut events);
    assert_eq!(machine.message_id(), "new-message");
    assert!(machine.next_action().is_some());
    for event in call(0, "c1", "look", "{}").into_iter().chain([finish(FinishReason::ToolCalls)]) {
        machine.step(Input::Model(event), &NoTools, &mut events);
    }
    machine.step(Input::ModelEnd, &NoTools, &mut events);
    assert!(matches!(machine.next_action(), Some(Action::CallModel { .. })));
    let told = |event: RunEvent| matches!(event, RunEvent::ToolInputError { error_text, .. } if error_text == "There is no tool named `look`.");
    assert!(events.drain().any(told));
}

#[test]
fn front_end_tools_wait_until_server_tools_have_run() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    let calls = call(0, "c1", "show", "{}").into_iter().chain(call(1, "c2", "look", "{\"n\":2}"));
    run.turn(calls.chain([finish(FinishReason::ToolCalls)]));
    assert_eq!(run.tools(), ["c2"]);
    run.result("c2", ok());
    assert!(run.machine.is_suspended());
    let events = run.seen();
    let available = kinds(&events).iter().filter(|kind| **kind == "input-available").count();
    assert_eq!(available, 2);
    assert!(matches!(events.last(), Some(RunEvent::Finish { reason: FinishReason::ToolCalls, .. })));
}

fn answered(id: &str, name: &str, output: Option<&str>) -> Part {
    let input = JsonText::EMPTY_OBJECT;
    Part::Tool(ToolPart {
        call_id: id.into(),
        name: name.into(),
        dynamic: false,
        provider_executed: false,
        state: match output {
            Some(output) => {
                let output = JsonText::from_str_value(output);
                ToolState::OutputAvailable { input, output, preliminary: false }
            }
            None => ToolState::InputAvailable { input },
        },
        metadata: None,
    })
}

fn assistant(parts: Vec<Part>) -> Message {
    Message { id: "old-message".into(), role: Role::Assistant, parts, metadata: None }
}

#[test]
fn a_run_continues_its_message_when_every_result_is_posted() {
    let parts =
        vec![Part::StepStart, answered("c1", "show", Some("shown")), answered("c2", "look", Some("1"))];
    let request = RunRequest::new(vec![Message::user("m1", "hi"), assistant(parts)]);
    let mut run = Driven::new(&request);
    assert!(!run.machine.is_done());
    assert!(matches!(&run.seen()[0], RunEvent::Start { message_id, .. } if message_id == "old-message"));
    run.turn([text("ok"), finish(FinishReason::Stop)]);
    assert!(run.machine.is_done());
}

#[test]
fn a_run_stays_suspended_while_a_front_end_result_is_missing() {
    let parts = vec![Part::StepStart, answered("c1", "show", None), answered("c2", "show", Some("shown"))];
    let request = RunRequest::new(vec![Message::user("m1", "hi"), assistant(parts)]);
    let mut run = Driven::new(&request);
    assert_eq!(kinds(&run.seen()).join(" "), "start finish");
    assert_eq!(run.machine.next_action(), None);
}

#[test]
fn a_new_question_settles_an_unanswered_front_end_tool() {
    let parts = vec![Part::StepStart, answered("c1", "show", None)];
    let messages = vec![Message::user("m1", "hi"), assistant(parts), Message::user("m3", "and?")];
    let mut run = Driven::new(&RunRequest::new(messages));
    let Some(Action::CallModel { transcript }) = run.machine.next_action() else { panic!() };
    assert!(is_legal(&transcript));
    assert!(transcript.iter().any(|item| matches!(item, TranscriptItem::Result(result) if result.is_error)));
}

/// Returns the ids of the started calls.
fn begun(events: &[RunEvent]) -> Vec<String> {
    let id = |event: &RunEvent| match event {
        RunEvent::ToolInputStart { call_id, .. } => Some(call_id.to_string()),
        _ => None,
    };
    events.iter().filter_map(id).collect()
}

#[test]
fn invalid_calls_are_reported_to_the_model_and_bounded() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    for turn in 0..3 {
        let bad = match turn {
            0 => call(0, "c", "look", "{\"n\":"),
            1 => call(0, "c", "look", "{}"),
            _ => call(0, "c", "__proto__", "{}"),
        };
        run.turn(bad.into_iter().chain([finish(FinishReason::ToolCalls)]));
    }
    let events = run.seen();
    assert_eq!(kinds(&events).iter().filter(|kind| **kind == "input-error").count(), 3);
    assert!(matches!(events.last(), Some(RunEvent::Error { code: RunErrorCode::InvalidToolCalls, .. })));
    assert_eq!(begun(&events), ["c", "c-2", "c-3"], "a repeated id must become unique");
}

#[test]
fn calls_above_the_limit_of_a_turn_are_reported_to_the_model() {
    for (made, ran, refused) in [(128, 128, 0), (129, 128, 1), (1_000, 128, 1)] {
        let mut run = Driven::new(&RunRequest::prompt("hi"));
        let calls = (0..made).flat_map(|number| call(number, "c", "look", "{\"n\":1}"));
        run.turn(calls.chain([finish(FinishReason::ToolCalls)]));
        let tools = run.tools();
        assert_eq!(tools.len(), ran);
        for id in tools {
            run.result(&id, Ok(JsonText::NULL));
        }
        let errors = kinds(&run.seen()).iter().filter(|kind| **kind == "input-error").count();
        assert_eq!(errors, refused);
        let Some(Action::CallModel { transcript }) = run.machine.next_action() else { panic!() };
        assert!(is_legal(&transcript));
        let told = transcript.iter().filter(|item| {
            matches!(item, TranscriptItem::Result(result) if result.output.as_str().contains("may make 128 calls"))
        });
        assert_eq!(told.count(), refused);
    }
}

#[test]
fn renaming_calls_in_a_long_history_takes_linear_time() {
    let ids = |name: &'static str| {
        (1..10_000).map(move |n| if n == 1 { name.to_owned() } else { format!("{name}-{n}") })
    };
    let parts = ids("c").chain(ids("d")).map(|id| answered(&id, "look", Some("done"))).collect();
    let request = RunRequest::new(vec![assistant(parts), Message::user("u", "hi")]);
    let mut run = Driven::new(&request);
    assert!(run.machine.next_action().is_some());
    for (number, id) in ["c", "c", "d", "c"].into_iter().enumerate() {
        for event in call(u32::try_from(number).unwrap(), id, "look", "{\"n\":1}") {
            run.machine.step(Input::Model(event), &Tools, &mut run.events);
        }
    }
    // Each search for a free id starts after the previous one, so all searches together take linear time.
    assert_eq!(begun(&run.seen()), ["c-10000", "c-10001", "d-10002", "c-10003"]);
}

#[test]
fn empty_arguments_are_accepted_in_several_forms() {
    for nothing in ["", " ", "null", "\"null\"", "{}"] {
        let mut run = Driven::new(&RunRequest::prompt("hi"));
        run.turn(call(0, "c1", "show", nothing).into_iter().chain([finish(FinishReason::ToolCalls)]));
        let input = run.seen().into_iter().find_map(|event| match event {
            RunEvent::ToolInputAvailable { input, .. } => Some(input),
            _ => None,
        });
        assert_eq!(input, Some(JsonText::EMPTY_OBJECT), "{nothing:?}");
        // A tool with a required property does not run without arguments.
        let mut run = Driven::new(&RunRequest::prompt("hi"));
        run.turn(call(0, "c1", "look", nothing).into_iter().chain([finish(FinishReason::ToolCalls)]));
        let told = run.seen().into_iter().any(|event| {
            matches!(event, RunEvent::ToolInputError { error_text, .. } if error_text == "`n` is missing")
        });
        assert!(told, "{nothing:?}");
    }
}

#[test]
fn a_free_text_call_becomes_an_error_for_the_model() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    let [_, delta, end] = call(0, "c1", "show", "SELECT 1");
    let (id, name) = (Text::from("c1"), Text::from("show"));
    let start = LlmEvent::ToolCallStart { call: 0, id, name, kind: CallKind::Custom };
    run.turn([start, delta, end, finish(FinishReason::ToolCalls)]);
    let Some(Action::CallModel { transcript }) = run.machine.next_action() else { panic!() };
    assert!(is_legal(&transcript));
    let told = format!("{transcript:?}");
    assert!(told.contains("JSON arguments, not free text"), "{told}");
}

#[test]
fn values_too_deep_to_be_posted_back_become_errors() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for (levels, fits) in [(48, true), (49, false), (100, false)] {
        let mut run = Driven::new(&RunRequest::prompt("hi"));
        run.turn(call(0, "c1", "look", "{\"n\":1}").into_iter().chain([finish(FinishReason::ToolCalls)]));
        assert_eq!(run.tools(), ["c1"]);
        run.result("c1", Ok(JsonText::parse(nested(levels)).unwrap()));
        assert_eq!(kinds(&run.seen()).contains(&"output"), fits, "{levels}");

        // The object around the list counts as one level.
        let mut run = Driven::new(&RunRequest::prompt("hi"));
        let arguments = format!("{{\"n\":{}}}", nested(levels - 1));
        run.turn(call(0, "c1", "look", &arguments).into_iter().chain([finish(FinishReason::ToolCalls)]));
        assert_eq!(kinds(&run.seen()).contains(&"input-available"), fits, "{levels}");
    }
}

#[test]
fn front_end_tools_receive_no_numbers_that_javascript_rounds() {
    for (name, fits) in [("show", false), ("look", true)] {
        let mut run = Driven::new(&RunRequest::prompt("hi"));
        let arguments = "{\"n\":9007199254740993}";
        run.turn(call(0, "c1", name, arguments).into_iter().chain([finish(FinishReason::ToolCalls)]));
        let events = run.seen();
        assert_eq!(kinds(&events).contains(&"input-available"), fits, "{name}");
        let told = |event: &RunEvent| matches!(event, RunEvent::ToolInputError { error_text, .. } if error_text.contains("`n`") && error_text.contains("Use strings"));
        assert_eq!(events.iter().any(told), !fits, "{name}");
    }
}

#[test]
fn an_invalid_id_is_replaced_for_clients_and_kept_for_its_provider() {
    let long = "x".repeat(950);
    for id in [long.as_str(), "line\nbreak"] {
        let mut run = Driven::new(&RunRequest::prompt("hi"));
        run.turn(call(0, id, "look", "{\"n\":1}").into_iter().chain([finish(FinishReason::ToolCalls)]));
        let own = run.tools().remove(0);
        assert!(!own.is_empty() && own.len() <= 256 && !own.contains(char::is_control), "{own}");
        let events = run.seen();
        let metadata = events.iter().find_map(|event| match event {
            RunEvent::ToolInputAvailable { metadata, .. } => metadata.clone(),
            _ => None,
        });
        run.result(&own, Ok(JsonText::NULL));
        let ids = |transcript: &[TranscriptItem]| -> Vec<String> {
            let id = |item: &TranscriptItem| match item {
                TranscriptItem::Call(call) => Some(call.id.to_string()),
                TranscriptItem::Result(result) => Some(result.call_id.to_string()),
                _ => None,
            };
            transcript.iter().filter_map(id).collect()
        };
        let Some(Action::CallModel { transcript }) = run.machine.next_action() else { panic!() };
        assert_eq!(ids(&transcript), [id, id]);

        // A later request restores the id from the metadata that the client stored.
        let mut part = answered(&own, "look", Some("done"));
        if let Part::Tool(part) = &mut part {
            part.metadata = metadata;
        }
        let request = RunRequest::new(vec![assistant(vec![part]), Message::user("u", "and?")]);
        let Some(Action::CallModel { transcript }) = Driven::new(&request).machine.next_action() else {
            panic!()
        };
        assert_eq!(ids(&transcript), [id, id]);
    }
}

#[test]
fn deltas_continue_the_block_of_their_number_and_kind() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    let delta = |block, text: &str| LlmEvent::TextDelta { block, delta: text.into() };
    let thought = |text: &str| LlmEvent::ReasoningDelta { block: 0, delta: text.into() };
    let said = [delta(0, "a"), thought("t"), delta(1, "b"), delta(0, "A"), thought("T"), delta(1, "B")];
    let ends = [
        LlmEvent::TextEnd { block: 0, metadata: None },
        LlmEvent::TextEnd { block: 2, metadata: Some(state("no block")) },
        LlmEvent::ReasoningEnd { block: 3, metadata: None },
        LlmEvent::ReasoningEnd { block: 4, metadata: Some(state("no text")) },
        delta(0, "new"),
    ];
    run.turn(said.into_iter().chain(ends).chain([finish(FinishReason::Stop)]));
    let kinds = kinds(&run.seen()).join(" ");
    assert_eq!(kinds.matches("text-start").count(), 3, "{kinds}");
    assert_eq!(kinds.matches("reasoning-start").count(), 2, "{kinds}");
    let said: Vec<_> = run
        .machine
        .transcript()
        .iter()
        .filter_map(|item| match item {
            TranscriptItem::Text { text, .. } => Some(format!("text {text}")),
            TranscriptItem::Reasoning { text, metadata } => {
                Some(format!("reasoning {text}{}", if metadata.is_some() { " with state" } else { "" }))
            }
            _ => None,
        })
        .collect();
    let expected = ["text aA", "reasoning tT", "text bB", "reasoning  with state", "text new"];
    assert_eq!(said, expected, "reasoning without text is kept for its state");
}

#[test]
fn a_turn_with_a_valid_and_an_invalid_call_continues() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    let calls = call(0, "c1", "look", "{\"n\":1}").into_iter().chain(call(1, "c2", "look", "{}"));
    run.turn(calls.chain([finish(FinishReason::ToolCalls)]));
    assert_eq!(run.tools(), ["c1"]);
    run.result("c1", ok());
    assert!(matches!(run.machine.next_action(), Some(Action::CallModel { .. })));
}

#[test]
fn the_reason_of_a_step_agrees_with_its_calls() {
    let reason = |calls: &[LlmEvent], said| {
        let mut run = Driven::new(&RunRequest::prompt("hi"));
        run.turn(calls.iter().cloned().chain([finish(said)]));
        if !calls.is_empty() {
            let id = run.tools().remove(0);
            run.result(&id, ok());
        }
        run.seen().into_iter().find_map(|event| match event {
            RunEvent::StepFinish { reason, .. } => Some(reason),
            _ => None,
        })
    };
    let look = call(0, "c1", "look", "{\"n\":1}");
    assert_eq!(reason(&look, FinishReason::Stop), Some(FinishReason::ToolCalls));
    assert_eq!(reason(&[], FinishReason::ToolCalls), Some(FinishReason::Stop));
}

fn approval() -> Gate {
    Gate::Approval { message: Some("May it look?".into()), editable: false }
}

#[test]
fn a_call_about_to_run_may_need_approval() {
    let asked = |arguments: &str, approvals: bool| {
        let mut request = RunRequest::prompt("hi");
        request.abilities.approvals = approvals;
        let mut run = Driven::new(&request);
        assert!(run.machine.next_action().is_some());
        let calls = call(0, "c1", "look", "{\"n\":1}").into_iter().chain(call(1, "c2", "look", arguments));
        for event in calls.chain([finish(FinishReason::ToolCalls)]) {
            run.machine.step(Input::Model(event), &Tools, &mut run.events);
        }
        run.machine.step(Input::ModelEnd, &Tools, &mut run.events);
        assert_eq!(run.tools(), ["c1", "c2"]);
        let needed = Input::ApprovalNeeded { call_id: "c2".into(), gate: approval() };
        run.machine.step(needed, &Tools, &mut run.events);
        assert_eq!(run.machine.next_action(), None, "the other call still runs");
        let result = Input::ToolResult { call_id: "c1".into(), result: ok() };
        run.machine.step(result, &Tools, &mut run.events);
        let answer = run.seen().into_iter().find_map(|event| match event {
            RunEvent::ToolApprovalRequest(request) => Some(Ok(request.call_id)),
            RunEvent::ToolRefused { call_id, .. } => Some(Err(call_id)),
            _ => None,
        });
        (answer, run.machine.is_suspended())
    };
    assert_eq!(asked("{\"n\":2}", true), (Some(Ok("c2".into())), true));
    assert_eq!(asked("{\"n\":2}", false), (Some(Err("c2".into())), false), "the client cannot ask");
    let inexact = "{\"n\":9007199254740993}";
    assert_eq!(
        asked(inexact, true),
        (Some(Err("c2".into())), false),
        "the user would approve another number"
    );
}

#[test]
fn a_run_waits_for_an_agent_after_the_other_calls() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    let calls = call(0, "c1", "look", "{\"n\":1}").into_iter().chain(call(1, "c2", "look", "{\"n\":2}"));
    run.turn(calls.chain([finish(FinishReason::ToolCalls)]));
    assert_eq!(run.tools(), ["c1", "c2"]);
    run.seen();
    let question =
        RunEvent::ToolInputStart { call_id: "asked".into(), name: "show".into(), title: None, app: None };
    let waits = Input::ToolWaits { call_id: "c2".into(), questions: vec![question] };
    run.machine.step(waits, &Tools, &mut run.events);
    assert_eq!(run.seen(), []);
    let result = Input::ToolResult { call_id: "c1".into(), result: ok() };
    run.machine.step(result, &Tools, &mut run.events);
    assert_eq!(kinds(&run.seen()).join(" "), "output step-finish step-start input-start step-finish finish");
    assert!(run.machine.is_suspended());
}

#[test]
fn a_failure_ends_the_calls_that_have_not_ended() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    let calls = call(0, "c1", "look", "{\"n\":1}").into_iter().chain(call(1, "c2", "look", "{\"n\":2}"));
    run.turn(calls.chain([finish(FinishReason::ToolCalls)]));
    assert_eq!(run.tools(), ["c1", "c2"]);
    run.result("c1", ok());
    run.seen();
    run.feed(Input::Fail(RunErrorCode::Timeout));
    let events = run.seen();
    assert_eq!(kinds(&events), ["tool-error", "error"]);
    assert!(matches!(&events[0], RunEvent::ToolError { call_id, .. } if call_id == "c2"));

    let mut run = Driven::new(&RunRequest::prompt("hi"));
    assert!(run.machine.next_action().is_some());
    call(0, "c1", "look", "{\"n\":").into_iter().take(2).for_each(|event| run.feed(Input::Model(event)));
    run.feed(Input::Fail(RunErrorCode::Timeout));
    let written = |event| match event {
        RunEvent::ToolInputError { input, .. } => Some(input.as_str().to_owned()),
        _ => None,
    };
    assert_eq!(run.seen().into_iter().find_map(written).as_deref(), Some(r#""{\"n\":""#));
}

/// The tools with a label for each call.
struct Labelled;

impl ToolCatalog for Labelled {
    fn side(&self, name: &str) -> Option<ToolSide> {
        Tools.side(name)
    }

    fn check(&self, name: &str, arguments: &JsonText) -> Result<(), Text> {
        Tools.check(name, arguments)
    }

    fn label(&self, _name: &str, _arguments: Option<&JsonText>) -> CallLabel {
        CallLabel { title: Some("Look up".into()), summary: Some("Number 1".into()), app: None }
    }
}

#[test]
fn a_call_shows_its_title_at_the_start_and_its_summary_with_its_arguments() {
    let labels = |arguments: &str| {
        let mut events = EventBuf::new();
        let config = RunConfig::new("new-message");
        let mut machine = RunMachine::start(&RunRequest::prompt("hi"), config, &Labelled, &mut events);
        assert!(machine.next_action().is_some());
        for event in call(0, "c1", "look", arguments).into_iter().chain([finish(FinishReason::ToolCalls)]) {
            machine.step(Input::Model(event), &Labelled, &mut events);
        }
        machine.step(Input::ModelEnd, &Labelled, &mut events);
        let label = |event: RunEvent| match event {
            RunEvent::Metadata(metadata) => Some(serde_json::to_value(metadata).unwrap().to_string()),
            _ => None,
        };
        events.drain().filter_map(label).collect::<Vec<_>>()
    };
    let (valid, invalid) = (labels("{\"n\":1}"), labels("{}"));
    assert_eq!(valid.len(), 2, "{valid:?}");
    assert!(valid[0].contains(r#"{"title":"Look up"}"#), "{valid:?}");
    assert!(valid[1].contains(r#"{"summary":"Number 1"}"#), "{valid:?}");
    assert_eq!(invalid, valid[..1], "the summary of an invalid call would describe wrong arguments");
}

#[test]
fn an_incomplete_turn_cancels_only_the_last_call() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    let calls = call(0, "c1", "look", "{\"n\":1}").into_iter().chain(call(1, "c2", "look", "{\"n\":2}"));
    run.turn(calls.chain([finish(FinishReason::Length)]));
    assert_eq!(run.tools(), ["c1"]);
}

#[test]
fn a_call_without_its_end_never_runs() {
    for reason in [FinishReason::Stop, FinishReason::ToolCalls, FinishReason::Length] {
        let mut run = Driven::new(&RunRequest::prompt("hi"));
        let open = call(0, "c1", "look", "{\"n\":1}").into_iter().take(2);
        run.turn(open.chain([finish(reason)]));
        assert_eq!(run.machine.next_action(), None);
        assert!(kinds(&run.seen()).contains(&"input-error"));
    }
}

#[test]
fn a_stream_without_a_finish_counts_as_interrupted() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    run.turn([text("Hel")].into_iter().chain(call(0, "c1", "look", "{\"n\":1}")));
    let events = run.seen();
    assert!(matches!(events.last(), Some(RunEvent::Error { code: RunErrorCode::StreamInterrupted, .. })));
    assert!(kinds(&events).contains(&"text-end"));
    assert_eq!(run.machine.next_action(), None);
}

#[test]
fn an_error_after_a_complete_answer_is_ignored() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    assert!(run.machine.next_action().is_some());
    run.feed(Input::Model(text("Hi")));
    run.feed(Input::Model(finish(FinishReason::Stop)));
    run.feed(Input::ModelError(RunErrorCode::Timeout));
    assert!(matches!(run.seen().last(), Some(RunEvent::Finish { .. })));
}

#[test]
fn steps_are_bounded_across_requests() {
    let looking = |n: u32| call(0, &format!("c{n}"), "look", "{\"n\":1}").into_iter();
    let mut config = RunConfig::new("new-message");
    config.max_steps = 2;
    let mut machine = Driven::with(&RunRequest::prompt("hi"), config.clone());
    let mut steps = 0;
    while let Some(Action::CallModel { .. }) = machine.machine.next_action() {
        steps += 1;
        for event in looking(steps).chain([finish(FinishReason::ToolCalls)]) {
            machine.machine.step(Input::Model(event), &Tools, &mut machine.events);
        }
        machine.machine.step(Input::ModelEnd, &Tools, &mut machine.events);
        let id = machine.tools().remove(0);
        machine.machine.step(
            Input::ToolResult { call_id: id.into(), result: ok() },
            &Tools,
            &mut machine.events,
        );
    }
    assert_eq!((steps, machine.machine.steps()), (2, 2));
    assert!(matches!(machine.seen().last(), Some(RunEvent::Error { code: RunErrorCode::MaxSteps, .. })));

    let step = || [Part::StepStart, answered("a", "show", Some("x"))];
    let one = RunRequest::new(vec![Message::user("m1", "hi"), assistant(step().into())]);
    let mut parts = Vec::from(step());
    parts.extend([Part::StepStart, answered("b", "show", Some("x"))]);
    let two = RunRequest::new(vec![Message::user("m1", "hi"), assistant(parts)]);
    assert!(Driven::with(&one, config.clone()).machine.next_action().is_some());
    assert!(Driven::with(&two, config).machine.next_action().is_none());
}

#[test]
fn a_message_without_marks_of_steps_counts_as_one_step() {
    let mut config = RunConfig::new("new-message");
    config.max_steps = 2;
    let run = |posted: Vec<Message>| {
        let request = RunRequest::new([vec![Message::user("m1", "hi")], posted].concat());
        Driven::with(&request, config.clone()).machine.next_action()
    };
    let unmarked = |id: &str| assistant(vec![answered(id, "show", Some("x"))]);
    assert!(run(vec![unmarked("a")]).is_some());
    assert!(
        run(vec![unmarked("a"), unmarked("b")]).is_none(),
        "a client that posts no marks has no more steps"
    );
    assert!(run(vec![assistant(Vec::new()), unmarked("a")]).is_some(), "an empty message took no step");
}

#[test]
fn arguments_are_bounded() {
    for (bytes, fits) in [(10, true), (11, false)] {
        let mut config = RunConfig::new("new-message");
        config.max_tool_args_bytes = 10;
        let mut run = Driven::with(&RunRequest::prompt("hi"), config.clone());
        assert!(run.machine.next_action().is_some());
        let arguments = format!("{{\"n\":{}}}", "1".repeat(bytes - 6));
        for event in call(0, "c1", "look", &arguments) {
            run.machine.step(Input::Model(event), &Tools, &mut run.events);
        }
        assert_eq!(!run.machine.is_done(), fits);

        // The parts count together, before the call has ended.
        let mut run = Driven::with(&RunRequest::prompt("hi"), config);
        assert!(run.machine.next_action().is_some());
        let [start, ..] = call(0, "c1", "look", "");
        let parts =
            arguments.chars().map(|part| LlmEvent::ToolCallDelta { call: 0, delta: part.to_string().into() });
        for event in [start].into_iter().chain(parts) {
            run.machine.step(Input::Model(event), &Tools, &mut run.events);
        }
        assert_eq!(!run.machine.is_done(), fits);
    }
}

#[test]
fn an_abort_ends_the_run() {
    let mut run = Driven::new(&RunRequest::prompt("hi"));
    run.turn(call(0, "c1", "look", "{\"n\":1}").into_iter().chain([finish(FinishReason::ToolCalls)]));
    assert_eq!(run.tools(), ["c1"]);
    run.feed(Input::Abort { reason: "stopped".into() });
    run.result("c1", ok());
    assert!(matches!(run.seen().last(), Some(RunEvent::Abort { .. })));
    assert_eq!(run.machine.next_action(), None);
}

#[test]
fn context_changes_only_the_last_user_message() {
    let messages =
        vec![Message::user("m1", "one"), Message::assistant("m2", "two"), Message::user("m3", "three")];
    let transcript = |context: Option<&str>| {
        let mut config = RunConfig::new("new-message");
        config.context = context.map(Text::from);
        match Driven::with(&RunRequest::new(messages.clone()), config).machine.next_action() {
            Some(Action::CallModel { transcript }) => transcript.to_vec(),
            other => panic!("{other:?}"),
        }
    };
    let (without, with) = (transcript(None), transcript(Some("CONTEXT")));
    assert_eq!(without.len(), with.len());
    assert_eq!(without[..2], with[..2]);
    let json = serde_json::to_string(&with[2]).unwrap();
    assert!(json.find("CONTEXT").unwrap() < json.find("three").unwrap());
}

mod rebuilt {
    //! Compares the transcript of a run with the transcript that is rebuilt from the message of a client.

    use omniassist_core::message::MessageCollector;
    use omniassist_core::transcript::{from_messages, repair};
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Said {
        Text(String),
        Reasoning(String, bool),
        Call { tool: &'static str, fits: bool, ended: bool },
    }

    fn said() -> impl Strategy<Value = Said> {
        prop_oneof![
            "[a-z ]{0,12}".prop_map(Said::Text),
            ("[a-z ]{0,12}", any::<bool>()).prop_map(|(text, state)| Said::Reasoning(text, state)),
            (prop::sample::select(vec!["look", "show", "gone"]), any::<bool>(), prop::bool::weighted(0.9))
                .prop_map(|(tool, fits, ended)| Said::Call { tool, fits, ended }),
        ]
    }

    fn turn() -> impl Strategy<Value = (Vec<Said>, FinishReason)> {
        let reason =
            prop::sample::select(vec![FinishReason::Stop, FinishReason::ToolCalls, FinishReason::Length]);
        (prop::collection::vec(said(), 0..5), reason)
    }

    fn events((said, reason): (Vec<Said>, FinishReason)) -> Vec<LlmEvent> {
        let mut events = Vec::new();
        for (number, said) in (0_u32..).zip(said) {
            match said {
                Said::Text(delta) => {
                    events.push(LlmEvent::TextDelta { block: number, delta: delta.into() });
                    events.push(LlmEvent::TextEnd { block: number, metadata: None });
                }
                Said::Reasoning(delta, state) => {
                    let metadata = state.then(|| {
                        serde_json::from_value(serde_json::json!({"p": {"state": number}})).unwrap()
                    });
                    events.push(LlmEvent::ReasoningDelta { block: number, delta: delta.into() });
                    events.push(LlmEvent::ReasoningEnd { block: number, metadata });
                }
                Said::Call { tool, fits, ended } => {
                    // Some servers restart the numbering of calls in each answer.
                    let id = format!("call-{number}");
                    let arguments = if fits { "{\"n\":1}" } else { "{\"n\":" };
                    events.extend(call(number, &id, tool, arguments).into_iter().take(if ended {
                        3
                    } else {
                        2
                    }));
                }
            }
        }
        events.push(finish(reason));
        events
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn equals_the_transcript_of_the_run(turns in prop::collection::vec(turn(), 1..4), fails in any::<bool>()) {
            let user = Message::user("m1", "hi");
            let mut run = Driven::new(&RunRequest::new(vec![user.clone()]));
            let mut turns = turns.into_iter();
            while !run.machine.is_done() {
                match run.machine.next_action() {
                    Some(Action::CallModel { transcript }) => {
                        prop_assert!(is_legal(&transcript));
                        let Some(turn) = turns.next() else { break };
                        for event in events(turn) {
                            run.feed(Input::Model(event));
                        }
                        run.feed(Input::ModelEnd);
                    }
                    Some(Action::RunTools { calls }) => {
                        for call in calls {
                            run.result(&call.id, if fails { Err("no luck".into()) } else { ok() });
                        }
                    }
                    other => panic!("{other:?}"),
                }
            }
            let mut collector = MessageCollector::new();
            for event in run.seen() {
                collector.apply(&event);
            }
            let posted = from_messages(&[user, collector.into_message()]);
            let kept = repair(run.machine.transcript().to_vec());
            prop_assert_eq!(posted, kept);
        }
    }
}
