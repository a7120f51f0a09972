//! Tests of providers' built-in tools, and of turns that a provider pauses for them.

use omniassist_core::event::{CallKind, RunErrorCode};
use omniassist_core::run::{Action, Input, RunConfig, RunMachine, RunState, ToolCatalog};
use omniassist_core::transcript::{compact, is_legal, repair, size};
use omniassist_core::{
    EventBuf, FinishReason, JsonText, LlmEvent, RunEvent, RunRequest, Text, ToolSide, TranscriptItem,
};

struct Tools;

impl ToolCatalog for Tools {
    fn side(&self, _name: &str) -> Option<ToolSide> {
        Some(ToolSide::Server)
    }

    fn check(&self, _name: &str, _arguments: &JsonText) -> Result<(), Text> {
        Ok(())
    }
}

struct Run {
    machine: RunMachine,
    events: EventBuf<RunEvent>,
}

impl Run {
    fn new() -> Self {
        let mut events = EventBuf::new();
        let config = RunConfig::new("m");
        let machine = RunMachine::start(&RunRequest::prompt("hi"), config, &Tools, &mut events);
        Self { machine, events }
    }

    /// Runs one turn of the model and returns the transcript that it received.
    fn turn(&mut self, said: impl IntoIterator<Item = LlmEvent>) -> Vec<TranscriptItem> {
        let Some(Action::CallModel { transcript }) = self.machine.next_action() else {
            panic!("no model call is due")
        };
        for event in said {
            self.feed(Input::Model(event));
        }
        self.feed(Input::ModelEnd);
        assert!(is_legal(&transcript), "{transcript:?}");
        transcript.to_vec()
    }

    /// Every state can be serialised and restored.
    fn feed(&mut self, input: Input) {
        let state = serde_json::to_string(self.machine.state()).unwrap();
        let state: RunState = serde_json::from_str(&state).unwrap();
        self.machine = RunMachine::resume(state, RunConfig::new("m")).unwrap();
        self.machine.step(input, &Tools, &mut self.events);
    }

    fn seen(&mut self) -> Vec<RunEvent> {
        self.events.drain().collect()
    }
}

fn text(delta: &str) -> LlmEvent {
    LlmEvent::TextDelta { block: 0, delta: delta.into() }
}

fn ran(id: &str, replay_to: Option<&'static str>) -> LlmEvent {
    LlmEvent::ProviderTool {
        id: id.into(),
        kind: "web_search".into(),
        name: None,
        item: json(id),
        replay_to: replay_to.map(Text::from_static),
    }
}

fn json(id: &str) -> JsonText {
    JsonText::parse(format!("{{ \"id\": \"{id}\", \"n\": 1.50 }}")).unwrap()
}

fn item(id: &str) -> TranscriptItem {
    TranscriptItem::ProviderItem { provider: "anthropic".into(), item: json(id) }
}

fn said(text: &str) -> TranscriptItem {
    TranscriptItem::Text { text: text.into(), metadata: None }
}

fn finish(reason: FinishReason) -> LlmEvent {
    LlmEvent::Finish { reason, raw: None, truncated: false }
}

#[test]
fn a_provider_item_keeps_its_position_and_its_bytes() {
    let mut run = Run::new();
    run.turn([
        text("Let me see."),
        LlmEvent::TextEnd { block: 0, metadata: None },
        ran("a", Some("anthropic")),
        ran("shown only", None),
        LlmEvent::TextDelta { block: 1, delta: "Found.".into() },
        ran("b", Some("anthropic")),
        LlmEvent::ToolCallStart { call: 0, id: "c".into(), name: "look".into(), kind: CallKind::Function },
        LlmEvent::ToolCallEnd { call: 0, arguments: "{}".into(), metadata: None },
        finish(FinishReason::ToolCalls),
    ]);
    let shown = run.seen();
    let shown = shown.iter().filter(|event| matches!(event, RunEvent::ToolOutput { .. })).count();
    assert_eq!(shown, 3, "the client must receive every item");
    assert!(matches!(run.machine.next_action(), Some(Action::RunTools { .. })));
    run.feed(Input::ToolResult { call_id: "c".into(), result: Ok(JsonText::NULL) });
    let sent = run.turn([text("Done."), finish(FinishReason::Stop)]);
    let [TranscriptItem::User { .. }, turn @ .., TranscriptItem::Call(_), TranscriptItem::Result(_)] =
        &sent[..]
    else {
        panic!("{sent:?}");
    };
    assert_eq!(turn, [said("Let me see."), item("a"), said("Found."), item("b")]);
}

#[test]
fn an_interrupted_turn_continues() {
    let mut run = Run::new();
    run.turn([text("Looking."), ran("a", Some("anthropic")), finish(FinishReason::Pause)]);
    let sent = run.turn([ran("b", Some("anthropic")), finish(FinishReason::Pause)]);
    assert_eq!(sent[1..], [said("Looking."), item("a")]);
    let sent = run.turn([text("Here it is."), finish(FinishReason::Stop)]);
    assert_eq!(sent[1..], [said("Looking."), item("a"), item("b")]);
    assert!(run.machine.is_done());
    let events = run.seen();
    let steps = events.iter().filter(|event| matches!(event, RunEvent::StepStart)).count();
    assert_eq!((steps, events.iter().filter(|event| event.is_terminal()).count()), (3, 1));
    assert!(matches!(events.last(), Some(RunEvent::Finish { reason: FinishReason::Stop, .. })), "{events:?}");
}

#[test]
fn repeated_interrupted_turns_end_at_the_step_limit() {
    let mut run = Run::new();
    for _ in 0..RunConfig::new("m").max_steps {
        assert!(!run.machine.is_done());
        run.turn([ran("a", Some("anthropic")), finish(FinishReason::Pause)]);
    }
    let events = run.seen();
    assert!(
        matches!(events.last(), Some(RunEvent::Error { code: RunErrorCode::MaxSteps, .. })),
        "{events:?}"
    );
}

#[test]
fn an_interrupted_turn_without_output_ends_the_run() {
    let thought = || LlmEvent::ReasoningDelta { block: 0, delta: "Hm.".into() };
    for said in [vec![], vec![thought()], vec![ran("shown only", None)]] {
        let mut run = Run::new();
        run.turn(said.into_iter().chain([finish(FinishReason::Pause)]));
        let events = run.seen();
        assert!(
            matches!(events.last(), Some(RunEvent::Finish { reason: FinishReason::Stop, .. })),
            "{events:?}"
        );
    }
}

#[test]
fn a_provider_item_must_be_an_object() {
    let broken = TranscriptItem::ProviderItem { provider: "anthropic".into(), item: JsonText::NULL };
    let items = vec![TranscriptItem::user("hi"), broken, item("a")];
    assert!(!is_legal(&items));
    assert_eq!(repair(items), [TranscriptItem::user("hi"), item("a")]);
    let alone = [TranscriptItem::user("hi"), item("a")];
    assert!(is_legal(&alone));
    assert!(size(&alone) > size(&alone[..1]) + json("a").as_str().len());
    let long: Vec<_> = (0..9).flat_map(|_| [TranscriptItem::user("x".repeat(99)), item("a")]).collect();
    let short = compact(&long, 400).unwrap();
    assert!(is_legal(&short) && size(&short) < size(&long));
}
