use bytes::Bytes;
use omniassist_core::sse::SseDecoder;

use super::{bytewise, whole};

/// `(event, data)` of each event that the stream completes.
type Events<'a> = &'a [(&'a str, &'a str)];

/// Checks a stream in one chunk and byte by byte.
#[track_caller]
fn check(stream: impl AsRef<[u8]>, expected: Events<'_>) {
    let stream = stream.as_ref();
    let outcome = whole(stream);
    assert_eq!(outcome, bytewise(stream), "chunking must not change {:?}", String::from_utf8_lossy(stream));
    assert_eq!(outcome.error, None);
    let terminated = outcome.events.iter().filter(|event| event.terminated);
    let events: Vec<_> = terminated.map(|event| (&*event.event, &*event.data)).collect();
    assert_eq!(events, expected, "{:?}", String::from_utf8_lossy(stream));
}

#[test]
fn all_three_line_endings_can_be_mixed() {
    for stream in [
        "data: a\n\ndata: b\n\n",
        "data: a\r\n\r\ndata: b\r\n\r\n",
        "data: a\r\rdata: b\r\r",
        "data: a\r\n\ndata: b\r\r\n",
        "data: a\n\r\ndata: b\n\r",
        "\n\r\n\rdata: a\r\n\r\n\r\n\r\ndata: b\n\n\n",
    ] {
        check(stream, &[("", "a"), ("", "b")]);
    }
}

#[test]
fn a_lone_carriage_return_ends_an_event_at_once() {
    let mut decoder = SseDecoder::new(100);
    decoder.feed(Bytes::from_static(b"data: a\r\r"));
    assert_eq!(decoder.next_event().unwrap().unwrap().data, "a");
}

#[test]
fn a_byte_order_mark_is_skipped_once_and_only_at_the_start() {
    check("\u{feff}data: a\n\n", &[("", "a")]);
    check("\u{feff}\u{feff}data: a\n\ndata: b\n\n", &[("", "b")]);
    check("\n\u{feff}data: a\n\ndata: b\n\n", &[("", "b")]);
    check("data: a\n\n\u{feff}data: b\n\ndata: \u{feff}c\n\n", &[("", "a"), ("", "\u{feff}c")]);
    // An incomplete mark becomes a part of the field name, which is then unknown.
    check(b"\xef\xbbdata: a\ndata: b\n\n", &[("", "b")]);
    check(b"\xef\xbb\ndata: b\n\n", &[("", "b")]);
    check(b"\xef\xbb", &[]);
}

#[test]
fn one_space_after_the_colon_is_removed() {
    check(
        "data:a\n\ndata: a\n\ndata:  a \n\ndata:\ta\n\n",
        &[("", "a"), ("", "a"), ("", " a "), ("", "\ta")],
    );
    check("event:e\nid:1\ndata:a\n\nevent: e\nid: 2\ndata: a\n\n", &[("e", "a"), ("e", "a")]);
    check("event:  e\nid:  2\ndata: : a\n\n", &[(" e", ": a")]);
}

#[test]
fn fields_without_a_colon_have_an_empty_value() {
    check("data\n\n", &[("", "")]);
    check("data\ndata\n\n", &[("", "\n")]);
    check("event: x\nevent\ndata\n\n", &[("", "")]);
    check("id: 1\ndata\n\nid\ndata\n\n", &[("", ""), ("", "")]);
}

#[test]
fn the_example_streams_of_the_standard_are_decoded() {
    check("data: YHOO\ndata: +2\ndata: 10\n\n", &[("", "YHOO\n+2\n10")]);
    check(
        ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event",
        &[("", "first event"), ("", "second event")],
    );
    check("data\n\ndata\ndata\n\ndata:", &[("", ""), ("", "\n")]);
    check("data:test\n\ndata: test\n\n", &[("", "test"), ("", "test")]);
}

#[test]
fn unknown_fields_and_comments_are_ignored() {
    for line in [
        ": OPENROUTER PROCESSING",
        ":",
        ": data: x",
        "datax: y",
        "dat: y",
        " data: y",
        "Data: y",
        "DATA: y",
        "data : y",
        "ids: 4",
        "i: 4",
        "retryx",
        "eventx: z",
        "events",
        "foo",
        "id: 1",
        "retry: 10",
        "{\"error\": 1}",
        "da",
    ] {
        check(format!("data: a\n{line}\ndata: b\n\n{line}\n\n"), &[("", "a\nb")]);
    }
}

