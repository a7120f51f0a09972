use serde_json::Value;

use crate::characters::is_hidden;

/// Returns the indentation of a level.
pub(super) fn indent(level: usize) -> String {
    "  ".repeat(level)
}

/// Writes a doc comment on its own lines, or nothing for a blank text. The text cannot end the comment early.
pub(super) fn comment(out: &mut String, level: usize, text: &str) {
    // Characters are removed before escaping: a removal could otherwise join `*` and `/`.
    let text: String = text.trim().chars().filter(|char| !is_hidden(*char) || is_break(*char)).collect();
    let text = text.replace("\r\n", "\n").replace("*/", "*\\/");
    let lines: Vec<&str> = text.split(is_break).map(str::trim_end).collect();
    let indent = indent(level);
    match lines.as_slice() {
        [] | [""] => {}
        [line] => out.push_str(&format!("{indent}/** {line} */\n")),
        lines => {
            out.push_str(&format!("{indent}/**\n"));
            for line in lines {
                let space = if line.is_empty() { "" } else { " " };
                out.push_str(&format!("{indent} *{space}{line}\n"));
            }
            out.push_str(&format!("{indent} */\n"));
        }
    }
}

/// Returns the type that accepts exactly this value.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => string(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", property_name(name), literal(value)))
                .collect();
            if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join("; ")) }
        }
    }
}

/// Returns the name of a property, in quotes unless it is an identifier. Keywords need no quotes there.
pub(super) fn property_name(name: &str) -> String {
    let mut bytes = name.bytes();
    let starts = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$');
    if starts && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$') {
        name.to_owned()
    } else {
        string(name)
    }
}

/// Returns a string literal. JSON's escapes are valid in TypeScript.
fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for char in Value::from(text).to_string().chars() {
        if is_hidden(char) {
            for unit in char.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(char);
        }
    }
    out
}

fn is_break(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
