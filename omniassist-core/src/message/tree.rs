//! Trees of posted JSON, and the limits of one body.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::raw::Raw;
use crate::{Error, Limits, Result};

/// The memory limit of all trees of one body, and the limit of the parts of its messages.
///
/// A tree takes up to 80 times the size of its text: `{"a":0}` is a map with room for eleven entries. The size of the
/// text is therefore no bound. The memory is estimated from the layout of `serde_json`'s maps and vectors.
pub(crate) struct TreeBudget {
    limit: usize,
    left: Cell<usize>,
    max_parts: usize,
    parts: Cell<usize>,
}

impl TreeBudget {
    pub(crate) fn new(limits: &Limits) -> Self {
        let (limit, max_parts) = (limits.max_json_memory_bytes, limits.max_conversation_parts);
        Self { limit, left: Cell::new(limit), max_parts, parts: Cell::new(0) }
    }

    /// Returns a budget for text that the server trusts.
    pub(crate) fn unlimited() -> Self {
        let limit = usize::MAX;
        Self { limit, left: Cell::new(limit), max_parts: limit, parts: Cell::new(0) }
    }

    /// Counts a part of a message. Returns an error for one more than allowed.
    pub(super) fn count_part(&self) -> Result<()> {
        self.parts.set(self.parts.get() + 1);
        if self.parts.get() <= self.max_parts {
            return Ok(());
        }
        Err(Error::limit_exceeded("max_conversation_parts", self.max_parts, None))
    }

    /// Takes these bytes from the budget. Returns `false` if it is exhausted.
    fn take(&self, bytes: usize) -> bool {
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    fn charge<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        if self.take(bytes) { Ok(()) } else { Err(E::custom(USED_UP)) }
    }
}

const USED_UP: &str = "the budget for trees is used up";

/// A node of a map has room for eleven entries, and is at least half full.
const NODE_BYTES: usize = 11 * (size_of::<String>() + size_of::<Value>()) + 16;
const ENTRY_BYTES: usize = NODE_BYTES / 5;
/// A vector starts with four elements and doubles.
const ELEMENT_BYTES: usize = 2 * size_of::<Value>();
/// The overhead of a string's allocation.
const STRING_BYTES: usize = 16;

/// Parses a value as a tree. A key that occurs twice in one object is an error, because two readers could see different
/// values.
pub(crate) fn tree(raw: Raw<'_>, key: &str, budget: &TreeBudget) -> Result<Value> {
    let before = budget.left.get();
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    if let Ok(value) = Tree(budget).deserialize(&mut deserializer) {
        return Ok(value);
    }
    // The second pass, which tracks the path, has the same budget.
    budget.left.set(before);
    let mut track = serde_path_to_error::Track::new();
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    let found =
        Tree(budget).deserialize(serde_path_to_error::Deserializer::new(&mut deserializer, &mut track));
    match found {
        Ok(value) => Ok(value),
        Err(_) if budget.left.get() == 0 => {
            Err(Error::limit_exceeded("max_json_memory_bytes", budget.limit, key.to_owned()))
        }
        Err(_) => {
            let expected = "JSON with distinct keys, whole characters and at most 127 levels";
            let error = |path| Error::invalid_field(path, expected, "something else");
            let path = track.path().to_string();
            Err(if path.is_empty() || path == "." { error(key.to_owned()) } else { error(path).under(key) })
        }
    }
}

/// Parses a value within a budget.
#[derive(Clone, Copy)]
struct Tree<'a>(&'a TreeBudget);

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.0.charge(STRING_BYTES + value.len())?;
        Ok(Value::from(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            self.0.charge(if items.is_empty() { 4 * size_of::<Value>() } else { ELEMENT_BYTES })?;
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let entry = if object.is_empty() { NODE_BYTES } else { ENTRY_BYTES };
            self.0.charge(entry + STRING_BYTES + key.len())?;
            if object.insert(key, map.next_value_seed(self)?).is_some() {
                return Err(A::Error::custom("a key stands twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

/// Returns the kind of a value for errors.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
