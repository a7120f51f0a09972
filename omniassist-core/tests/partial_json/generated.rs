//! The parser with random text in random parts. The same cases are read by the parser in TypeScript.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::{env, io};

use fastrand::Rng;
use omniassist_core::partial_json::Growing;
use serde_json::{Value, json};

use super::random_json::{chunks, damage, schema, text};

const CASES: usize = 100_000;
const SEED: u64 = 17;

/// The variable that names the file for the tests in `widget/`. Each line is a case.
const VECTORS: &str = "OMNIASSIST_GROWING_VECTORS";

/// The state of a parser after a part of the text.
#[derive(Debug, PartialEq)]
struct Shown {
    value: Option<Value>,
    open: Option<String>,
    shown: Option<Value>,
    failed: bool,
}

impl Shown {
    fn by(growing: &Growing, schema: &Value) -> Self {
        Self {
            value: growing.value().cloned(),
            open: growing.open(),
            shown: growing.shown(schema).map(std::borrow::Cow::into_owned),
            failed: growing.error().is_some(),
        }
    }

    /// Writes the state without fields that another field implies.
    fn to_json(&self) -> Value {
        let mut step = json!({"failed": self.failed});
        if let Some(value) = &self.value {
            step["value"] = value.clone();
        }
        if let Some(open) = &self.open {
            step["open"] = json!(open);
        }
        if self.shown != self.value {
            step["shown"] = json!(self.shown.as_slice());
        }
        step
    }
}

#[test]
fn all_random_texts_grow_to_the_value_of_a_strict_parser() {
    let mut random = Rng::with_seed(SEED);
    let mut file = env::var_os(VECTORS).map(|path| BufWriter::new(File::create(path).unwrap()));
    let mut valid = 0;
    for _ in 0..CASES {
        let mut text = text(&mut random);
        let schema = schema(&mut random, &serde_json::from_str(&text).unwrap_or(Value::Null));
        if random.u8(..4) == 0 {
            text = damage(&mut random, &text);
        }
        let strict = serde_json::from_str::<Value>(&text);
        let chunks = chunks(&mut random, &text);
        let steps = grow(&chunks, &schema);
        let last = steps.last().unwrap();
        match strict {
            Ok(strict) if nesting(&text) <= 64 => {
                assert_eq!((last.failed, last.value.as_ref()), (false, Some(&strict)), "{text:?}");
                valid += 1;
            }
            _ => assert!(last.failed, "{text:?}"),
        }
        assert_grows(&text, &steps);
        if let Some(file) = &mut file {
            write_case(file, &chunks, &schema, &steps).unwrap();
        }
    }
    assert!((CASES * 3 / 4..CASES).contains(&valid), "{valid}");
    file.map_or(Ok(()), |mut file| file.flush()).unwrap();
}

/// Returns what is shown after each part and at the end. It must equal what is shown if each character is a part.
fn grow(chunks: &[String], schema: &Value) -> Vec<Shown> {
    let (mut growing, mut by_chars) = (Growing::new(), Growing::new());
    let mut steps = Vec::with_capacity(chunks.len() + 1);
    for chunk in chunks {
        let result = growing.push(chunk);
        for char in chunk.chars() {
            let _ = by_chars.push(char.encode_utf8(&mut [0; 4]));
        }
        let step = Shown::by(&growing, schema);
        assert_eq!((growing.value(), growing.open()), (by_chars.value(), by_chars.open()), "{chunks:?}");
        assert_eq!(growing.error().is_some(), by_chars.error().is_some(), "{chunks:?}");
        assert_eq!(result.is_err(), step.failed);
        steps.push(step);
    }
    let ended = growing.end();
    assert_eq!(ended.is_ok(), growing.is_complete());
    steps.push(Shown::by(&growing, schema));
    steps
}

/// Each value and each shown part contains the previous one, unless a key is repeated.
fn assert_grows(text: &str, steps: &[Shown]) {
    if repeats_a_key(text) {
        return;
    }
    for (before, after) in steps.iter().zip(steps.iter().skip(1)) {
        assert!(grew(before.value.as_ref(), after.value.as_ref()), "{text:?}: {before:?} {after:?}");
        assert!(grew(before.shown.as_ref(), after.shown.as_ref()), "{text:?}: {before:?} {after:?}");
    }
}

fn grew(before: Option<&Value>, after: Option<&Value>) -> bool {
    match (before, after) {
        (None, _) => true,
        (Some(Value::String(before)), Some(Value::String(after))) => after.starts_with(before.as_str()),
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            before.iter().enumerate().all(|(index, item)| grew(Some(item), after.get(index)))
        }
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            before.iter().all(|(key, member)| grew(Some(member), after.get(key)))
        }
        _ => before == after,
    }
}

/// Returns `true` if an object of the text repeats a key, or if the text is not JSON.
fn repeats_a_key(text: &str) -> bool {
    fn members(value: &Value) -> usize {
        match value {
            Value::Array(items) => items.iter().map(members).sum(),
            Value::Object(object) => object.len() + object.values().map(members).sum::<usize>(),
            _ => 0,
        }
    }
    // Each member has a colon, and no string of the generator has one but the address.
    let colons = text.matches(':').count() - text.matches("https:").count();
    serde_json::from_str(text).map_or(true, |value| members(&value) != colons)
}

/// Returns the number of objects and arrays that contain each other in JSON text.
fn nesting(text: &str) -> i32 {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0, 0, false, false);
    for char in text.chars() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => in_string = !in_string,
            '[' | '{' if !in_string => depth += 1,
            ']' | '}' if !in_string => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn write_case(file: &mut impl Write, chunks: &[String], schema: &Value, steps: &[Shown]) -> io::Result<()> {
    let steps: Vec<Value> = steps.iter().map(Shown::to_json).collect();
    writeln!(file, "{}", json!({"chunks": chunks, "schema": schema, "steps": steps}))
}
