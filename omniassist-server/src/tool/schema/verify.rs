//! The check of a schema before its first use, including keywords that providers ignore.

use serde_json::{Map, Value};

use super::SchemaLimits;
use super::lint::{at, subschemas};
use super::pattern::Patterns;

/// The total number of states of a schema's patterns. It limits the time of their compilation.
const MAX_STATES: u64 = 100_000;

/// Keywords that restrict the accepted values and that the validator does not support.
const UNSUPPORTED: [&str; 2] = ["unevaluatedItems", "$recursiveRef"];

/// Checks the values of all keywords in a schema, and compiles its patterns. An error names the path and the reason.
pub(super) fn verify(schema: &Value, limits: SchemaLimits) -> Result<Patterns, String> {
    let mut verify = Verify { patterns: Patterns::default(), states: 0, max_depth: limits.max_depth };
    verify.schema(schema, &mut Vec::new())?;
    Ok(verify.patterns)
}

struct Verify {
    patterns: Patterns,
    states: u64,
    max_depth: usize,
}

impl Verify {
    fn schema<'a>(&mut self, schema: &'a Value, path: &mut Vec<&'a str>) -> Result<(), String> {
        let Value::Object(keywords) = schema else { return Ok(()) };
        if path.len() > 3 * self.max_depth {
            return Err(format!("its schema has more than {} levels", self.max_depth));
        }
        self.keywords(keywords).map_err(|reason| at(path, reason))?;
        for (key, value) in keywords {
            path.push(key);
            for (name, schema) in subschemas(key, value) {
                path.extend(name);
                self.schema(schema, path)?;
                path.truncate(path.len() - usize::from(name.is_some()));
            }
            path.pop();
        }
        Ok(())
    }

    fn keywords(&mut self, keywords: &Map<String, Value>) -> Result<(), String> {
        for (key, value) in keywords {
            let wanted = match key.as_str() {
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
                | "minContains" | "maxContains"
                    if !value.as_f64().is_some_and(|number| number >= 0.0) =>
                {
                    "a number from 0"
                }
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" if !value.is_number() => {
                    "a number"
                }
                "multipleOf" if !value.as_f64().is_some_and(|number| number > 0.0) => "a number above 0",
                "uniqueItems" if !value.is_boolean() => "a boolean",
                "dependentRequired" if !value.is_object() => "an object",
                "pattern" => {
                    let Value::String(pattern) = value else {
                        return Err("`pattern` must be a string".to_owned());
                    };
                    self.pattern(pattern)?;
                    continue;
                }
                "patternProperties" => {
                    for pattern in value.as_object().into_iter().flat_map(Map::keys) {
                        self.pattern(pattern)?;
                    }
                    continue;
                }
                key if UNSUPPORTED.contains(&key) => return Err(format!("`{key}` is not supported")),
                _ => continue,
            };
            return Err(format!("`{key}` must be {wanted}"));
        }
        Ok(())
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), String> {
        let is_new = !self.patterns.contains(pattern);
        let states = self.patterns.add(pattern).map_err(|error| {
            format!("the pattern {pattern:?} cannot be used ({error}); look-around and back-references are not supported")
        })?;
        self.states = self.states.saturating_add(if is_new { states } else { 0 });
        if self.states > MAX_STATES { Err("the patterns are too large".to_owned()) } else { Ok(()) }
    }
}
