//! The styles of parameters (RFC 6570, as OpenAPI uses it).

use omniassist_server::ToolError;
use serde_json::{Number, Value};

use super::encode::encode;
use crate::document::{Style, Wire};

/// A value as its texts, each encoded.
enum Flat {
    One(String),
    List(Vec<String>),
    Pairs(Vec<(String, String)>),
}

/// Returns an error for the model.
fn misfit(name: &str, reason: &str) -> ToolError {
    ToolError::new(format!("The argument for `{name}` cannot be sent: {reason}."))
}

/// Returns the text of a value that is neither a list nor an object.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(value) => Some(number(value)),
        Value::String(value) => Some(value.clone()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the text of a number. One without a fraction is written as an integer, such as `5` for `5.0`.
fn number(value: &Number) -> String {
    match value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0) {
        Some(0.0) => "0".to_owned(),
        Some(number) => format!("{number:.0}"),
        None => value.to_string(),
    }
}

fn flat(name: &str, value: &Value, encode: fn(&str) -> String) -> Result<Flat, ToolError> {
    let one = |value: &Value| {
        let text = scalar(value).ok_or_else(|| misfit(name, "a list or an object within it has no form"))?;
        Ok(encode(&text))
    };
    Ok(match value {
        Value::Array(items) => Flat::List(items.iter().map(one).collect::<Result<_, ToolError>>()?),
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            let pairs = fields.map(|(key, value)| Ok((encode(key), one(value)?)));
            Flat::Pairs(pairs.collect::<Result<_, ToolError>>()?)
        }
        value => Flat::One(one(value)?),
    })
}

fn listed(pairs: &[(String, String)], separator: &str) -> String {
    let texts: Vec<&str> = pairs.iter().flat_map(|(key, value)| [key.as_str(), value]).collect();
    texts.join(separator)
}

fn equated(pairs: &[(String, String)], separator: &str) -> String {
    let texts: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
    texts.join(separator)
}

/// Returns the text of a path parameter.
pub(super) fn in_path(name: &str, value: &Value, wire: Wire) -> Result<String, ToolError> {
    let Wire::Style { style, explode } = wire else { return Ok(encode(&value.to_string())) };
    let flat = flat(name, value, encode)?;
    let key = encode(name);
    let named = |text: &str| if text.is_empty() { format!(";{key}") } else { format!(";{key}={text}") };
    Ok(match (style, flat, explode) {
        (Style::Label, Flat::One(text), _) => format!(".{text}"),
        (Style::Label, Flat::List(texts), true) => format!(".{}", texts.join(".")),
        (Style::Label, Flat::List(texts), false) => format!(".{}", texts.join(",")),
        (Style::Label, Flat::Pairs(pairs), true) => format!(".{}", equated(&pairs, ".")),
        (Style::Label, Flat::Pairs(pairs), false) => format!(".{}", listed(&pairs, ",")),
        (Style::Matrix, Flat::One(text), _) => named(&text),
        (Style::Matrix, Flat::List(texts), true) => texts.iter().map(|text| named(text)).collect(),
        (Style::Matrix, Flat::List(texts), false) => named(&texts.join(",")),
        (Style::Matrix, Flat::Pairs(pairs), true) => {
            pairs.iter().map(|(key, value)| format!(";{key}={value}")).collect()
        }
        (Style::Matrix, Flat::Pairs(pairs), false) => named(&listed(&pairs, ",")),
        (_, flat, explode) => simple(flat, explode),
    })
}

fn simple(flat: Flat, explode: bool) -> String {
    match flat {
        Flat::One(text) => text,
        Flat::List(texts) => texts.join(","),
        Flat::Pairs(pairs) if explode => equated(&pairs, ","),
        Flat::Pairs(pairs) => listed(&pairs, ","),
    }
}

/// Returns the value of a header. It is not percent-encoded.
pub(super) fn in_header(name: &str, value: &Value, wire: Wire) -> Result<String, ToolError> {
    match wire {
        Wire::Json => Ok(value.to_string()),
        Wire::Style { explode, .. } => Ok(simple(flat(name, value, str::to_owned)?, explode)),
    }
}

/// Returns the encoded names and values of a query, a form, or cookies.
pub(super) fn in_pairs(name: &str, value: &Value, wire: Wire) -> Result<Vec<(String, String)>, ToolError> {
    let key = encode(name);
    let Wire::Style { style, explode } = wire else { return Ok(vec![(key, encode(&value.to_string()))]) };
    if style == Style::DeepObject {
        let mut pairs = Vec::new();
        deep(name, value, &mut pairs)?;
        return Ok(pairs);
    }
    let separator = match style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        _ => ",",
    };
    Ok(match flat(name, value, encode)? {
        Flat::One(text) => vec![(key, text)],
        Flat::List(texts) if explode => texts.into_iter().map(|text| (key.clone(), text)).collect(),
        Flat::Pairs(pairs) if explode => pairs,
        Flat::List(texts) if texts.is_empty() => Vec::new(),
        Flat::Pairs(pairs) if pairs.is_empty() => Vec::new(),
        Flat::List(texts) => vec![(key, texts.join(separator))],
        Flat::Pairs(pairs) => vec![(key, listed(&pairs, separator))],
    })
}

/// Adds the pairs of an object as `name[key]=value`. The standard has one level; deeper ones and lists
/// continue the name.
fn deep(name: &str, value: &Value, pairs: &mut Vec<(String, String)>) -> Result<(), ToolError> {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            for (key, value) in fields {
                if key.contains(['[', ']']) {
                    return Err(misfit(name, "a name within it has a bracket"));
                }
                deep(&format!("{name}[{key}]"), value, pairs)?;
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                deep(&format!("{name}[{index}]"), item, pairs)?;
            }
        }
        value => pairs.extend(scalar(value).map(|text| (encode(name), encode(&text)))),
    }
    Ok(())
}