#[test]
fn events_without_data_are_dropped_with_their_name() {
    check("event: keepalive\n\ndata: a\n\n", &[("", "a")]);
    check("event: a\nevent: b\ndata: x\n\ndata: y\n\n", &[("b", "x"), ("", "y")]);
    check("data:\n\nevent: e\ndata:\n\n", &[("", ""), ("e", "")]);
}

#[test]
fn unusual_data_is_accepted() {
    check(
        "data: : keepalive\n\ndata: [DONE]\n\ndata:[DONE]\n\ndata: {}\n\ndata: a\0b\n\n",
        &[("", ": keepalive"), ("", "[DONE]"), ("", "[DONE]"), ("", "{}"), ("", "a\0b")],
    );
}

#[test]
fn the_end_of_the_stream_returns_the_incomplete_event() {
    for (stream, expected) in [
        ("data: a\n\n", None),
        ("data: a\n", Some("a")),
        ("data: a\r", Some("a")),
        ("data: a", Some("a")),
        ("data: a\ndata: b", Some("a\nb")),
        ("data: a\ndat", Some("a")),
        ("data: a\ndata", Some("a\n")),
        ("data", Some("")),
        ("event: a\n", None),
        (": comment", None),
        ("", None),
    ] {
        for outcome in [whole(stream.as_bytes()), bytewise(stream.as_bytes())] {
            assert_eq!(outcome.error, None);
            let rest: Vec<_> = outcome.events.iter().filter(|event| !event.terminated).collect();
            assert_eq!(rest.first().map(|event| &*event.data), expected, "{stream:?}");
            assert!(rest.len() < 2);
        }
    }
}

#[test]
fn finish_returns_pending_events_first() {
    let mut decoder = SseDecoder::new(100);
    for chunk in ["data: a\n\nda", "ta: b\n", "\ndata: c"] {
        decoder.feed(Bytes::from_static(chunk.as_bytes()));
    }
    let mut seen = Vec::new();
    while let Some(event) = decoder.finish().unwrap() {
        seen.push((event.data.to_string(), event.terminated));
    }
    assert_eq!(seen, [("a".into(), true), ("b".into(), true), ("c".into(), false)]);
}

#[test]
fn invalid_utf8_is_an_error_with_its_offset() {
    for (stream, offset, before) in [
        (&b"data: \xff\n\n"[..], 6, 0),
        (b"data: a\n\ndata: \xc3\xa4\xc3\n\n", 17, 1),
        (b"\xef\xbb\xbfdata: ok\n\ndata:ab\xf0\x9f\x98\n", 20, 1),
        (b": \xff\xff\nfoo: \xff\nevent: \xe2\x82\xac\xff\ndata: a\n\n", 22, 0),
        (b"data: a\ndata: b\xed\xa0\x80\ndata: c\n\n", 15, 0),
    ] {
        for outcome in [whole(stream), bytewise(stream)] {
            let error = format!("the event stream is not UTF-8 at byte {offset}");
            assert_eq!(outcome.error, Some(error), "{stream:?}");
            assert_eq!(outcome.events.len(), before, "{stream:?}");
        }
    }
}

#[test]
fn an_event_that_ends_within_a_character_is_dropped() {
    for stream in [&b"data: a\n\ndata: \xf0\x9f\x98"[..], b"data: a\n\ndata: b\nevent: \xc3"] {
        for outcome in [whole(stream), bytewise(stream)] {
            assert_eq!((outcome.data(), outcome.error.as_deref()), (vec!["a"], None));
        }
    }
    assert!(whole(b"data: \xff").error.is_some());
}

#[test]
fn an_error_is_returned_again() {
    let mut decoder = SseDecoder::new(100);
    decoder.feed(Bytes::from_static(b"data: a\n\ndata: \xff\n\ndata: b\n\n"));
    assert_eq!(decoder.next_event().unwrap().unwrap().data, "a");
    for _ in 0..3 {
        let error = decoder.next_event().unwrap_err();
        assert_eq!(error.code().as_str(), "invalid_stream");
        assert_eq!(decoder.finish().unwrap_err().to_string(), error.to_string());
        decoder.feed(Bytes::from_static(b"data: c\n\n"));
    }
}
