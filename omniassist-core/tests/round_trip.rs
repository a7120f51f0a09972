//! What is written as a `UIMessage` is read back equal.

use omniassist_core::message::read;
use omniassist_core::{Limits, Text};
use proptest::prelude::*;

use crate::strategies;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn messages(messages in strategies::messages()) {
        let json = serde_json::to_string(&messages).unwrap();
        let again = read::messages(&Text::from(json), &Limits::default()).unwrap();
        prop_assert_eq!(&again, &messages);
    }

    #[test]
    fn messages_over_many_lines(messages in strategies::messages()) {
        let json = serde_json::to_string_pretty(&messages).unwrap();
        let again = read::messages(&Text::from(json), &Limits::default()).unwrap();
        prop_assert_eq!(&again, &messages);
    }

    #[test]
    fn no_text_makes_the_reader_fail_otherwise_than_by_an_error(
        messages in strategies::messages(), cut in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut bytes = serde_json::to_vec(&messages).unwrap();
        let at = cut.index(bytes.len());
        bytes[at] = byte;
        if let Ok(json) = String::from_utf8(bytes.clone()) {
            let _ = read::messages(&json.into(), &Limits::default());
        }
        bytes.truncate(at);
        if let Ok(json) = String::from_utf8(bytes) {
            prop_assert!(read::messages(&json.into(), &Limits::default()).is_err());
        }
    }
}

/// JSON can spell numbers that no tree of values holds. Nothing needs the value, so they pass through as they are spelt.
#[test]
fn numbers_that_no_float_can_hold() {
    for number in
        ["1e400", "-1.5E+99999", "0.1000000000000000055511151231257827", "123456789012345678901234567890"]
    {
        let call = format!(
            r#"{{"type":"tool-x","toolCallId":"1","state":"output-available","input":{{"n":{number}}},"output":[{number}]}}"#
        );
        let unknown = format!(r#"{{"type":"future","x":{number}}}"#);
        let posted = format!(r#"[{{"id":"a","role":"assistant","parts":[{call},{unknown}]}}]"#);
        let messages = read::messages(&Text::from(posted), &Limits::default()).unwrap();
        let written = serde_json::to_string(&messages).unwrap();
        assert_eq!(written.matches(number).count(), 3, "{written}");
        assert_eq!(read::messages(&Text::from(written), &Limits::default()).unwrap(), messages);
    }
}
