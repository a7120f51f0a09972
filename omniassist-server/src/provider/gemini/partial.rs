//! Arguments in pieces, each with the JSONPath of its value.

use std::collections::HashSet;

use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::wire::PartialArg;
use crate::{Error, ProviderErrorKind, Result};

/// The largest number of steps of a path: more than any schema has, and few enough to drop the value on a small stack.
const MAX_DEPTH: usize = 64;

/// The arguments of one call while they arrive.
#[derive(Debug)]
pub(super) struct PartialArgs {
    root: Value,
    bytes: usize,
    /// The paths whose value has further pieces.
    open: HashSet<String>,
    /// `true` if a piece had no valid place.
    broken: bool,
}

impl PartialArgs {
    pub(super) fn new() -> Self {
        Self { root: Value::Object(Map::new()), bytes: 0, open: HashSet::new(), broken: false }
    }

    /// Takes a piece. A piece without a valid path is recorded as a fault, after which the call cannot become complete.
    pub(super) fn add(&mut self, piece: PartialArg<'_>, max_bytes: usize) -> Result<()> {
        let path = piece.json_path.as_str();
        let text = piece.string_value.as_ref().map(|text| text.as_str());
        self.grow(path.len() + text.map_or(1, str::len), max_bytes)?;
        let Some(slot) = slot(&mut self.root, path) else {
            self.broken = true;
            return Ok(());
        };
        match (slot, text) {
            (Value::String(value), Some(text)) => value.push_str(text),
            (slot @ (Value::Null | Value::Bool(_) | Value::Number(_)), Some(text)) => {
                *slot = Value::String(text.to_owned());
            }
            (Value::Object(_) | Value::Array(_), _) => self.broken = true,
            // JSON cannot express a number that is not finite.
            (_, None) if piece.number_value.as_ref().is_some_and(|number| !number.is_number()) => {
                self.broken = true;
            }
            (slot, None) => {
                *slot = match (piece.number_value, piece.bool_value) {
                    (Some(Value::Number(number)), _) => Value::Number(whole(number)),
                    (_, Some(flag)) => Value::Bool(flag),
                    (_, None) => Value::Null,
                };
            }
        }
        if piece.will_continue == Some(true) {
            self.open.insert(path.to_owned());
        } else {
            self.open.remove(path);
        }
        Ok(())
    }

    /// Takes complete arguments that arrive beside the pieces.
    pub(super) fn merge(&mut self, args: &RawValue, max_bytes: usize) -> Result<()> {
        self.grow(args.get().len(), max_bytes)?;
        match (&mut self.root, serde_json::from_str(args.get())) {
            (Value::Object(root), Ok(Value::Object(args))) => root.extend(args),
            (_, Ok(Value::Null)) => {}
            _ => self.broken = true,
        }
        Ok(())
    }

    /// Returns the arguments, unless a piece is missing. `ended` is `true` if the API has ended the call.
    pub(super) fn complete(&self, ended: bool) -> bool {
        !self.broken && (ended || self.open.is_empty())
    }

    pub(super) fn to_json(&self) -> String {
        self.root.to_string()
    }

    fn grow(&mut self, bytes: usize, max_bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > max_bytes { Err(Error::provider(ProviderErrorKind::TooLarge)) } else { Ok(()) }
    }
}

/// Numbers arrive as doubles. A whole number is written as the integer that the schema may require.
fn whole(number: Number) -> Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(double) if number.is_f64() && double.fract() == 0.0 && double.abs() <= EXACT => {
            Number::from(double as i64)
        }
        _ => number,
    }
}

/// Returns the value at a path, and creates it if necessary. Returns `None` for a path that names no single place, or
/// that would leave a gap in a list.
fn slot<'v>(root: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    let mut rest = path.strip_prefix('$')?;
    let mut at = root;
    for _ in 0..MAX_DEPTH {
        if rest.is_empty() {
            return Some(at);
        }
        let (step, after) = step(rest)?;
        rest = after;
        at = match step {
            Step::Name(name) => {
                if at.is_null() {
                    *at = Value::Object(Map::new());
                }
                at.as_object_mut()?.entry(name).or_insert(Value::Null)
            }
            Step::Index(index) => {
                if at.is_null() {
                    *at = Value::Array(Vec::new());
                }
                let list = at.as_array_mut()?;
                if index == list.len() {
                    list.push(Value::Null);
                }
                list.get_mut(index)?
            }
        };
    }
    None
}

enum Step {
    Name(String),
    Index(usize),
}

/// Parses `.name`, `['name']`, `["name"]` or `[0]`: the normalized paths of RFC 9535 and their short form.
fn step(path: &str) -> Option<(Step, &str)> {
    if let Some(rest) = path.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        return (!name.is_empty() && name != "*").then(|| (Step::Name(name.to_owned()), rest));
    }
    let inside = path.strip_prefix('[')?;
    let Some(quote) = inside.chars().next().filter(|first| matches!(first, '\'' | '"')) else {
        let (index, rest) = inside.split_once(']')?;
        return Some((Step::Index(index.parse().ok()?), rest));
    };
    let mut name = String::new();
    let mut characters = inside.char_indices().skip(1);
    loop {
        match characters.next()? {
            (at, end) if end == quote => {
                let rest = inside.get(at + 1..)?.strip_prefix(']')?;
                return Some((Step::Name(name), rest));
            }
            (_, '\\') => name.push(match characters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            }),
            (_, plain) => name.push(plain),
        }
    }
}
