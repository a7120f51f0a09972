//! The part of a response that the model reads.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde_json::Value;
use serde_json::value::RawValue;

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
    /// Returns the selected part of a JSON text, as it is written there, or `None` if the text has none.
    pub(crate) fn select(&self, json: &str) -> Option<String> {
        select(&self.steps, json.trim())
    }
}

fn select(steps: &[Step], json: &str) -> Option<String> {
    let Some((step, rest)) = steps.split_first() else { return Some(json.to_owned()) };
    match (step, json.starts_with('[')) {
        (Step::Each, true) => {
            let selected: Vec<String> =
                items(json)?.iter().filter_map(|item| select(rest, item.get())).collect();
            Some(format!("[{}]", selected.join(",")))
        }
        (Step::Each, false) => {
            let selected = fields(json)?.into_iter();
            Some(object(selected.filter_map(|(name, value)| Some((name, select(rest, value.get())?)))))
        }
        (Step::Name(name), true) => select(rest, items(json)?.get(name.parse::<usize>().ok()?)?.get()),
        (Step::Name(name), false) => select(rest, fields(json)?.get(name)?.get()),
        (Step::Fields(names), _) => {
            let fields = fields(json)?;
            let given = |name: &String| Some((name.clone(), fields.get(name)?.get().to_owned()));
            Some(object(names.iter().filter_map(given)))
        }
    }
}

fn items(json: &str) -> Option<Vec<&RawValue>> {
    serde_json::from_str(json).ok()
}

fn fields(json: &str) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(json).ok()
}

fn object(fields: impl Iterator<Item = (String, String)>) -> String {
    let fields: Vec<String> = fields.map(|(name, value)| format!("{}:{value}", Value::from(name))).collect();
    format!("{{{}}}", fields.join(","))
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
            let selected = selector.parse::<Selector>().unwrap().select(&format!(" {value}\n"));
            let selected = selected.map(|selected| serde_json::from_str(&selected).unwrap());
            assert_eq!(selected, expected, "{selector}");
        }
        for wrong in ["items", "/items/{id", "/{id}/name", "/{}", "/{id,}"] {
            assert!(wrong.parse::<Selector>().unwrap_err().is_configuration(), "{wrong}");
        }
    }
}
