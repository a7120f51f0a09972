//! Tests of the chunks that a cursor counts.

use bytes::BytesMut;
use omniassist_core::RunEvent;
use omniassist_core::dialect::ag_ui::{self, Version};
use omniassist_core::dialect::ai_sdk::{self, ClientVersion, Framing};
use omniassist_core::dialect::{Cursor, DialectEncoder, Numbered};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::strategies;

/// A format of clients.
#[derive(Debug, Clone, Copy)]
enum Format {
    AiSdk(Framing, ClientVersion),
    AgUi(Version),
}

impl Format {
    fn any() -> impl Strategy<Value = Self> {
        let mut formats = vec![Self::AgUi(Version::V0), Self::AgUi(Version::V1)];
        for version in [ClientVersion::V5, ClientVersion::V6, ClientVersion::V7] {
            formats.extend([Framing::Sse, Framing::Ndjson].map(|framing| Self::AiSdk(framing, version)));
        }
        select(formats)
    }

    fn encoder(self) -> Box<dyn DialectEncoder> {
        match self {
            Self::AiSdk(framing, version) => Box::new(ai_sdk::Encoder::new(framing).version(version)),
            Self::AgUi(version) => Box::new(ag_ui::Encoder::new("thread-1".into(), "run-1".into(), version)),
        }
    }

    fn after(self, chunk: u64) -> Numbered {
        Numbered::new(self.encoder(), Cursor { epoch: 3, chunk })
    }

    fn is_event_stream(self) -> bool {
        !matches!(self, Self::AiSdk(Framing::Ndjson, _))
    }
}

fn written(encoder: &mut dyn DialectEncoder, events: &[RunEvent]) -> String {
    let mut out = BytesMut::new();
    events.iter().for_each(|event| encoder.encode(event, &mut out));
    String::from_utf8(out.to_vec()).unwrap()
}

fn chunks(text: &str, format: Format) -> Vec<&str> {
    text.split_inclusive(if format.is_event_stream() { "\n\n" } else { "\n" }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Without it, a cursor would count other chunks than the client has.
    #[test]
    fn equal_events_give_equal_bytes(events in strategies::run(), format in Format::any()) {
        let first = written(&mut *format.encoder(), &events);
        prop_assert_eq!(&first, &written(&mut *format.encoder(), &events));
    }

    #[test]
    fn the_stream_after_a_cursor_is_the_rest_of_the_whole(
        events in strategies::run(), format in Format::any(), at in any::<Index>(),
    ) {
        let whole = written(&mut format.after(0), &events);
        let chunks = chunks(&whole, format);
        let at = at.index(chunks.len() + 1);
        let mut encoder = format.after(at as u64);
        let rest = written(&mut encoder, &events);
        prop_assert_eq!(rest, chunks[at..].concat());
        prop_assert_eq!(encoder.position(), Cursor { epoch: 3, chunk: chunks.len() as u64 });
    }

    #[test]
    fn only_the_ids_differ_from_those_of_the_encoder(events in strategies::run(), format in Format::any()) {
        let plain = written(&mut *format.encoder(), &events);
        let numbered = written(&mut format.after(0), &events);
        let mut expected = String::new();
        for (number, chunk) in (1..).zip(chunks(&plain, format)) {
            let data = chunk.split_once('\n').map_or(chunk, |(id, data)| if id.starts_with("id: ") { data } else { chunk });
            if format.is_event_stream() {
                expected += &format!("id: 3.{number}\n");
            }
            expected += data;
        }
        prop_assert_eq!(&numbered, &expected);
        let nameless = written(&mut format.after(0).ids(false), &events);
        let without_ids: String = chunks(&numbered, format)
            .iter()
            .map(|chunk| chunk.split_once('\n').filter(|(id, _)| id.starts_with("id: ")).map_or(*chunk, |(_, data)| data))
            .collect();
        prop_assert_eq!(nameless, without_ids);
    }
}

#[test]
fn the_end_of_a_response_has_no_number_and_is_never_left_out() {
    let format = Format::AiSdk(Framing::Sse, ClientVersion::V7);
    for after in [0, 1, 2, u64::MAX] {
        let mut encoder = format.after(after);
        let mut out = BytesMut::new();
        encoder.encode(&RunEvent::StepStart, &mut out);
        out.clear();
        encoder.finish(&mut out);
        assert_eq!(out, "data: [DONE]\n\n");
    }
}

/// The official `WorkflowChatTransport` asks for the rest in a loop without pause until it has read `finish`.
#[test]
fn a_stopped_run_is_finished_for_clients_that_wait_for_it() {
    let format = Format::AiSdk(Framing::Sse, ClientVersion::V7);
    let abort = RunEvent::Abort { reason: "Stopped.".into() };
    for (always, after, expected) in [
        (false, 0, "id: 3.1\ndata: {\"type\":\"abort\",\"reason\":\"Stopped.\"}\n\ndata: [DONE]\n\n"),
        (true, 1, "id: 3.2\ndata: {\"type\":\"finish\",\"finishReason\":\"error\"}\n\ndata: [DONE]\n\n"),
    ] {
        let mut encoder = format.after(after).always_finishes(always);
        let mut out = BytesMut::new();
        encoder.encode(&abort, &mut out);
        encoder.finish(&mut out);
        assert_eq!(out, expected);
    }
}

#[test]
fn only_positions_that_a_server_sends_are_cursors() {
    for text in ["1.0", "1.1", "4294967295.18446744073709551615"] {
        assert_eq!(text.parse::<Cursor>().unwrap().to_string(), text);
    }
    for text in ["", ".", "1", "1.", ".1", "-1", "1.-1", "+1.1", "1.01", "1.1.1", " 1.1", "4294967296.1"] {
        assert!(text.parse::<Cursor>().is_err(), "{text}");
    }
}
