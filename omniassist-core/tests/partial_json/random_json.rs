//! Random JSON text, in all spellings, with a schema of its value.

use fastrand::Rng;
use serde_json::{Value, json};

const KEYS: [&str; 14] = [
    "a",
    "b",
    "title",
    "",
    "a/b",
    "~",
    "~1",
    "1",
    "0",
    "__proto__",
    "constructor",
    "length",
    "ä😀",
    "\0\"\\",
];

const TEXTS: [&str; 8] = [
    "",
    "a",
    "Sales by region",
    "https://example.com/a?b=c",
    "\"\\/\u{8}\u{c}\n\r\t\0",
    "ä€😀",
    "\u{2028}",
    "true",
];

const NUMBERS: [&str; 16] = [
    "0",
    "-0",
    "-0.0",
    "1",
    "12",
    "-7",
    "1.5",
    "1e3",
    "1E-2",
    "9007199254740993",
    "18446744073709551615",
    "-9223372036854775808",
    "123456789012345678901234567890",
    "1.7976931348623157e308",
    "5e-324",
    "0.1",
];

/// Characters that often make JSON invalid.
const WRONG: [char; 20] = [
    '{', '}', '[', ']', ':', ',', '"', '\\', 'u', 'e', '0', '-', '+', '.', 't', '\0', '\u{1}', '\u{feff}',
    'ä', ' ',
];

/// Writes a random value in a random spelling.
pub(super) fn text(random: &mut Rng) -> String {
    let mut out = String::new();
    let depth = if random.u8(..) < 2 { random.usize(60..70) } else { 0 };
    out.extend((0..depth).map(|_| '['));
    write(random, 3, &mut out);
    out.extend((0..depth).map(|_| ']'));
    space(random, &mut out);
    out
}

/// Removes, adds or replaces a character, or cuts the text.
pub(super) fn damage(random: &mut Rng, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let at = random.usize(..=chars.len());
    let wrong = *random.choice(&WRONG).unwrap();
    match random.u8(..4) {
        0 => chars.truncate(at),
        1 => chars.insert(at, wrong),
        2 if at < chars.len() => chars[at] = wrong,
        _ if at < chars.len() => drop(chars.remove(at)),
        _ => chars.push(wrong),
    }
    chars.into_iter().collect()
}

/// Divides a text into parts of random lengths.
pub(super) fn chunks(random: &mut Rng, text: &str) -> Vec<String> {
    let longest = *random.choice(&[2, 12, 40, 40, 100, 1_000]).unwrap();
    let mut chunks = vec![String::new()];
    let mut left = random.usize(1..=longest);
    for char in text.chars() {
        if left == 0 {
            chunks.push(String::new());
            left = random.usize(1..=longest);
        }
        chunks.last_mut().unwrap().push(char);
        left -= 1;
    }
    chunks
}

/// Returns a schema of the value's shape, with random keywords that delay parts of it.
pub(super) fn schema(random: &mut Rng, value: &Value) -> Value {
    if value.pointer("/0/0/0/0/0").is_some() {
        return json!({"x-stream": "text", "items": {"$ref": "#"}});
    }
    let mut schema = match value {
        Value::String(_) => json!({"type": "string"}),
        Value::Array(items) => {
            let items: Value = items.iter().take(2).map(|item| self::schema(random, item)).collect();
            json!({"type": ["array", "null"], "items": {"anyOf": items}})
        }
        Value::Object(members) => {
            let listed = members.iter().map(|(key, member)| (key.clone(), self::schema(random, member)));
            let listed: Value = listed.collect();
            json!({"properties": listed, "additionalProperties": {"format": "uri"}})
        }
        _ => return json!({"type": ["number", "boolean", "null"]}),
    };
    let (keyword, content) = match random.u8(..14) {
        0 => ("enum", json!([value, "other"])),
        1 => ("const", value.clone()),
        2 => ("format", json!("uri")),
        3 => ("pattern", json!("^.*$")),
        4 => ("x-stream", json!("atomic")),
        5 => ("x-stream", json!("text")),
        6 => return json!({"anyOf": [{"type": "null"}, schema]}),
        7 => return json!({"x-stream": "text", "allOf": [schema]}),
        8 => ("$ref", json!("#")),
        _ => return schema,
    };
    schema.as_object_mut().unwrap().insert(keyword.to_owned(), content);
    schema
}

fn write(random: &mut Rng, depth: usize, out: &mut String) {
    space(random, out);
    match random.u8(..if depth == 0 { 10 } else { 20 }) {
        0 => out.push_str("null"),
        1 => out.push_str("true"),
        2 => out.push_str("false"),
        3..=4 => out.push_str(random.choice(&NUMBERS).unwrap()),
        5 => out.push_str(&(random.f64() * 10f64.powi(random.i32(-20..20))).to_string()),
        6..=9 => {
            let text = *random.choice(&TEXTS).unwrap();
            write_string(random, text, out);
        }
        10..=13 => write_members(random, depth, ['[', ']'], out),
        _ => write_members(random, depth, ['{', '}'], out),
    }
}

fn write_members(random: &mut Rng, depth: usize, [open, close]: [char; 2], out: &mut String) {
    out.push(open);
    for index in 0..random.usize(..4) {
        if index > 0 {
            space(random, out);
            out.push(',');
        }
        if open == '{' {
            space(random, out);
            let key = *random.choice(&KEYS).unwrap();
            write_string(random, key, out);
            space(random, out);
            out.push(':');
        }
        write(random, depth - 1, out);
    }
    space(random, out);
    out.push(close);
}

fn write_string(random: &mut Rng, text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        let short = match char {
            '"' | '\\' | '/' => Some(char),
            '\u{8}' => Some('b'),
            '\u{c}' => Some('f'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\t' => Some('t'),
            _ => None,
        };
        let must = char < ' ' || matches!(char, '"' | '\\');
        match short {
            Some(short) if random.bool() => out.extend(['\\', short]),
            _ if must || random.u8(..6) == 0 => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    let digits = if random.bool() { format!("{unit:04x}") } else { format!("{unit:04X}") };
                    out.push_str(&format!("\\u{digits}"));
                }
            }
            _ => out.push(char),
        }
    }
    out.push('"');
}

fn space(random: &mut Rng, out: &mut String) {
    if random.u8(..8) == 0 {
        out.push(*random.choice(&[' ', '\n', '\r', '\t']).unwrap());
    }
}
