//! The output of a tool, from the response of a server.

use http::header::CONTENT_TYPE;
use omniassist_server::ToolError;
use omniassist_server::core::characters::prefix;
use omniassist_server::core::secret::REDACTED;
use omniassist_server::core::{JsonText, json_guard};
use omniassist_server::outbound::OutboundResponse;
use serde_json::Value;

use crate::request::encode;
use crate::selector::Selector;

/// The bytes of a body in an error that the model reads.
const MAX_ERROR_BYTES: usize = 4 << 10;

/// The levels of arrays and objects that the parser of JSON reads.
const MAX_LEVELS: usize = 128;

/// The shortest secret that is removed. Shorter ones would also match ordinary words.
const MIN_SECRET: usize = 6;

/// Returns the JSON text that the model reads.
pub(crate) fn read(
    response: &OutboundResponse,
    secrets: &[String],
    selector: Option<&Selector>,
) -> Result<JsonText, ToolError> {
    let status = response.status();
    let read = String::from_utf8_lossy(response.body());
    // Some servers begin a text with a byte order mark.
    let read = read.strip_prefix('\u{feff}').unwrap_or(&read);
    if status.is_redirection() {
        return Err(ToolError::new(format!(
            "The server answered {status}, a redirect, which is not followed."
        )));
    }
    if !status.is_success() {
        let body = cut(shown(read, secrets, response).trim(), MAX_ERROR_BYTES);
        let separator = if body.is_empty() { "" } else { ": " };
        return Err(ToolError::new(format!("The server answered {status}{separator}{body}")));
    }
    let most = response.body().len();
    if response.body().is_empty() && !response.is_cut() {
        return Ok(JsonText::from_str_value(&format!("The server answered {status} without content.")));
    }
    let stated =
        response.headers().get(CONTENT_TYPE).and_then(|stated| stated.to_str().ok()).unwrap_or_default();
    let media_type = stated.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = media_type == "application/json" || media_type.ends_with("+json");
    // The model must not read the rest of a response whose type is stated wrongly.
    if is_json || selector.is_some() {
        if response.is_cut() {
            return Err(ToolError::new(format!(
                "The server's answer is longer than {most} bytes. Ask for less, such as a smaller page."
            )));
        }
        return json(read, secrets, selector);
    }
    if std::str::from_utf8(response.body()).is_err_and(|error| error.error_len().is_some()) {
        let media_type = if media_type.is_empty() { "unknown" } else { &media_type };
        let text = format!("The server answered with {most} bytes of the type {media_type}.");
        return Ok(JsonText::from_str_value(&text));
    }
    let mut text = shown(read, secrets, response);
    if response.is_cut() {
        text.push_str(&format!("… [cut off: the answer is longer than {most} bytes]"));
    }
    Ok(JsonText::from_str_value(&text))
}

/// Returns a JSON text as the server wrote it, with all digits of its numbers, unless it repeats a secret.
fn json(text: &str, secrets: &[String], selector: Option<&Selector>) -> Result<JsonText, ToolError> {
    let invalid = |error| ToolError::new("The server's answer is not valid JSON.").with_source(error);
    let value: Value = serde_json::from_str(text).map_err(invalid)?;
    let cleaned = clean(value.clone(), secrets);
    // A secret could be in the first of two fields of one name, which a parsed value does not have.
    let is_clean = secrets.is_empty()
        || (cleaned == value
            && without(text, secrets) == text
            && json_guard::check(text.as_bytes(), MAX_LEVELS).is_ok());
    let text = if is_clean { text.to_owned() } else { cleaned.to_string() };
    let selected = match selector {
        Some(selector) => selector.select(&text).ok_or_else(|| {
            ToolError::new("The server's answer does not have the part that this tool reads.")
        })?,
        None => text,
    };
    JsonText::parse(selected).map_err(invalid)
}

/// Returns a JSON value without these secrets.
fn clean(value: Value, secrets: &[String]) -> Value {
    match value {
        Value::String(text) => without(&text, secrets).into(),
        Value::Array(items) => items.into_iter().map(|item| clean(item, secrets)).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            Value::Object(
                fields.map(|(name, value)| (without(&name, secrets), clean(value, secrets))).collect(),
            )
        }
        Value::Number(number) if secrets.contains(&number.to_string()) => REDACTED.into(),
        value => value,
    }
}

/// Returns a text without these secrets.
fn without(text: &str, secrets: &[String]) -> String {
    forms(secrets).fold(text.to_owned(), |clean, form| clean.replace(&form, REDACTED))
}

/// Returns a text of a response without these secrets, also without one that is cut off with it.
fn shown(text: &str, secrets: &[String], response: &OutboundResponse) -> String {
    let mut clean = without(text, secrets);
    if response.is_cut() {
        forms(secrets).for_each(|form| without_beginning(&mut clean, &form));
    }
    clean
}

/// Returns secrets with their forms in JSON and in a URL.
fn forms(secrets: &[String]) -> impl Iterator<Item = String> {
    let forms = secrets.iter().filter(|secret| secret.len() >= MIN_SECRET).flat_map(|secret| {
        let quoted = Value::from(secret.as_str()).to_string();
        let quoted = quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned();
        [secret.clone(), quoted, encode(secret)]
    });
    forms.filter(|form| form.len() >= MIN_SECRET)
}

/// Removes the beginning of a secret at the end of a text.
fn without_beginning(text: &mut String, secret: &str) {
    let begun = secret.char_indices().rev().filter(|(at, _)| *at >= MIN_SECRET);
    let begun = begun.filter_map(|(at, _)| secret.get(..at)).find(|begun| text.ends_with(begun));
    if let Some(begun) = begun {
        text.truncate(text.len() - begun.len());
    }
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}… [cut off: the answer is longer than {most} bytes]", prefix(text, most))
}
