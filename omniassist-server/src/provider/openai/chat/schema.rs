//! Tool schemas in the form that a server accepts. A call is validated against the tool's original schema, including
//! the constraints that are removed here.

use std::borrow::Cow;
use std::io;

use serde_json::{Map, Value, json};

use crate::Error;

/// The parts of a schema that a server does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    /// `$ref` is not followed.
    inline: bool,
    /// The schema becomes a grammar, which supports few patterns.
    grammar: bool,
    /// No combination of schemas at the top.
    flat_top: bool,
}

impl Rules {
    pub(super) const NONE: Self = Self { inline: false, grammar: false, flat_top: false };
    pub(super) const INLINE: Self = Self { inline: true, ..Self::NONE };
    pub(super) const GRAMMAR: Self = Self { grammar: true, ..Self::NONE };
    pub(super) const FLAT_TOP: Self = Self { flat_top: true, ..Self::NONE };
    /// For a schema that becomes part of another one, in which its references would be invalid.
    pub(super) const EMBEDDED: Self = Self { inline: true, grammar: true, flat_top: false };
}

/// Keywords with schemas in them. References are followed.
const MAX_DEPTH: usize = 128;

/// Keywords that combine schemas.
const COMBINING: &[&str] = &["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const"];

/// The remaining bytes for the schemas of one request. References can double a schema at each level, so a small schema
/// with its references written out may exceed memory.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
    most: usize,
}

/// An error that occurs when a schema with its references written out exceeds the budget.
#[derive(Debug)]
struct TooLarge;

impl Budget {
    pub(super) fn new(bytes: usize) -> Self {
        Self { left: bytes, most: bytes }
    }

    fn take(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.left = self.left.checked_sub(bytes).ok_or(TooLarge)?;
        Ok(())
    }

    /// Subtracts the length of a value's JSON.
    fn take_value(&mut self, value: &Value) -> Result<(), TooLarge> {
        struct Writer<'a>(&'a mut Budget);
        impl io::Write for Writer<'_> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.take(bytes.len()).map_err(|TooLarge| io::ErrorKind::FileTooLarge)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        serde_json::to_writer(Writer(self), value).map_err(|_| TooLarge)
    }
}

/// Returns the schema of a tool's arguments, or of an answer, with the smallest change that the rules allow. The error
/// contains `name`, the name of the tool or the answer.
///
/// # Errors
///
/// Returns an error if the references must be written out and the result exceeds the budget, or is nested too deeply.
pub(super) fn normalise<'a>(
    name: &str,
    schema: &'a Value,
    rules: Rules,
    budget: &mut Budget,
) -> crate::Result<Cow<'a, Value>> {
    let has_properties = schema.get("properties").is_some_and(Value::is_object);
    if rules == Rules::NONE && has_properties {
        return Ok(Cow::Borrowed(schema));
    }
    let most = budget.most;
    let mut walk = Walk { root: schema, rules, open: Vec::new(), depth: 0, budget };
    let mut schema = walk.schema(schema).map_err(|TooLarge| {
        Error::configuration(format!(
            "the schema {name:?} cannot be sent: this server does not follow `$ref`, and with each reference replaced \
             by its target the request's schemas take more than {most} bytes, or nest more than {MAX_DEPTH} levels"
        ))
    })?;
    if let Value::Object(fields) = &mut schema {
        if rules.flat_top {
            fields.retain(|keyword, _| !COMBINING.contains(&keyword.as_str()));
        }
        // OpenAI, and servers with the same check, refuse an object without properties.
        fields.entry("properties").or_insert_with(|| json!({}));
        fields.entry("type").or_insert_with(|| json!("object"));
    }
    Ok(Cow::Owned(schema))
}

struct Walk<'a, 'b> {
    root: &'a Value,
    rules: Rules,
    open: Vec<&'a str>,
    depth: usize,
    budget: &'b mut Budget,
}

impl<'a> Walk<'a, '_> {
    fn schema(&mut self, schema: &'a Value) -> Result<Value, TooLarge> {
        let Value::Object(fields) = schema else { return self.copy(schema) };
        if self.rules.inline && self.depth >= MAX_DEPTH {
            return Err(TooLarge);
        }
        self.depth += 1;
        let schema = match fields.get("$ref") {
            Some(Value::String(reference)) if self.rules.inline => self.referenced(reference, fields)?,
            _ => Value::Object(self.fields(fields)?),
        };
        self.depth -= 1;
        Ok(schema)
    }

    fn copy(&mut self, value: &Value) -> Result<Value, TooLarge> {
        if self.rules.inline {
            self.budget.take_value(value)?;
        }
        Ok(value.clone())
    }

    /// Subtracts the bytes of an object or a list without those of its values.
    fn frame(&mut self, members: usize) -> Result<(), TooLarge> {
        if self.rules.inline { self.budget.take(1 + members.max(1)) } else { Ok(()) }
    }

    fn fields(&mut self, fields: &'a Map<String, Value>) -> Result<Map<String, Value>, TooLarge> {
        let mut kept = Map::new();
        for (keyword, value) in fields {
            let value = match (keyword.as_str(), value) {
                ("$ref" | "$defs" | "definitions", _) if self.rules.inline => continue,
                ("pattern", Value::String(pattern)) if self.rules.grammar && !is_simple(pattern) => continue,
                ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(named)) => {
                    self.frame(names(named))?;
                    let named = named.iter().map(|(name, schema)| Ok((name.clone(), self.schema(schema)?)));
                    Value::Object(named.collect::<Result<_, _>>()?)
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                    self.frame(schemas.len())?;
                    schemas.iter().map(|schema| self.schema(schema)).collect::<Result<_, _>>()?
                }
                ("items" | "additionalProperties" | "contains" | "not" | "if" | "then" | "else", schema) => {
                    self.schema(schema)?
                }
                (_, value) => self.copy(value)?,
            };
            kept.insert(keyword.clone(), value);
        }
        self.frame(names(&kept))?;
        Ok(kept)
    }

    /// Returns the target of a reference, with the keywords beside the reference. A recursive reference becomes a
    /// schema that allows anything.
    fn referenced(&mut self, reference: &'a str, beside: &'a Map<String, Value>) -> Result<Value, TooLarge> {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let mut schema = match target {
            Some(target) if !self.open.contains(&reference) => {
                self.open.push(reference);
                let schema = self.schema(target)?;
                self.open.pop();
                schema
            }
            _ => json!({}),
        };
        if let (Value::Object(fields), 2..) = (&mut schema, beside.len()) {
            fields.extend(self.fields(beside)?);
        }
        Ok(schema)
    }
}

/// Returns the bytes of the names in an object, with quotes, colons and commas.
fn names(fields: &Map<String, Value>) -> usize {
    fields.keys().map(|name| name.len() + 4).sum()
}

/// Returns `true` if a pattern can become a grammar: it is anchored, and has no Unicode classes and no look-around.
fn is_simple(pattern: &str) -> bool {
    let anchored = pattern.len() > 1 && pattern.starts_with('^') && pattern.ends_with('$');
    let escapes = pattern.as_bytes().windows(2);
    let plain = !escapes.into_iter().any(|pair| matches!(pair, [b'\\', b'a'..=b'z' | b'A'..=b'Z']));
    anchored && plain && !pattern.contains("(?")
}
