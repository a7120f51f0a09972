use bytes::{BufMut, BytesMut};
use omniassist_core::sse::encode;
use proptest::prelude::*;

use super::{bytewise, whole};

#[test]
fn the_bytes_are_as_documented() {
    let mut out = BytesMut::new();
    encode::event(&mut out, None, b"{}");
    encode::event(&mut out, Some(u64::MAX), b"{}");
    encode::event(&mut out, Some(0), b"");
    encode::text_event(&mut out, Some("n"), Some("i"), "").unwrap();
    encode::text_event(&mut out, Some(""), Some(""), "a\nb\r\nc\rd\n").unwrap();
    encode::comment(&mut out, "a\nb");
    encode::keep_alive(&mut out);
    encode::done(&mut out);
    let expected = "data: {}\n\nid: 18446744073709551615\ndata: {}\n\nid: 0\ndata: \n\n\
                    event: n\nid: i\ndata: \n\nid: \ndata: a\ndata: b\ndata: c\ndata: d\ndata: \n\n\
                    : a\n: b\n\n: keep-alive\n\ndata: [DONE]\n\n";
    assert_eq!(out, expected);
}

#[test]
fn names_and_ids_that_would_forge_fields_are_refused() {
    for bad in ["a\nb", "a\rb", "\r\n", "x\n\ndata: forged"] {
        let mut out = BytesMut::from("kept");
        assert!(encode::text_event(&mut out, Some(bad), None, "x").is_err());
        assert!(encode::text_event(&mut out, None, Some(bad), "x").is_err());
        assert!(encode::text_event(&mut out, None, Some("a\0"), "x").is_err());
        assert_eq!(out, "kept");
    }
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let mut out = BytesMut::from("kept");
    let failed = encode::event_with(&mut out, Some(1), |out| {
        out.put_slice(b"half");
        Err("broken")
    });
    assert_eq!(failed, Err("broken"));
    assert_eq!(out, "kept");
}

#[test]
fn a_value_is_serialised_in_place() {
    let mut out = BytesMut::new();
    let value = serde_json::json!({"text": "a\nb\r\u{2028}"});
    encode::event_with(&mut out, Some(3), |out| serde_json::to_writer(out.writer(), &value)).unwrap();
    let outcome = whole(&out);
    assert_eq!(outcome.data(), [value.to_string()]);
    assert_eq!(outcome.events[0].id, "3");
}

/// As the format carries text: every line break is a line feed.
fn carried(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Text that tries to break out of its event.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n\nevent: forged\ndata: x\n\n".to_owned()),
        Just("\r\rid: forged\r".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("\0".to_owned()),
        Just("\u{feff}".to_owned()),
        Just(" ".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_encoded_is_decoded_and_nothing_is_forged(
        data in hostile(), name in hostile(), id in hostile(), number: u64, text in hostile(),
    ) {
        let mut out = BytesMut::new();
        encode::comment(&mut out, &text);
        let named = encode::text_event(&mut out, Some(&name), Some(&id), &data);
        prop_assert_eq!(named.is_err(), name.contains(['\n', '\r']) || id.contains(['\n', '\r', '\0']));
        encode::comment(&mut out, &text);
        encode::event(&mut out, Some(number), data.as_bytes());
        encode::done(&mut out);

        let outcome = whole(&out);
        let events: Vec<_> = outcome.events.iter().map(|e| (&*e.event, &*e.data, &*e.id)).collect();
        let (data, number) = (carried(&data), number.to_string());
        let mut expected = vec![("", &*data, &*number), ("", "[DONE]", &*number)];
        if named.is_ok() {
            expected.insert(0, (&name, &data, &id));
        }
        prop_assert_eq!(events, expected);
        prop_assert_eq!(bytewise(&out), outcome);
    }
}
