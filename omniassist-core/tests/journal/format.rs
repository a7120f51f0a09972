//! Segments: what is written is read, and anything else is an error.

use bytes::Bytes;
use omniassist_core::RunEvent;
use omniassist_core::event::{AgentDelta, AgentState, AgentStatus, BlockId};
use omniassist_core::journal::{
    self, Content, Head, Record, RecordBuffer, Replay, SegmentWriter, UnknownRecord,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{records, segment};
use crate::official::catalogue;
use crate::strategies;

/// Returns a segment of arbitrary records with the right checksum.
fn sealed(records: &[u8]) -> Bytes {
    let mut bytes = [&[1], records].concat();
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes.into()
}

fn unknown_records() -> impl Strategy<Value = Vec<Record>> {
    let bytes = || vec(any::<u8>(), 0..200).prop_map(Bytes::from);
    let content = (9..u64::MAX >> 2, any::<bool>(), bytes())
        .prop_map(|(kind, is_required, body)| Content::Unknown(UnknownRecord::new(kind, is_required, body)));
    let head = vec((any::<u64>(), bytes()), 0..3).prop_map(|fields| {
        fields.into_iter().fold(Head::default(), |head, (key, value)| head.with(key, value))
    });
    vec((head, content).prop_map(|(head, content)| Record { head, content }), 1..4)
}

fn written(records: &[Record]) -> Bytes {
    let mut writer = SegmentWriter::new();
    records.iter().for_each(|record| writer.record(record).unwrap());
    writer.take().unwrap().bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn chunks_in_are_chunks_out(events in strategies::run(), cuts in vec(any::<prop::sample::Index>(), 0..6)) {
        let cuts: Vec<_> = cuts.iter().map(|cut| cut.index(events.len())).collect();
        let (mut writer, mut segments) = (SegmentWriter::new(), Vec::new());
        for (at, event) in events.iter().enumerate() {
            writer.event(event).unwrap();
            if cuts.contains(&at) {
                segments.extend(writer.take());
            }
        }
        segments.extend(writer.take());
        let count: u64 = segments.iter().map(|segment| segment.events).sum();
        prop_assert_eq!(count, events.len() as u64);
        let records = records(segments.iter().map(|segment| &segment.bytes));
        prop_assert_eq!(journal::exact(&records), events);
    }

    #[test]
    fn equal_events_give_equal_bytes(events in strategies::run()) {
        prop_assert_eq!(segment(&events), segment(&events.clone()));
    }

    #[test]
    fn records_are_written_as_they_were_read(events in strategies::run(), unknown in unknown_records()) {
        let mut all = records([&segment(&events)]);
        all.extend(unknown);
        let bytes = written(&all);
        let read = records([&bytes]);
        prop_assert_eq!(&read, &all);
        prop_assert_eq!(written(&read), bytes);
    }

    #[test]
    fn a_changed_byte_is_an_error(events in strategies::run(), at in any::<prop::sample::Index>(), bits in 1..=u8::MAX) {
        let mut bytes = segment(&events).to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= bits;
        let error = journal::read(&bytes.into()).unwrap_err();
        prop_assert_eq!((error.is_newer(), error.is_corrupt()), (at == 0, at != 0), "{}", error);
    }

    #[test]
    fn a_cut_segment_is_an_error(events in strategies::run(), at in any::<prop::sample::Index>()) {
        let bytes = segment(&events);
        let error = journal::read(&bytes.slice(..at.index(bytes.len()))).unwrap_err();
        prop_assert!(error.is_corrupt());
    }

    #[test]
    fn any_bytes_are_read_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        let _ = journal::read(&bytes.clone().into());
        if let Ok(records) = journal::read(&sealed(&bytes)) {
            let _ = journal::exact(&records);
        }
    }
}

#[test]
fn every_event_is_read_as_it_was_written() {
    for event in catalogue::events() {
        let segment = segment(std::slice::from_ref(&event));
        assert_eq!(journal::exact(&records([&segment])), [event]);
    }
}

