//! The part of a response that the model reads.

use std::str::FromStr;

use serde_json::{Map, Value};

use crate::OpenApiError;

/// A selection from a JSON value: a JSON pointer in which `*` stands for every item, and whose last step can be a list of
/// fields in braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selector {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Each,
    Name(String),
    Fields(Vec<String>),
}

impl FromStr for Selector {
    type Err = OpenApiError;

    fn from_str(text: &str) -> Result<Self, OpenApiError> {
        let wrong = |reason: &str| {
            OpenApiError::configuration(format!("`select`: {text:?} {reason}; write `/items/*/{{id,name}}`"))
        };
        if text.is_empty() {
            return Ok(Self { steps: Vec::new() });
        }
        let rest = text.strip_prefix('/').ok_or_else(|| wrong("does not begin with `/`"))?;
        let mut steps = Vec::new();
        for part in rest.split('/') {
            if matches!(steps.last(), Some(Step::Fields(_))) {
                return Err(wrong("has a step after the list of fields"));
            }
            steps.push(match part.strip_prefix('{') {
                _ if part == "*" => Step::Each,
                Some(fields) => {
                    let fields = fields.strip_suffix('}').ok_or_else(|| wrong("has an open brace"))?;
                    let fields: Vec<String> = fields.split(',').map(|field| unescape(field.trim())).collect();
                    if fields.iter().any(String::is_empty) {
                        return Err(wrong("has an empty field"));
                    }
                    Step::Fields(fields)
                }
                None => Step::Name(unescape(part)),
            });
        }
        Ok(Self { steps })
    }
}

fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

impl Selector {
    /// Returns the selected part, or `None` if the value has none.
    pub(crate) fn select(&self, value: &Value) -> Option<Value> {
        select(&self.steps, value)
    }
}

fn select(steps: &[Step], value: &Value) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else { return Some(value.clone()) };
    match (step, value) {
        (Step::Each, Value::Array(items)) => {
            Some(items.iter().filter_map(|item| select(rest, item)).collect())
        }
        (Step::Each, Value::Object(fields)) => {
            let selected =
                fields.iter().filter_map(|(name, value)| Some((name.clone(), select(rest, value)?)));
            Some(Value::Object(selected.collect()))
        }
        (Step::Name(name), Value::Array(items)) => select(rest, items.get(name.parse::<usize>().ok()?)?),
        (Step::Name(name), Value::Object(fields)) => select(rest, fields.get(name)?),
        (Step::Fields(names), Value::Object(fields)) => {
            let selected = names.iter().filter_map(|name| Some((name.clone(), fields.get(name)?.clone())));
            Some(Value::Object(selected.collect::<Map<_, _>>()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Selector;

    #[test]
    fn a_selector_selects_a_part() {
        let value = json!({"items": [{"id": 1, "name": "a", "x": 0}, {"id": 2}, 3], "a/b": {"~": true}});
        for (selector, expected) in [
            ("", Some(value.clone())),
            ("/items/1/id", Some(json!(2))),
            ("/items/*/id", Some(json!([1, 2]))),
            ("/items/*/{id, name}", Some(json!([{"id": 1, "name": "a"}, {"id": 2}]))),
            ("/a~1b/~0", Some(json!(true))),
            ("/a~1b/*", Some(json!({"~": true}))),
            ("/gone", None),
            ("/items/9", None),
            ("/items/-1", None),
        ] {
            assert_eq!(selector.parse::<Selector>().unwrap().select(&value), expected, "{selector}");
        }
        for wrong in ["items", "/items/{id", "/{id}/name", "/{}", "/{id,}"] {
            assert!(wrong.parse::<Selector>().unwrap_err().is_configuration(), "{wrong}");
        }
    }
}
