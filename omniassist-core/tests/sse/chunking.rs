use omniassist_core::sse::SseEvent;
use proptest::prelude::*;

use super::{NO_LIMIT, Outcome, decode, whole};

const DOCUMENT: &str = "\u{feff}: hello\nevent: first\nid: 1\ndata: {\"t\":\"ä€😀\"}\n\ndata\ndata:x\n\n\
                        event: dropped\n\nretry: 10\nfoo: bar\ndata: a\ndata:  b\nid: \u{20ac}\n\ndata: [DONE]\n\n";

fn with_line_end(document: &str, line_end: &str) -> Vec<u8> {
    document.replace('\n', line_end).into_bytes()
}

#[test]
fn every_split_in_two_and_in_three_gives_the_same_events() {
    let expected = whole(DOCUMENT.as_bytes());
    assert_eq!(expected.data(), ["{\"t\":\"ä€😀\"}", "\nx", "a\n b", "[DONE]"]);
    for line_end in ["\n", "\r", "\r\n"] {
        let bytes = with_line_end(DOCUMENT, line_end);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let chunks = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(decode(chunks, NO_LIMIT), expected, "{line_end:?} split at {first} and {second}");
            }
        }
    }
}

#[test]
fn every_truncation_gives_the_same_events_for_any_chunk_size() {
    for line_end in ["\n", "\r", "\r\n"] {
        let bytes = with_line_end(DOCUMENT, line_end);
        for end in 0..=bytes.len() {
            let expected = whole(&bytes[..end]);
            assert_eq!(expected.error, None, "cut at {end}");
            for size in [1, 2, 3, 7, 97] {
                assert_eq!(
                    decode(bytes[..end].chunks(size), NO_LIMIT),
                    expected,
                    "cut at {end}, chunks of {size}"
                );
            }
        }
    }
}

#[derive(Debug, Clone)]
struct Written {
    name: String,
    data: Vec<String>,
    noise: Vec<String>,
    space: bool,
}

fn events() -> impl Strategy<Value = Vec<Written>> {
    let line = "[ :a-c{}\"\u{e4}\u{20ac}\u{1f600}\0\u{feff}]{0,12}";
    let noise = prop_oneof![
        ":[ a-z:]{0,8}",
        "[xyz][a-z]{0,8}(:[ a-z]{0,4})?",
        Just("retry: 7".to_owned()),
        Just("id: 7".to_owned())
    ];
    let event = ("[a-z. ]{0,8}", prop::collection::vec(line, 0..4));
    let event = (event, prop::collection::vec(noise, 0..3), any::<bool>());
    let event = event.prop_map(|((name, data), noise, space)| Written { name, data, noise, space });
    prop::collection::vec(event, 0..8)
}

/// Returns the bytes of the events, with line endings from `line_ends`, and the expected events.
fn write(events: &[Written], line_ends: &[u8], bom: bool) -> (Vec<u8>, Vec<(String, String)>) {
    let mut out = if bom { "\u{feff}".as_bytes().to_vec() } else { Vec::new() };
    let mut expected = Vec::new();
    let mut line_ends = line_ends.iter().cycle();
    for event in events {
        // A value that begins with a space needs another space before it.
        let spaced =
            event.space || event.name.starts_with(' ') || event.data.iter().any(|line| line.starts_with(' '));
        let colon = if spaced { ": " } else { ":" };
        let mut lines = event.noise.clone();
        lines.push(format!("event{colon}{}", event.name));
        lines.extend(event.data.iter().map(|line| format!("data{colon}{line}")));
        lines.push(String::new());
        for line in lines {
            out.extend_from_slice(line.as_bytes());
            let end: &[u8] = match line_ends.next().map_or(0, |end| end % 3) {
                0 => b"\n",
                1 => b"\r\n",
                // A following LF would become a part of this line ending.
                _ => b"\r",
            };
            // An LF after CR would belong to the line ending before it.
            if end == b"\n" && line.is_empty() && out.last() == Some(&b'\r') {
                out.extend_from_slice(b"\r\n");
            } else {
                out.extend_from_slice(end);
            }
        }
        if !event.data.is_empty() {
            expected.push((event.name.clone(), event.data.join("\n")));
        }
    }
    (out, expected)
}

fn fields(events: &[SseEvent]) -> Vec<(String, String)> {
    events.iter().map(|event| (event.event.to_string(), event.data.to_string())).collect()
}

fn cut<'a>(bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut sizes = sizes.iter().cycle();
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let size = sizes.next().map_or(rest.len(), |size| *size).min(rest.len());
        let (chunk, tail) = rest.split_at(size);
        chunks.push(chunk);
        rest = tail;
    }
    chunks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn written_events_are_read_in_every_chunking(
        events in events(),
        line_ends in prop::collection::vec(any::<u8>(), 1..12),
        sizes in prop::collection::vec(1..40_usize, 1..12),
        bom: bool,
    ) {
        let (bytes, expected) = write(&events, &line_ends, bom);
        let outcome = whole(&bytes);
        prop_assert_eq!(&outcome.error, &None);
        prop_assert_eq!(fields(&outcome.events), expected);
        prop_assert_eq!(decode(cut(&bytes, &sizes), NO_LIMIT), outcome);
    }

    #[test]
    fn any_bytes_give_the_same_outcome_in_every_chunking(
        bytes in prop::collection::vec(
            prop_oneof![
                Just(b"data:".to_vec()), Just(b"event: ".to_vec()), Just(b"id:".to_vec()), Just(b"\n".to_vec()),
                Just(b"\r".to_vec()), Just(b": ".to_vec()), Just("\u{feff}".as_bytes().to_vec()),
                Just("\u{20ac}".as_bytes().to_vec()), prop::collection::vec(any::<u8>(), 0..4),
            ],
            0..40,
        ),
        sizes in prop::collection::vec(1..9_usize, 1..6),
        max_event_bytes in 0..24_usize,
    ) {
        let bytes = bytes.concat();
        let outcome: Outcome = decode([&bytes[..]], max_event_bytes);
        prop_assert_eq!(decode(cut(&bytes, &sizes), max_event_bytes), outcome);
    }
}
