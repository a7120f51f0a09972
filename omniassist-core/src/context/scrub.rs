//! Removal of secrets from texts: `name=value`, the user and password of a URL, and both percent-encoded in another
//! URL.

use std::borrow::Cow;
use std::ops::Range;

use crate::secret::{REDACTED, redacted};

/// The number of layers of percent-encoding that are decoded. A value with more is replaced as a whole.
const MAX_LAYERS: usize = 4;

/// The bytes that end the name of a parameter.
fn before_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"?&#;/=\"'`(){},<>|\\".contains(&byte)
}

/// Returns `true` if a text contains a character that every supported secret has.
pub(super) fn may_hold_secret(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'=' | b'@' | b'%'))
}

/// Returns the ranges of secrets in a text.
type Finder = fn(&str, &mut dyn FnMut(&str) -> bool) -> Vec<Range<usize>>;

/// Returns the text without its secrets and their number, or `None` if there are none.
pub(super) fn text(text: &str, is_secret: &mut dyn FnMut(&str) -> bool) -> Option<(String, usize)> {
    let mut found = 0;
    let mut clean = Cow::Borrowed(text);
    let finders: [Finder; 3] = [|text, _| userinfo(text), parameters, encoded];
    for find in finders {
        let ranges = find(&clean, is_secret);
        if !ranges.is_empty() {
            found += ranges.len();
            clean = Cow::Owned(redacted(&clean, ranges));
        }
    }
    (found > 0).then(|| (clean.into_owned(), found))
}

/// Returns the ranges of user and password in `scheme://user:password@host`.
fn userinfo(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    // No word before this position contains `@`, which keeps the search linear.
    let mut clear = 0;
    while let Some(slashes) = text.get(at..).and_then(|rest| rest.find("//")) {
        at += slashes + 2;
        let after = text.get(at..).unwrap_or_default();
        let length = after
            .find(|char: char| matches!(char, '/' | '\\' | '?' | '#') || char.is_whitespace())
            .unwrap_or(after.len());
        let authority = after.get(..length).unwrap_or_default();
        let mut end = authority.rfind('@');
        if end.is_none() && at >= clear && !ends_in_port(authority) {
            let word = after.find(char::is_whitespace).unwrap_or(after.len());
            end = after.get(..word).and_then(|word| word.rfind('@'));
            clear = at + word;
        }
        if let Some(end) = end {
            found.push(at..at + end);
            at += end;
        }
    }
    found
}

/// Returns `true` if an authority without `@` is a host. A port is a number; anything else after the colon is a
/// password with characters that should have been encoded.
fn ends_in_port(authority: &str) -> bool {
    match authority.rsplit_once(':') {
        Some((_, port)) => authority.ends_with(']') || port.bytes().all(|byte| byte.is_ascii_digit()),
        None => true,
    }
}

/// Returns the ranges of the values of secret names in `name=value`. A value ends at the next `&` or the end of its
/// line. If it has characters that should have been encoded, too much is removed rather than too little.
fn parameters(text: &str, is_secret: &mut dyn FnMut(&str) -> bool) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut done = 0;
    for equals in memchr::memchr_iter(b'=', bytes) {
        let Some(before) = text.get(done..equals) else { continue };
        let start = before.bytes().rposition(before_name).map_or(done, |at| done + at + 1);
        let Some(name) = text.get(start..equals) else { continue };
        if name.is_empty() || !is_secret(&decode(name)) {
            continue;
        }
        let value = bytes.get(equals + 1..).unwrap_or_default();
        let length =
            value.iter().position(|byte| matches!(byte, b'&' | b'\n' | b'\r')).unwrap_or(value.len());
        let place = equals + 1..equals + 1 + length;
        if length > 0 && text.get(place.clone()) != Some(REDACTED) {
            done = place.end;
            found.push(place);
        }
    }
    found
}

/// Returns the ranges of values of parameters that are an encoded address with a secret.
fn encoded(text: &str, is_secret: &mut dyn FnMut(&str) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if memchr::memchr(b'%', text.as_bytes()).is_none() {
        return found;
    }
    let mut at = 0;
    for run in text.split_inclusive(|char: char| char.is_whitespace() || "&=?#".contains(char)) {
        let body = run.trim_end_matches(|char: char| char.is_whitespace() || "&=?#".contains(char));
        if hides_secret(body, is_secret) {
            found.push(at..at + body.len());
        }
        at += run.len();
    }
    found
}

fn hides_secret(run: &str, is_secret: &mut dyn FnMut(&str) -> bool) -> bool {
    let mut layer = Cow::Borrowed(run);
    for _ in 0..MAX_LAYERS {
        let below = decode(&layer);
        if below == layer {
            return false;
        }
        layer = Cow::Owned(below.into_owned());
        if !userinfo(&layer).is_empty() || !parameters(&layer, is_secret).is_empty() {
            return true;
        }
    }
    decode(&layer) != layer
}

/// Decodes percent-encoding. Invalid UTF-8 becomes replacement characters.
fn decode(text: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy()
}

/// Returns `true` if a text that resembles JSON, such as truncated JSON, names a secret.
pub(super) fn names_secret_key(text: &str, is_secret: &mut dyn FnMut(&str) -> bool) -> bool {
    let mut parts = text.split('"').peekable();
    while let Some(part) = parts.next() {
        let is_key = parts.peek().is_some_and(|next| next.trim_start().starts_with(':'));
        if is_key && is_secret(part.trim_end_matches('\\')) {
            return true;
        }
    }
    false
}
