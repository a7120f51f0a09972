//! JSON that is almost what is expected, to hold the plain readers against serde.

use std::fmt;

use omniassist_core::{EventBuf, LlmEvent, Text};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use proptest::test_runner::{Config, TestRunner};

use crate::provider::wire::EventReader;
use crate::{ProviderErrorKind, Result};

/// A field that may stand in an object, by its key and what is mostly its value.
pub(in crate::provider) type Field = (&'static str, BoxedStrategy<String>);

/// What may stand between two tokens; the last two are none of JSON's white space.
fn blank() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        400 => Just(""),
        20 => select(vec![" ", "\t", "\r", "  \t "]),
        1 => select(vec!["\u{c}", "\u{a0}"]),
    ]
}

/// The spelling of a string: mostly plain.
pub(in crate::provider) fn string() -> BoxedStrategy<String> {
    let content = prop_oneof![
        12 => "[ -!#-\\[\\]-~]{0,20}",
        4 => "[a-zäß→😀]{0,12}",
        4 => r#"([a-c ]|\\["\\/bfnrt]|\\u00[0-7][0-9a-f]|\\ud83d\\ude00){0,6}"#,
        1 => r#"[a-z]{0,9}(\\|\\x|\\u12|\\ud83d|\x01|\t|")[a-z]{0,9}"#,
    ];
    content.prop_map(|content| format!("\"{content}\"")).boxed()
}

/// A whole number, mostly plain.
pub(in crate::provider) fn number() -> BoxedStrategy<String> {
    let odd =
        ["00", "01", "-0", "-1", "1.0", "0.5", "1e2", "1E400", "+1", "1.", "0x1", "18446744073709551616"];
    prop_oneof![
        24 => (0..4_u64).prop_map(|number| number.to_string()),
        4 => (0..10_u32, any::<u64>()).prop_map(|(cut, number)| (number >> (cut * 6)).to_string()),
        1 => select(odd.to_vec()).prop_map(str::to_owned),
    ]
    .boxed()
}

/// One of these spellings, mostly the first.
pub(in crate::provider) fn one_of(all: &[&'static str]) -> BoxedStrategy<String> {
    let first = all.first().copied().unwrap_or_default();
    prop_oneof![20 => Just(first), 1 => select(all.to_vec())].prop_map(str::to_owned).boxed()
}

/// Always the same spelling.
pub(in crate::provider) fn just(json: &str) -> BoxedStrategy<String> {
    Just(json.to_owned()).boxed()
}

/// Any value, and some that are none.
pub(in crate::provider) fn value() -> BoxedStrategy<String> {
    let literals =
        ["null", "null", "true", "false", "nul", "nulll", "True", "", "[]", "{}", "[,]", "[1,]", "{\"a\"}"];
    let leaf = prop_oneof![string(), number(), select(literals.to_vec()).prop_map(str::to_owned)];
    leaf.prop_recursive(12, 24, 3, |inner| {
        prop_oneof![
            (blank(), inner.clone()).prop_map(|(blank, element)| format!("[{blank}{element}]")),
            prop::collection::vec(inner.clone(), 0..3).prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec((select(vec!["a", "a", "b"]), inner), 0..3).prop_map(|fields| {
                let fields: Vec<_> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
    .boxed()
}

/// A list, mostly of one element.
pub(in crate::provider) fn list(element: BoxedStrategy<String>) -> BoxedStrategy<String> {
    prop_oneof![
        12 => (blank(), element.clone(), blank()).prop_map(|(a, element, b)| format!("[{a}{element}{b}]")),
        1 => prop::collection::vec(element, 0..3).prop_map(|list| format!("[{}]", list.join(","))),
    ]
    .boxed()
}

/// An object of these fields in any order, of which some are missing, come twice, or hold any value. Now and then there
/// is a field of a name that nobody knows, or of a `rare` one.
pub(in crate::provider) fn object(fields: Vec<Field>, rare: &[&'static str]) -> BoxedStrategy<String> {
    let of_field = |(key, expected): Field| {
        let value = prop_oneof![40 => expected, 1 => value()];
        let key = prop_oneof![
            100 => Just(key.to_owned()),
            1 => Just(key.to_ascii_uppercase()),
            1 => Just(key.replacen(|c: char| c.is_ascii_lowercase(), "\\u0061", 1)),
        ];
        (key, blank(), blank(), value, blank())
            .prop_map(|(key, a, b, value, c)| format!("\"{key}\"{a}:{b}{value}{c}"))
            .boxed()
    };
    let names = std::iter::once("unknown").chain(rare.iter().copied()).collect::<Vec<_>>();
    let unusual = (select(names), value()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
    let written: Vec<_> = fields.into_iter().map(of_field).collect();
    let again =
        prop_oneof![20 => Just(Vec::new()), 1 => Union::new(written.clone()).prop_map(|field| vec![field])];
    let more = prop_oneof![12 => Just(Vec::new()), 1 => unusual.prop_map(|field| vec![field])];
    let kept = written.into_iter().map(|field| prop::option::weighted(0.9, field)).collect::<Vec<_>>();
    let all = (kept, again, more).prop_map(|(kept, again, more)| {
        kept.into_iter().flatten().chain(again).chain(more).collect::<Vec<_>>()
    });
    (
        all.prop_shuffle(),
        blank(),
        blank(),
        prop::option::weighted(0.01, select(vec![",", "x", "}", "\u{c}", "\u{0}"])),
    )
        .prop_map(|(fields, a, b, behind)| {
            format!("{{{a}{}}}{b}{}", fields.join(","), behind.unwrap_or_default())
        })
        .boxed()
}

/// A reader that has read how an answer opens.
pub(in crate::provider) fn opened<R: EventReader>(mut reader: R, opening: &[&str]) -> R {
    let mut out = EventBuf::new();
    opening.iter().try_for_each(|data| reader.event("", &Text::from(*data), &mut out)).unwrap();
    reader
}

/// What a reader makes of an event: what it says, whether it fails, and what it remembers.
pub(in crate::provider) fn outcome<R: fmt::Debug>(
    reader: &mut R,
    read: impl FnOnce(&mut R, &mut EventBuf<LlmEvent>) -> Result<()>,
) -> (Vec<LlmEvent>, Option<Option<ProviderErrorKind>>, String) {
    let mut events = EventBuf::new();
    let failure = read(reader, &mut events).err().map(|error| error.provider_kind());
    (events.drain().collect(), failure, format!("{reader:?}"))
}

/// Checks many cases, of which a good part has to be plain: `check` says whether this one was.
pub(in crate::provider) fn check_all(
    cases: &BoxedStrategy<String>,
    check: impl Fn(&Text) -> Result<bool, TestCaseError>,
) {
    let plain = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(Config { cases: 2048, failure_persistence: None, ..Config::default() });
    runner
        .run(cases, |case| {
            plain.set(plain.get() + u32::from(check(&Text::from(case))?));
            Ok(())
        })
        .unwrap();
    assert!(plain.get() > 200, "{} of 2048 were plain", plain.get());
}
