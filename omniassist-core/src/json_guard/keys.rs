use std::borrow::Cow;
use std::fmt::Write;

use super::after_string;
use crate::{Error, Result};

/// Up to this number, keys are compared each with each, since sorting costs more.
const FEW: usize = 8;

/// Characters of a key that an error repeats.
const SHOWN: usize = 64;

/// Checks that arrays and objects are nested at most `max_depth` deep, as [`check_depth`](super::check_depth) does, and
/// that no object has a key twice, however it is spelled: `"a"` and `"\u0061"` are one key. Takes any bytes; of bytes that
/// are not JSON it may refuse what a parser would refuse anyway.
///
/// # Errors
///
/// Returns an error with the limit `max_json_depth`, or with the path of the key that stands twice.
pub fn check(bytes: &[u8], max_depth: usize) -> Result<()> {
    let mut open: Vec<Open> = Vec::new();
    let mut keys: Vec<&[u8]> = Vec::new();
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'"' => {
                let after = after_string(tail).unwrap_or_default();
                if let Some(object) = open.last_mut().filter(|open| open.awaits_key) {
                    object.awaits_key = false;
                    let length = tail.len().saturating_sub(after.len() + 1);
                    keys.push(tail.get(..length).unwrap_or_default());
                }
                rest = after;
            }
            b'[' | b'{' => {
                if open.len() >= max_depth {
                    return Err(Error::limit_exceeded("max_json_depth", max_depth, None));
                }
                let is_object = byte == b'{';
                open.push(Open { is_object, awaits_key: is_object, first_key: keys.len(), index: 0 });
            }
            b',' => {
                if let Some(open) = open.last_mut() {
                    open.awaits_key = open.is_object;
                    open.index += 1;
                }
            }
            b']' | b'}' => {
                let Some(closed) = open.pop() else { continue };
                let own = keys.get_mut(closed.first_key..).unwrap_or_default();
                if let Some(twice) = twice(own) {
                    let twice = shown(twice);
                    keys.truncate(closed.first_key);
                    let error = Error::invalid_field(twice, "a key once", "the key twice");
                    let path = path(&open, &keys);
                    return Err(if path.is_empty() { error } else { error.under(&path) });
                }
                keys.truncate(closed.first_key);
            }
            _ => {}
        }
    }
    Ok(())
}

/// An array or an object that has not ended.
struct Open {
    is_object: bool,
    awaits_key: bool,
    /// The index of its first key.
    first_key: usize,
    /// The number of values before the one that is being read.
    index: usize,
}

/// Returns a key that stands twice. Reorders the keys.
fn twice<'a>(keys: &mut [&'a [u8]]) -> Option<&'a [u8]> {
    if keys.iter().any(|key| key.contains(&b'\\')) {
        return spelled_twice(keys);
    }
    if keys.len() <= FEW {
        let mut rest = &*keys;
        while let Some((key, others)) = rest.split_first() {
            if others.contains(key) {
                return Some(key);
            }
            rest = others;
        }
        return None;
    }
    keys.sort_unstable();
    keys.windows(2).find_map(|pair| match pair {
        [a, b] if a == b => Some(*a),
        _ => None,
    })
}

/// Likewise for keys with escapes.
fn spelled_twice<'a>(keys: &[&'a [u8]]) -> Option<&'a [u8]> {
    let mut spelled: Vec<(Cow<'_, [u8]>, &'a [u8])> = keys.iter().map(|key| (plain(key), *key)).collect();
    spelled.sort_unstable();
    spelled.windows(2).find_map(|pair| match pair {
        [a, b] if a.0 == b.0 => Some(a.1),
        _ => None,
    })
}

/// Returns a key without escapes. Half a surrogate pair becomes the three bytes that it would have in UTF-8.
fn plain(key: &[u8]) -> Cow<'_, [u8]> {
    if !key.contains(&b'\\') {
        return Cow::Borrowed(key);
    }
    let mut out = Vec::with_capacity(key.len());
    let mut rest = key;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some((&escape, tail)) = rest.split_first() else { break };
        rest = tail;
        match escape {
            b'b' => out.push(0x08),
            b'f' => out.push(0x0c),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let (unit, tail) = unit(rest).unwrap_or((0, rest));
                rest = tail;
                let pair = match rest {
                    [b'\\', b'u', low @ ..] if is_high(unit) => unit_pair(unit, low),
                    _ => None,
                };
                if let Some((character, tail)) = pair {
                    rest = tail;
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                } else {
                    push_unit(unit, &mut out);
                }
            }
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// The four digits of an escape.
fn unit(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(4)?;
    let digits = str::from_utf8(digits).ok()?;
    Some((u16::from_str_radix(digits, 16).ok()?, rest))
}

fn is_high(unit: u16) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

fn unit_pair(high: u16, bytes: &[u8]) -> Option<(char, &[u8])> {
    let (low, rest) = unit(bytes)?;
    let character = char::decode_utf16([high, low]).next()?.ok()?;
    Some((character, rest))
}

fn push_unit(unit: u16, out: &mut Vec<u8>) {
    match char::from_u32(u32::from(unit)) {
        Some(character) => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        None => {
            let [high, low] = unit.to_be_bytes();
            let middle = 0x80 | ((high & 0x0f) << 2) | (low >> 6);
            out.extend_from_slice(&[0xe0 | (high >> 4), middle, 0x80 | (low & 0x3f)]);
        }
    }
}

/// A key as an error shows it.
fn shown(key: &[u8]) -> String {
    let key = plain(key);
    let key = String::from_utf8_lossy(&key);
    match key.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", key.get(..end).unwrap_or_default()),
        None => key.into_owned(),
    }
}

/// Returns the path of the value that is being read.
fn path(open: &[Open], keys: &[&[u8]]) -> String {
    let mut path = String::new();
    for (level, at) in open.iter().enumerate() {
        if at.is_object {
            let end = open.get(level + 1).map_or(keys.len(), |inner| inner.first_key);
            let key = keys.get(at.first_key..end).and_then(<[_]>::last);
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&key.map(|key| shown(key)).unwrap_or_default());
        } else {
            // Writing to a string cannot fail.
            let _ = write!(path, "[{}]", at.index);
        }
    }
    path
}
