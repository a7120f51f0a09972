//! Posted JSON as a tree.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::raw::{self, Raw};
use crate::{Error, Result};

/// A value as a tree. A key that stands twice in one object is an error: two readers would see two different things.
pub(crate) fn tree(raw: Raw<'_>, key: &str) -> Result<Value> {
    if let Ok(Unique(value)) = serde_json::from_str(raw.get()) {
        return Ok(value);
    }
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    let path = match serde_path_to_error::deserialize::<_, Unique>(&mut deserializer) {
        Ok(Unique(value)) => return Ok(value),
        Err(error) => error.path().to_string(),
    };
    let error = |path| {
        let expected = "JSON with distinct keys, whole characters and at most 127 levels";
        Error::invalid_field(path, expected, "something else")
    };
    Err(if path.is_empty() || path == "." { error(key.to_owned()) } else { error(path).under(key) })
}

struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
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

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Unique(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Unique(value))) = map.next_entry::<String, Unique>()? {
            if object.insert(key, value).is_some() {
                return Err(serde::de::Error::custom("a key stands twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

/// An object as a tree; `None` where it is absent or null.
pub(crate) fn optional_object(raw: Option<Raw<'_>>, key: &str) -> Result<Option<Map<String, Value>>> {
    let Some(raw) = raw::present(raw) else { return Ok(None) };
    match tree(raw, key)? {
        Value::Object(object) => Ok(Some(object)),
        _ => Err(Error::invalid_field(key, "an object", raw::kind(raw))),
    }
}

/// What kind of value this is.
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
