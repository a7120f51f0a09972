//! Tests of the detection of numbers that JavaScript changes.

use omniassist_core::JsonText;
use omniassist_core::canonical::{
    self, has_other_numbers, inexact_number, is_deeper_than, rounded_number, with_exact_numbers,
};

fn json(text: &str) -> JsonText {
    JsonText::parse(text.to_owned()).unwrap()
}

#[test]
fn numbers_that_a_double_represents_are_unchanged() {
    for text in [
        "0",
        "-0",
        "1.0",
        "1e2",
        "100",
        "1E+2",
        "0.1",
        "-12.50",
        "9007199254740992",
        "-9007199254740991",
        "965.9130143999365",
        "1e21",
        "5e-1",
        "5e-324",
        "0.000001",
        "123456789012345.6",
    ] {
        assert_eq!(inexact_number(&json(text)), None, "{text}");
        assert_eq!(with_exact_numbers(&json(text)), None, "{text}");
    }
}

#[test]
fn numbers_that_a_double_changes_become_strings() {
    for text in [
        "9007199254740993",
        "-9007199254740993",
        "1152921504606846976",
        "18446744073709551615",
        "0.10000000000000000001",
        "1.00000000000000000000001",
        "1e400",
        "1e-400",
        "123456789.123456789123",
    ] {
        assert_eq!(inexact_number(&json(text)).unwrap().number, text);
        assert_eq!(with_exact_numbers(&json(text)).unwrap().as_str(), format!("\"{text}\""));
    }
    let nested =
        json(r#"{"a": ["9007199254740993", {"b\"c": {"d": 1}, "id": 9007199254740993}], "z": 1e999}"#);
    assert_eq!(inexact_number(&nested).unwrap().path, "a[1].id");
    let exact = r#"{"a": ["9007199254740993", {"b\"c": {"d": 1}, "id": "9007199254740993"}], "z": "1e999"}"#;
    assert_eq!(with_exact_numbers(&nested).unwrap().as_str(), exact);
}

#[test]
fn numbers_in_another_notation_are_detected() {
    for (text, other) in
        [("1", false), ("1.0", true), ("1e2", true), ("0.1", false), (r#""1.0""#, false), ("-0", true)]
    {
        assert_eq!(has_other_numbers(&json(text)), other, "{text}");
    }
}

#[test]
fn depth_counts_arrays_and_objects() {
    let value = json(r#"{"a": [["[[[["]]}"#);
    assert!(!is_deeper_than(&value, 3));
    assert!(is_deeper_than(&value, 2));
}

#[test]
fn integers_from_which_a_client_may_have_rounded_are_found() {
    for (text, found) in [
        (r#"{"n":9007199254740991,"x":0.1}"#, None),
        (r#"{"n":9007199254740992}"#, Some("9007199254740992")),
        (r#"{"n":-9007199254740992}"#, Some("-9007199254740992")),
        (r#"{"n":1e300}"#, Some("1e300")),
        (r#"{"n":0.12345678901234567890}"#, Some("0.12345678901234567890")),
    ] {
        assert_eq!(rounded_number(&json(text)).map(|found| found.number).as_deref(), found, "{text}");
    }
}

#[test]
fn depth_is_that_of_the_deepest_value() {
    assert!(!is_deeper_than(&json("[[],{},[1]]"), 2));
    assert!(is_deeper_than(&json("[[],{},[[]]]"), 2));
}

#[test]
fn values_that_are_too_deep_have_no_canonical_form() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let deep = nested(128);
        assert_eq!(canonical::of(&json(&deep)).unwrap().json().as_str(), deep);
        assert!(canonical::of(&json(&nested(129))).is_none());
    }
}