/// A later version may add fields to an event, and events.
#[test]
fn unknown_fields_are_ignored_and_unknown_events_kept() {
    let frame = |body: &str| [&[1 << 2, u8::try_from(body.len()).unwrap()], body.as_bytes()].concat();
    let known = frame(r#"{"file":{"mediaType":"a/b","url":"https://c","size":1}}"#);
    let later = frame(r#"{"agent-start":{"id":"a"}}"#);
    let bytes = sealed(&[known, later].concat());
    let read = records([&bytes]);
    let file = RunEvent::File { media_type: "a/b".into(), url: "https://c".into() };
    assert_eq!(read[0].content, Content::Event(file));
    assert!(matches!(&read[1].content, Content::Unknown(unknown) if unknown.kind() == 1), "{read:?}");
    assert_eq!(written(&read[1..]), sealed(&later_frame(&bytes)));
}

/// Returns the frame of the second record.
fn later_frame(segment: &Bytes) -> Vec<u8> {
    let first = usize::from(segment[2]);
    segment[3 + first..segment.len() - 4].to_vec()
}

/// Short deltas take one byte more than their text.
#[test]
fn deltas_of_a_block_become_one_record() {
    let events = super::replay::text(0, 100);
    let bytes = segment(&events);
    let text: usize = super::replay::deltas(&events).map(|delta| delta.len()).sum();
    let overhead = bytes.len() - text - 100;
    assert!(overhead < 80, "{overhead}");
    assert_eq!(records([&bytes]).len(), 3, "the start, the deltas and the end");
}

/// The text of agents is written like that of a block. An earlier version leaves it out: a recovery does not need it.
#[test]
fn text_of_an_agent_becomes_one_record() {
    let delta = |text: &str| RunEvent::AgentDelta {
        agent_id: "a".into(),
        delta: AgentDelta::Text { delta: text.into() },
    };
    let events: Vec<_> = ["One ", "two ", "three."].map(delta).into();
    let bytes = segment(&events);
    let read = records([&bytes]);
    assert_eq!(journal::exact(&read), events);
    let [record] = &read[..] else { panic!("one record: {read:?}") };
    let Content::Deltas(deltas) = &record.content else { panic!("{record:?}") };
    assert_eq!((deltas.text().as_str(), deltas.count()), ("One two three.", 3));
    // The flag of the head that says whether a recovery needs the record.
    assert_eq!(bytes[1] & 2, 0);

    let state = |status| {
        let mut state = AgentState::begun("a".into(), "worker".into(), "call".into(), "Count".into());
        state.status = status;
        RunEvent::AgentState(Box::new(state))
    };
    let mut shown = vec![state(AgentStatus::Running)];
    shown.extend(events);
    shown.push(state(AgentStatus::Completed));
    let replayed = Replay::new().events(&records([&segment(&shown)]));
    assert_eq!(
        replayed,
        [state(AgentStatus::Running), delta("One two three."), state(AgentStatus::Completed)]
    );

    // Another server goes on with the agent, after a text that the journal does not complete.
    let again = [
        state(AgentStatus::Running),
        delta("One "),
        state(AgentStatus::Running),
        delta("Two."),
        delta(" Three."),
    ];
    let replayed = Replay::new().events(&records([&segment(&again)]));
    assert_eq!(replayed, [state(AgentStatus::Running), delta("Two. Three.")]);
}

#[test]
fn records_of_an_agent_are_not_shown_and_not_counted() {
    let id = BlockId(0);
    let text = |delta: &str| RunEvent::TextDelta { id, delta: delta.into() };
    let head = Head::default().with(Head::AGENT, "agent-1");
    let mut buffer = RecordBuffer::new();
    for event in [RunEvent::StepStart, text("One "), text("two."), RunEvent::TextEnd { id, metadata: None }] {
        buffer.event(&event);
    }
    let taken = buffer.take(&head);
    assert_eq!(taken.len(), 3, "{taken:?}");
    let Content::Deltas(deltas) = &taken[1].content else { panic!("{taken:?}") };
    assert_eq!((deltas.merged(), deltas.count()), (text("One two."), 1));
    assert!(buffer.take(&head).is_empty());

    let mut writer = SegmentWriter::new();
    writer.event(&text("Shown")).unwrap();
    taken.iter().for_each(|record| writer.record(record).unwrap());
    let segment = writer.take().unwrap();
    assert_eq!(segment.events, 1);
    let read = journal::read(&segment.bytes).unwrap();
    assert_eq!(read[1..], taken);
    assert_eq!(journal::exact(&read), [text("Shown")]);
    assert_eq!(Replay::new().events(&read), [text("Shown")]);
}
