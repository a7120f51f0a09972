//! Tests of the detection of numbers that JavaScript changes.

use omniassist_core::JsonText;
use omniassist_core::canonical::{has_other_numbers, inexact_number, is_deeper_than, with_exact_numbers};

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
