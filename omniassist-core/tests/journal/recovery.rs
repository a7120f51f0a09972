//! A run that is rebuilt from its journal goes on as the run that wrote it.

use bytes::Bytes;
use omniassist_core::event::{BlockId, CallKind, RunErrorCode};
use omniassist_core::history::{TokenRate, Window};
use omniassist_core::journal::{self, Content, JournalError, Record, Replay, SegmentWriter, UnknownRecord};
use omniassist_core::message::{Approval, Decision, Message, Part, ProviderMetadata, ToolPart, ToolState};
use omniassist_core::run::{Action, AnswerCheck, Gate, Input, Recovered, RunConfig, RunMachine, ToolCatalog};
use omniassist_core::transcript::{TranscriptItem, UserContent};
use omniassist_core::{
    EventBuf, FinishReason, JsonText, LlmEvent, RunEvent, RunRequest, Text, ToolSide, Usage,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::records;

/// `look` runs on the server and needs `n`, `show` runs in the client, and `pay` needs an approval.
pub(super) struct Tools;

impl ToolCatalog for Tools {
    fn side(&self, name: &str) -> Option<ToolSide> {
        match name {
            "look" | "pay" => Some(ToolSide::Server),
            "show" => Some(ToolSide::FrontEnd),
            _ => None,
        }
    }

    fn check(&self, name: &str, arguments: &JsonText) -> Result<(), Text> {
        let fits = name != "look" || arguments.to_value().get("n").is_some();
        if fits { Ok(()) } else { Err("`n` is missing".into()) }
    }

    fn gate(&self, name: &str, _arguments: &JsonText) -> Gate {
        match name {
            "pay" => Gate::Approval { message: Some("Pay?".into()), editable: true },
            _ => Gate::Open,
        }
    }
}

/// A server with a journal.
pub(super) struct Server {
    request: RunRequest,
    config: RunConfig,
    pub(super) machine: RunMachine,
    events: EventBuf<RunEvent>,
    writer: SegmentWriter,
    pub(super) segments: Vec<Bytes>,
    pub(super) shown: Vec<RunEvent>,
}

impl Server {
    pub(super) fn start(request: RunRequest, config: RunConfig) -> Self {
        let mut config = config;
        config.journaled = true;
        let mut events = EventBuf::new();
        let machine = RunMachine::start(&request, config.clone(), &Tools, &mut events);
        let (writer, segments, shown) = Default::default();
        let mut server = Self { request, config, machine, events, writer, segments, shown };
        server.write();
        server
    }

    /// Writes the events of the machine, sealed as a server does.
    fn write(&mut self) {
        for mut event in self.events.drain() {
            if let RunEvent::TextEnd { metadata, .. }
            | RunEvent::ReasoningEnd { metadata, .. }
            | RunEvent::ToolInputAvailable { metadata, .. }
            | RunEvent::ToolInputError { metadata, .. } = &mut event
            {
                metadata.get_or_insert_default().set_own("seal", "v1");
            }
            self.writer.event(&event).unwrap();
            self.shown.push(event);
        }
        if let Some(handle) = self.machine.take_kept() {
            self.writer.record(&Content::Kept(*handle).into()).unwrap();
        }
        if let Some(turn) = self.machine.take_record() {
            self.writer.record(&Content::Turn(turn).into()).unwrap();
        }
    }

    pub(super) fn cut(&mut self) {
        self.segments.extend(self.writer.take().map(|segment| segment.bytes));
    }

    pub(super) fn feed(&mut self, input: Input) {
        self.machine.step(input, &Tools, &mut self.events);
        self.write();
    }

    pub(super) fn turn(&mut self, said: impl IntoIterator<Item = LlmEvent>) {
        assert!(matches!(self.machine.next_action(), Some(Action::CallModel { .. })));
        said.into_iter().for_each(|event| self.feed(Input::Model(event)));
        self.feed(Input::ModelEnd);
    }

    pub(super) fn begin(&mut self, calls: &[Text]) {
        self.writer.record(&Content::Begun(calls.to_vec()).into()).unwrap();
    }

    pub(super) fn record(&mut self, content: Content) {
        self.writer.record(&Record::from(content)).unwrap();
    }

    fn fold(&self, records: Vec<Record>) -> Result<Recovered, JournalError> {
        let machine = RunMachine::start(&self.request, self.config.clone(), &Tools, &mut EventBuf::new());
        journal::fold(machine, records)
    }

    pub(super) fn recovered(&mut self) -> Recovered {
        self.cut();
        self.fold(records(&self.segments)).unwrap()
    }

    /// Stops, and goes on as another server.
    pub(super) fn restart(&mut self) -> Vec<Text> {
        let recovered = self.recovered();
        self.machine = recovered.machine;
        recovered.events.into_iter().for_each(|event| self.events.push(event));
        self.write();
        recovered.interrupted
    }
}

pub(super) fn call(number: u32, id: &str, name: &str, arguments: &str) -> [LlmEvent; 3] {
    [
        LlmEvent::ToolCallStart { call: number, id: id.into(), name: name.into(), kind: CallKind::Function },
        LlmEvent::ToolCallDelta { call: number, delta: arguments.into() },
        LlmEvent::ToolCallEnd { call: number, arguments: arguments.into(), metadata: None },
    ]
}

pub(super) fn finish(reason: FinishReason) -> LlmEvent {
    let truncated = reason.is_cut();
    LlmEvent::Finish { reason, raw: None, truncated }
}

pub(super) fn text(delta: &str) -> LlmEvent {
    LlmEvent::TextDelta { block: 0, delta: delta.into() }
}

pub(super) fn server() -> Server {
    Server::start(RunRequest::prompt("hi"), RunConfig::new("a1"))
}

/// Returns the check of answers that must have an `a`.
fn with_a() -> AnswerCheck {
    AnswerCheck::new(|answer| if answer.contains('a') { Ok(()) } else { Err("Write an `a`.".into()) })
}

fn state(machine: &RunMachine) -> Value {
    serde_json::to_value(machine.state()).unwrap()
}

/// Returns a state without what a turn that was withdrawn leaves behind.
fn without_turn(machine: &RunMachine) -> Value {
    let mut state = state(machine);
    state["turn"] = Value::Null;
    state["next_block"] = Value::Null;
    state
}

#[derive(Debug, Clone)]
enum Said {
    Block { reasoning: bool, deltas: Vec<String>, state: Option<u8>, ends: bool },
    Call { tool: &'static str, arguments: &'static str, ended: bool, state: bool },
    Search { replayed: bool },
    File,
}

fn said() -> impl Strategy<Value = Said> {
    let arguments = [r#"{"n":1}"#, r#"{"n": 12345678901234567890, "x":1.50}"#, "{}", "{\"n\":", ""];
    prop_oneof![
        3 => (any::<bool>(), vec("[a-zäß ]{0,6}", 0..4), option::of(any::<u8>()), any::<bool>())
            .prop_map(|(reasoning, deltas, state, ends)| Said::Block { reasoning, deltas, state, ends }),
        3 => (
            prop::sample::select(vec!["look", "look", "show", "pay", "gone"]),
            prop::sample::select(arguments.to_vec()),
            prop::bool::weighted(0.9),
            any::<bool>(),
        ).prop_map(|(tool, arguments, ended, state)| Said::Call { tool, arguments, ended, state }),
        1 => any::<bool>().prop_map(|replayed| Said::Search { replayed }),
        1 => Just(Said::File),
    ]
}

fn turn() -> impl Strategy<Value = Vec<LlmEvent>> {
    let reason = prop::sample::select(vec![
        FinishReason::Stop,
        FinishReason::ToolCalls,
        FinishReason::Length,
        FinishReason::Pause,
    ]);
    (vec(said(), 0..5), reason, option::of(0..99u64)).prop_map(|(said, reason, tokens)| {
        let mut events: Vec<_> = (0..).zip(said).flat_map(|(number, said)| events(number, said)).collect();
        let mut usage = Usage::default();
        usage.input_tokens = tokens;
        events.push(LlmEvent::Usage(usage));
        events.push(finish(reason));
        events
    })
}

fn metadata(state: impl Into<Value>) -> ProviderMetadata {
    serde_json::from_value(json!({"p": {"state": state.into()}})).unwrap()
}

fn events(block: u32, said: Said) -> Vec<LlmEvent> {
    match said {
        Said::Block { reasoning, deltas, state, ends } => {
            let delta = |delta: String| match reasoning {
                true => LlmEvent::ReasoningDelta { block, delta: delta.into() },
                false => LlmEvent::TextDelta { block, delta: delta.into() },
            };
            let metadata = state.map(metadata);
            let end = match reasoning {
                true => LlmEvent::ReasoningEnd { block, metadata },
                false => LlmEvent::TextEnd { block, metadata },
            };
            deltas.into_iter().map(delta).chain(ends.then_some(end)).collect()
        }
        Said::Call { tool, arguments, ended, state } => {
            // Some servers restart the numbering of calls in each answer, and others give no number.
            let id = if state { String::new() } else { format!("call-{block}") };
            let mut events = call(block, &id, tool, arguments).to_vec();
            if let (true, Some(LlmEvent::ToolCallEnd { metadata: kept, .. })) = (state, events.last_mut()) {
                *kept = Some(metadata("signature"));
            }
            events.truncate(if ended { 3 } else { 2 });
            events
        }
        Said::Search { replayed } => vec![LlmEvent::ProviderTool {
            id: format!("search-{block}").into(),
            kind: "web_search".into(),
            name: None,
            item: JsonText::parse(r#"{"type":"web_search_call","secret":1}"#).unwrap(),
            replay_to: replayed.then(|| "openai".into()),
        }],
        Said::File => vec![LlmEvent::File { media_type: "a/b".into(), url: "data:,".into() }],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_folded_state_is_the_kept_one(
        turns in vec(turn(), 1..5),
        max_steps in 1..6_u32,
        fails in any::<bool>(),
        stops in vec(any::<prop::sample::Index>(), 5),
        restarts in any::<bool>(),
        checks in any::<bool>(),
    ) {
        let mut config = RunConfig::new("a1");
        config.max_steps = max_steps;
        config.answer_check = checks.then(with_a);
        let mut server = Server::start(RunRequest::prompt("hi"), config);
        let mut turns = turns.into_iter().zip(stops);
        loop {
            let recovered = server.recovered();
            prop_assert_eq!(state(&recovered.machine), state(&server.machine));
            prop_assert_eq!((recovered.interrupted, recovered.events), (vec![], vec![]));
            let before = server.machine.clone();
            match server.machine.next_action() {
                Some(Action::CallModel { .. }) => {
                    let Some((turn, stop)) = turns.next() else { break };
                    prop_assert!(server.machine.next_action().is_none());
                    let stop = stop.index(turn.len());
                    for (at, event) in turn.clone().into_iter().enumerate() {
                        server.feed(Input::Model(event));
                        if at != stop || server.machine.is_done() {
                            continue;
                        }
                        let recovered = server.recovered();
                        prop_assert_eq!(without_turn(&recovered.machine), without_turn(&before));
                        prop_assert_eq!(recovered.events, [RunEvent::StepReset]);
                        if restarts {
                            server.restart();
                            server.turn(turn);
                            break;
                        }
                    }
                    server.feed(Input::ModelEnd);
                }
                Some(Action::RunTools { calls }) => {
                    let ids: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
                    server.begin(&ids);
                    for (at, call_id) in ids.iter().enumerate() {
                        let mut recovered = server.recovered();
                        prop_assert_eq!(&recovered.interrupted, &ids[at..]);
                        prop_assert!(recovered.machine.next_action().is_some());
                        prop_assert_eq!(state(&recovered.machine), state(&server.machine));
                        let result = if fails { Err("no luck".into()) } else { Ok(JsonText::NULL) };
                        server.feed(Input::ToolResult { call_id: call_id.clone(), result });
                    }
                }
                _ => break,
            }
        }
    }

    /// The journal may end after any event, and in any record.
    #[test]
    fn a_journal_that_ends_anywhere_is_continued(
        turns in vec(turn(), 1..4),
        end in any::<prop::sample::Index>(),
        checks in any::<bool>(),
    ) {
        let mut config = RunConfig::new("a1");
        config.answer_check = checks.then(with_a);
        let mut server = Server::start(RunRequest::prompt("hi"), config);
        for turn in turns {
            if server.machine.is_done() {
                break;
            }
            server.turn(turn);
            if let Some(Action::RunTools { calls }) = server.machine.clone().next_action() {
                server.machine.next_action();
                for call in calls {
                    server.feed(Input::ToolResult { call_id: call.id, result: Ok(JsonText::NULL) });
                }
            }
        }
        server.cut();
        let mut all = records(&server.segments);
        all.truncate(end.index(all.len() + 1));
        let shown = journal::exact(&all);
        let recovered = server.fold(all).unwrap();
        let ends = shown.iter().chain(&recovered.events).filter(|event| event.is_terminal()).count();
        prop_assert_eq!(ends, usize::from(recovered.machine.is_done()));
    }
}

/// Returns the steps of a run whose answers are these, each read by another server.
fn answered(max_steps: u32, answers: &[(&str, FinishReason)]) -> (usize, Option<RunEvent>, RunMachine) {
    let mut config = RunConfig::new("a1");
    (config.max_steps, config.answer_check) = (max_steps, Some(with_a()));
    let mut server = Server::start(RunRequest::prompt("hi"), config);
    let mut steps = 0;
    for (answer, reason) in answers {
        if server.machine.is_done() {
            break;
        }
        steps += 1;
        server.turn([text(answer), finish(reason.clone())]);
        server.restart();
    }
    (steps, server.shown.last().cloned(), server.machine)
}

#[test]
fn an_answer_is_corrected_once_by_whichever_server_has_the_run() {
    let stop = FinishReason::Stop;
    let (steps, last, machine) = answered(9, &[("no", stop.clone()), ("yea", stop.clone())]);
    assert!(matches!(last, Some(RunEvent::Finish { reason: FinishReason::Stop, .. })), "{last:?}");
    assert_eq!(steps, 2);
    let correction =
        TranscriptItem::User { content: vec![UserContent::Text { text: "Write an `a`.".into() }] };
    let said = |text: &str| TranscriptItem::Text { text: text.into(), metadata: None };
    assert_eq!(machine.transcript()[1..], [said("no"), correction, said("yea")]);

    let failed = |last: Option<RunEvent>| {
        matches!(last, Some(RunEvent::Error { code: RunErrorCode::InvalidAnswer, .. }))
    };
    let (steps, last, _) = answered(9, &[("no", stop.clone()), ("no", stop.clone()), ("yea", stop.clone())]);
    assert!(failed(last) && steps == 2, "{steps} steps");
    let (steps, last, _) = answered(1, &[("no", stop.clone()), ("yea", stop.clone())]);
    assert!(failed(last) && steps == 1, "no step is left");

    // A part of an answer is not checked, and the parts of one are checked together.
    let (_, last, _) = answered(9, &[("no", FinishReason::Length)]);
    assert!(matches!(last, Some(RunEvent::Finish { reason: FinishReason::Length, .. })), "{last:?}");
    let (steps, last, _) = answered(9, &[("yea", FinishReason::Pause), ("no", stop)]);
    assert!(matches!(last, Some(RunEvent::Finish { .. })) && steps == 2, "{last:?}");
}

#[test]
fn a_turn_that_was_cut_off_is_withdrawn_and_repeated() {
    let mut server = server();
    server.machine.next_action();
    server.feed(Input::Model(text("Hel")));
    assert!(server.restart().is_empty());
    server.turn([text("Hi"), finish(FinishReason::Stop)]);
    server.cut();
    let records = records(&server.segments);
    let name = |event: &RunEvent| serde_json::to_value(event).unwrap();
    let name = |event: &RunEvent| match name(event) {
        Value::Object(event) => event.keys().next().unwrap().clone(),
        event => event.as_str().unwrap().to_owned(),
    };
    let names = |events: &[RunEvent]| events.iter().map(name).collect::<Vec<_>>().join(" ");
    let expected =
        "start step-start text-start text-delta step-reset text-start text-delta text-end step-finish finish";
    assert_eq!(names(&journal::exact(&records)), expected);
    let replay = Replay::new().events(&records);
    assert_eq!(names(&replay), "start step-start text-start text-delta text-end step-finish finish");
    assert_eq!(replay[3], RunEvent::TextDelta { id: BlockId(1), delta: "Hi".into() });
}

/// The conversation becomes too long for the model, or for its window, while tools add results.
#[test]
fn a_shortened_conversation_is_shortened_again() {
    for with_window in [false, true] {
        let message = |number: usize| match number % 2 {
            0 => Message::user(format!("u{number}"), "word ".repeat(100)),
            _ => Message::assistant(format!("a{number}"), "word ".repeat(100)),
        };
        let messages: Vec<_> = (0..9).map(message).collect();
        let mut config = RunConfig::new("a9");
        if with_window {
            config.view = Some(Window::fit(1_500).view(&messages, 0, TokenRate::default()));
        }
        let mut server = Server::start(RunRequest::new(messages), config);
        let before = server.machine.transcript().len();
        if !with_window {
            server.machine.next_action();
            server.feed(Input::ContextOverflow);
        }
        for number in 0..3 {
            let call = call(0, "c", "look", &format!(r#"{{"n":{number}}}"#));
            server.turn(call.into_iter().chain([finish(FinishReason::ToolCalls)]));
            let recovered = server.recovered();
            assert_eq!(state(&recovered.machine), state(&server.machine));
            let Some(Action::RunTools { calls }) = server.machine.next_action() else { panic!() };
            let output = JsonText::from_str_value(&"word ".repeat(300));
            server.feed(Input::ToolResult { call_id: calls[0].id.clone(), result: Ok(output) });
            let recovered = server.recovered();
            assert_eq!(state(&recovered.machine), state(&server.machine));
        }
        assert!(server.machine.transcript().len() < before + 6, "nothing was left out");
    }
}

/// The results of a step are durable, and its end is not.
#[test]
fn events_that_follow_from_the_journal_are_returned() {
    let mut server = server();
    server.turn(call(0, "c1", "look", r#"{"n":1}"#).into_iter().chain([finish(FinishReason::ToolCalls)]));
    server.begin(&["c1".into()]);
    server.machine.next_action();
    server.feed(Input::ToolResult { call_id: "c1".into(), result: Ok(JsonText::NULL) });
    let kept = state(&server.machine);
    server.cut();
    let mut records = records(&server.segments);
    let last = records.pop().unwrap();
    let recovered = server.fold(records).unwrap();
    assert_eq!(Content::Event(recovered.events[0].clone()), last.content);
    assert_eq!(recovered.events.len(), 1);
    assert_eq!(state(&recovered.machine), kept);
}

#[test]
fn a_stopped_or_failed_run_stays_so() {
    for end in
        [Input::Abort { reason: "stop".into() }, Input::Fail(omniassist_core::event::RunErrorCode::Timeout)]
    {
        let mut server = server();
        server.turn(call(0, "c1", "look", r#"{"n":1}"#).into_iter().chain([finish(FinishReason::ToolCalls)]));
        server.machine.next_action();
        server.begin(&["c1".into()]);
        server.feed(end);
        let mut recovered = server.recovered();
        assert!(recovered.machine.is_done() && !recovered.machine.is_suspended());
        assert_eq!((recovered.events, recovered.machine.next_action()), (vec![], None));
    }
}

/// The arguments are those that were approved, even if the tools have changed since.
#[test]
fn approved_calls_run_with_the_arguments_of_the_journal() {
    let input = JsonText::parse(r#"{"n":1}"#).unwrap();
    let mut approval = Approval::new("approval-c1").decided(Decision::approved());
    approval.arguments = Some(JsonText::parse(r#"{"n":2}"#).unwrap());
    let call = ToolPart {
        call_id: "c1".into(),
        name: "pay".into(),
        dynamic: false,
        provider_executed: false,
        state: ToolState::ApprovalResponded { input, approval },
        metadata: None,
    };
    let parts = vec![Part::StepStart, Part::Tool(call)];
    let answer = Message { parts, ..Message::assistant("a1", "") };
    let request = RunRequest::new(vec![Message::user("u1", "Pay."), answer]);
    let mut server = Server::start(request, RunConfig::new("a2"));
    let recovered = server.recovered();
    assert_eq!(state(&recovered.machine), state(&server.machine));
    server.config.refused_approvals =
        vec![omniassist_core::run::RefusedApproval { call_id: "c1".into(), reason: "used".into() }];
    assert!(server.restart().is_empty(), "it has not begun");
    let Some(Action::RunTools { calls }) = server.machine.next_action() else { panic!() };
    assert_eq!(calls[0].arguments.as_str(), r#"{"n":2}"#);
    server.begin(&["c1".into()]);
    assert_eq!(server.restart(), ["c1"]);
    server.machine.next_action();
    server.feed(Input::ToolResult { call_id: "c1".into(), result: Ok(JsonText::NULL) });
    let recovered = server.recovered();
    assert_eq!(state(&recovered.machine), state(&server.machine));
}

#[test]
fn a_lost_segment_is_an_error() {
    let mut server = server();
    assert!(matches!(server.machine.next_action(), Some(Action::CallModel { .. })));
    server.feed(Input::Model(text("Hello")));
    server.cut();
    server.feed(Input::Model(finish(FinishReason::Stop)));
    server.feed(Input::ModelEnd);
    server.cut();
    let error = server.fold(records(&server.segments[1..])).unwrap_err();
    assert!(error.is_corrupt(), "{error}");
}

#[test]
fn a_required_record_of_a_later_version_prevents_a_recovery() {
    let mut server = server();
    server.record(Content::Unknown(UnknownRecord::new(99, false, "x")));
    server.recovered();
    server.record(Content::Unknown(UnknownRecord::new(99, true, "x")));
    server.cut();
    let error = server.fold(records(&server.segments)).unwrap_err();
    assert!(error.is_newer() && !error.is_corrupt(), "{error}");
}

#[test]
fn a_run_without_a_journal_makes_no_records() {
    let mut events = EventBuf::new();
    let mut machine = RunMachine::start(&RunRequest::prompt("hi"), RunConfig::new("a1"), &Tools, &mut events);
    machine.next_action();
    machine.step(Input::Model(finish(FinishReason::Stop)), &Tools, &mut events);
    machine.step(Input::ModelEnd, &Tools, &mut events);
    assert_eq!(machine.take_record(), None);
}

/// The calls of a step end in another order, and two of them wait for the user or are refused while a third runs.
#[test]
fn calls_that_end_in_another_order_are_recovered() {
    for approvals in [true, false] {
        let mut request = RunRequest::prompt("hi");
        request.abilities.approvals = approvals;
        let mut server = Server::start(request, RunConfig::new("a1"));
        let calls = (0..3).flat_map(|number| call(number, &format!("c{number}"), "look", r#"{"n":1}"#));
        server.turn(calls.chain([finish(FinishReason::ToolCalls)]));
        assert!(matches!(server.machine.next_action(), Some(Action::RunTools { .. })));
        let gate = Gate::Approval { message: None, editable: false };
        for input in [
            Input::ToolResult { call_id: "c1".into(), result: Ok(JsonText::NULL) },
            Input::ApprovalNeeded { call_id: "c2".into(), gate },
        ] {
            server.feed(input);
            // A server that continues makes the tools due again.
            let mut recovered = server.recovered().machine;
            let Some(Action::RunTools { calls }) = recovered.next_action() else { panic!() };
            assert_eq!(calls[0].id, "c0");
            assert_eq!(state(&recovered), state(&server.machine));
        }
    }
}

/// The end of a turn was not durable. The model is asked again, and makes a call with the same id.
#[test]
fn a_repeated_turn_runs_its_own_arguments() {
    let mut server = server();
    let look =
        |arguments| call(0, "c", "look", arguments).into_iter().chain([finish(FinishReason::ToolCalls)]);
    server.turn(look(r#"{"n":1}"#));
    server.cut();
    let mut written = records(&server.segments);
    written.retain(|record| !matches!(record.content, Content::Turn(_)));
    let recovered = server.fold(written.clone()).unwrap();
    assert_eq!(recovered.events, [RunEvent::StepReset]);

    server.segments.clear();
    server.machine = recovered.machine;
    recovered.events.into_iter().for_each(|event| server.events.push(event));
    server.write();
    server.turn(look(r#"{"n":2}"#));
    server.cut();
    written.extend(records(&server.segments));
    let mut recovered = server.fold(written).unwrap().machine;
    let Some(Action::RunTools { calls }) = recovered.next_action() else { panic!() };
    assert_eq!(calls[0].arguments.as_str(), r#"{"n":2}"#);
}
