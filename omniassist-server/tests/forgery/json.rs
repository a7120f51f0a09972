//! Random JSON, and its spellings by clients.

use std::fmt::Write as _;

use omniassist_server::core::message::ProviderMetadata;
use omniassist_server::core::{JsonText, canonical};
use serde_json::Value;

use super::dice::Dice;

/// The prefix of a key that is written twice in its object.
pub(super) const TWICE: &str = "@twice@";

const WORDS: [&str; 12] = [
    "",
    "order",
    "a\"b\\c",
    "line\nline",
    "ü",
    "中文",
    "\u{1f600}",
    "\u{2028}",
    "</script>",
    "a/b",
    "\u{7f}",
    "\u{e000}\u{10000}",
];

const KEYS: [&str; 12] =
    ["id", "amount", "to", "note", "1", "10", "2", "ü", "\u{ffff}", "\u{10000}", "constructor", "a\tb"];

const NUMBERS: [&str; 14] = [
    "0",
    "-0",
    "1.0",
    "17",
    "-3",
    "2.50",
    "1e21",
    "0.1",
    "9007199254740993",
    "175928847299117063",
    "1e-7",
    "26013.7423095703125",
    "18446744073709551615",
    "0.30000000000000004",
];

pub(super) fn word(dice: &mut Dice) -> String {
    format!("{}{}", dice.pick(&WORDS), dice.below(100))
}

/// Returns a random object that a model or a tool can write.
pub(super) fn object(dice: &mut Dice) -> JsonText {
    let mut text = String::new();
    write_object(dice, 0, &mut text);
    JsonText::parse(text).unwrap()
}

pub(super) fn value(dice: &mut Dice) -> JsonText {
    let mut text = String::new();
    write_value(dice, 0, &mut text);
    JsonText::parse(text).unwrap()
}

fn write_object(dice: &mut Dice, depth: usize, out: &mut String) {
    out.push('{');
    let mut keys = KEYS;
    dice.shuffle(&mut keys);
    let count = dice.below(5);
    for (index, key) in keys.iter().take(count).enumerate() {
        if index > 0 {
            out.push(',');
        }
        write!(out, "{}:", Value::from(*key)).unwrap();
        write_value(dice, depth + 1, out);
    }
    if dice.one_in(25) {
        out.push_str(if count > 0 { ",\"__proto__\":{\"polluted\":1}" } else { "\"__proto__\":1" });
    }
    out.push('}');
}

fn write_value(dice: &mut Dice, depth: usize, out: &mut String) {
    match dice.below(if depth > 2 { 4 } else { 6 }) {
        0 => out.push_str(dice.pick(&NUMBERS)),
        1 => out.push_str(dice.pick(&["true", "false", "null"])),
        2 => write!(out, "{}", dice.next() as i64 as f64 / 1024.0).unwrap(),
        3 => write!(out, "{}", Value::from(word(dice))).unwrap(),
        4 => {
            out.push('[');
            for index in 0..dice.below(4) {
                if index > 0 {
                    out.push_str(", ");
                }
                write_value(dice, depth + 1, out);
            }
            out.push(']');
        }
        _ => write_object(dice, depth, out),
    }
}

/// The way in which a client writes the received JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    /// It parses JSON into JavaScript's values and writes those.
    JavaScript,
    /// It keeps the text.
    Verbatim,
}

/// Writes a body like a client, with any order of keys, any escapes and any white space.
pub(super) fn spell(dice: &mut Dice, client: Client, value: &Value) -> String {
    let mut out = String::new();
    spell_value(dice, client, value, &mut out);
    out.replace(TWICE, "")
}

fn spell_value(dice: &mut Dice, client: Client, value: &Value, out: &mut String) {
    match value {
        Value::Number(number) if client == Client::JavaScript => {
            let number = JsonText::parse(number.to_string()).unwrap();
            out.push_str(canonical::of(&number).unwrap().json().as_str());
        }
        Value::String(text) => spell_string(dice, text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                spell_value(dice, client, item, out);
            }
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            let mut entries: Vec<_> = object.iter().collect();
            dice.shuffle(&mut entries);
            for (index, (key, item)) in entries.into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                spell_string(dice, key, out);
                out.push_str(if dice.one_in(8) { " : " } else { ":" });
                spell_value(dice, client, item, out);
            }
            out.push('}');
        }
        other => write!(out, "{other}").unwrap(),
    }
}

fn spell_string(dice: &mut Dice, text: &str, out: &mut String) {
    if text.starts_with(TWICE) || !dice.one_in(16) {
        return write!(out, "{}", Value::from(text)).unwrap();
    }
    out.push('"');
    for unit in text.encode_utf16() {
        write!(out, "\\u{unit:04x}").unwrap();
    }
    out.push('"');
}

/// Returns one spelling for all values that are equal to a client with doubles only. It does not use the code of the
/// canonical form. `sent` removes the keys that are never sent.
pub(super) fn plain(json: &JsonText, sent: bool) -> String {
    plain_value(&serde_json::from_str(json.as_str()).unwrap(), sent)
}

pub(super) fn plain_value(value: &Value, sent: bool) -> String {
    match value {
        Value::Number(number) => format!("{:?}", number.as_f64().unwrap() + 0.0),
        Value::Array(items) => {
            format!("{:?}", items.iter().map(|item| plain_value(item, sent)).collect::<Vec<_>>())
        }
        Value::Object(object) => {
            let mut entries: Vec<_> = object
                .iter()
                .filter(|(key, value)| !(sent && is_never_sent(key, value)))
                .map(|(key, value)| (key, plain_value(value, sent)))
                .collect();
            entries.sort();
            format!("{entries:?}")
        }
        other => other.to_string(),
    }
}

fn is_never_sent(key: &str, value: &Value) -> bool {
    key == "__proto__" || (key == "constructor" && value.get("prototype").is_some())
}

/// Returns the provider's state in metadata.
pub(super) fn plain_state(metadata: Option<&ProviderMetadata>) -> String {
    let mut state = metadata.cloned().unwrap_or_default();
    state.forget_own();
    plain_value(&Value::Object((*state).clone()), true)
}
