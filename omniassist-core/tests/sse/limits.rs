use bytes::Bytes;
use omniassist_core::sse::SseDecoder;

use super::decode;

/// Returns `true` if the stream is within the limit. The result must not depend on the size of the chunks.
#[track_caller]
fn passes(stream: &str, max_event_bytes: usize) -> bool {
    let outcome = decode([stream.as_bytes()], max_event_bytes);
    for size in [1, 2, 5] {
        assert_eq!(decode(stream.as_bytes().chunks(size), max_event_bytes), outcome, "chunks of {size}");
    }
    let expected = format!("the limit max_sse_event_bytes of {max_event_bytes} was exceeded");
    assert!(outcome.error.as_ref().is_none_or(|error| *error == expected), "{:?}", outcome.error);
    outcome.error.is_none()
}

#[test]
fn the_limit_is_exact() {
    let x = |count| "x".repeat(count);
    for n in [0, 1, 6, 10, 1_000] {
        for (prefix, end) in [("data:", "\n\n"), ("data: ", "\r\n\r\n"), ("data: ", ""), ("data: ", "\n")] {
            assert!(passes(&format!("{prefix}{}{end}", x(n)), n), "{n} of {n}");
            assert!(!passes(&format!("{prefix}{}{end}", x(n + 1)), n), "{} of {n}", n + 1);
        }
    }
}

#[test]
fn all_values_and_separators_of_an_event_count() {
    // The value of these data lines is "ab\ncd\n".
    for (stream, size) in [
        ("data: ab\ndata: cd\ndata\n\n", 6),
        ("event: abc\ndata: de\n\n", 5),
        ("event:abc\nid:12\ndata:de\n\n", 5),
        ("event: abc\nevent: defg\n\n", 7),
        ("data:  a\n\n", 2),
    ] {
        assert!(passes(stream, size), "{stream:?}");
        assert!(!passes(stream, size - 1), "{stream:?}");
    }
}

#[test]
fn the_limit_applies_to_each_event() {
    assert!(passes(&"event: ab\ndata: cde\n\n".repeat(100), 5));
    assert!(passes(&"event: abcde\n\n".repeat(100), 5));
}

#[test]
fn comments_and_unknown_fields_do_not_count() {
    let x = "x".repeat(1_000);
    assert!(passes(&format!(": {x}\nunknown: {x}\ndata: a\n: {x}\n{x}\n\n: {x}"), 1));
}

#[test]
fn endless_data_lines_reach_the_limit() {
    assert!(!passes(&"data\n".repeat(102), 100));
    assert!(passes(&"data\n".repeat(101), 100));
    assert!(!passes(&"data: x\n".repeat(100), 100));
}

#[test]
fn an_endless_line_fails_at_the_first_excess_byte() {
    for prefix in ["data:", "data: ", "event:", "event: "] {
        for size in [1, 3] {
            let mut decoder = SseDecoder::new(9);
            decoder.feed(Bytes::from(format!("{prefix}0")));
            assert_eq!(decoder.next_event().unwrap(), None);
            let mut sent = 1;
            while sent + size <= 9 {
                decoder.feed(Bytes::from("1".repeat(size)));
                assert_eq!(decoder.next_event().unwrap(), None, "{prefix} after {sent}");
                sent += size;
            }
            decoder.feed(Bytes::from("1".repeat(10 - sent)));
            let error = decoder.next_event().expect_err(prefix);
            assert_eq!(error.limit(), Some(("max_sse_event_bytes", 9)));
        }
    }
}

#[test]
fn events_before_the_limit_are_returned() {
    for size in [1, 1_000] {
        let outcome = decode(b"data: a\n\ndata: b\n\ndata: ccc\n\ndata: d\n\n".chunks(size), 2);
        assert_eq!(outcome.data(), ["a", "b"]);
        assert!(outcome.error.is_some());
    }
}

#[test]
fn a_line_of_eight_mebibytes_is_decoded() {
    const LIMIT: usize = 8 << 20;
    let mut stream = b"data: ".to_vec();
    stream.resize(6 + LIMIT, b'x');
    for size in [1_400, 65_536, usize::MAX] {
        assert_eq!(decode(stream.chunks(size), LIMIT).data().first().map(|data| data.len()), Some(LIMIT));
    }
    stream.push(b'x');
    for size in [1_400, 65_536, usize::MAX] {
        assert!(decode(stream.chunks(size), LIMIT).error.is_some());
    }
}

/// Each byte is one chunk, so quadratic time would make this test too slow.
#[test]
fn a_long_line_in_single_bytes_takes_linear_time() {
    const LENGTH: usize = 8 << 20;
    let mut decoder = SseDecoder::new(LENGTH);
    let line = b"data: ".iter().copied().chain(std::iter::repeat_n(b'x', LENGTH)).chain(*b"\n\n");
    let mut lengths = Vec::new();
    for byte in line {
        decoder.feed(Bytes::copy_from_slice(&[byte]));
        lengths.extend(decoder.next_event().unwrap().map(|event| event.data.len()));
    }
    assert_eq!(lengths, [LENGTH]);
}

#[test]
fn a_line_within_a_chunk_is_not_copied() {
    let chunk = Bytes::from_static(b"event: e\nid: 1\ndata: hello\n\n");
    let inside = chunk.as_ptr_range();
    let mut decoder = SseDecoder::new(100);
    decoder.feed(chunk.clone());
    let event = decoder.next_event().unwrap().unwrap();
    for text in [&event.event, &event.data] {
        assert!(inside.contains(&text.as_ptr()), "{text:?} was copied");
    }
}

#[test]
fn chunks_after_an_error_are_ignored() {
    let mut decoder = SseDecoder::new(10);
    decoder.feed(Bytes::from_static(b"data: 0123456789a"));
    assert!(decoder.next_event().unwrap_err().is_limit());
    decoder.feed(Bytes::from_static(b"data: x\n\n"));
    assert!(decoder.next_event().unwrap_err().is_limit());
    assert!(decoder.finish().unwrap_err().is_limit());
}
