//! The template of `form`: the fields of a form, and its last event.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::generic::{self, is_empty, text};
use super::sort;
use super::write;

const NAMES: [&str; 5] = ["form", "formId", "formName", "id", "name"];
const EVENTS: [&str; 4] = ["event", "action", "status", "state"];

/// The state of a form.
#[derive(Debug)]
pub(super) struct Form<'a> {
    name: Option<&'a str>,
    event: Option<&'a str>,
    fields: Vec<Field<'a>>,
    errors: Vec<&'a Value>,
}

#[derive(Debug)]
struct Field<'a> {
    name: &'a str,
    label: Option<&'a str>,
    value: Cow<'a, Value>,
}

impl<'a> Form<'a> {
    /// Reads the data of a form. Returns `None` if it is not a form.
    pub(super) fn read(data: &'a Value) -> Option<Self> {
        let Value::Object(map) = data else { return None };
        // A `name` next to a value is the name of a field.
        let single = map.contains_key("value");
        let name = NAMES
            .iter()
            .filter(|key| !(single && matches!(**key, "id" | "name")))
            .find_map(|key| name_of(map.get(*key)?));
        let mut fields = Vec::new();
        for key in ["fields", "values", "data"] {
            match map.get(key) {
                Some(Value::Object(values)) => {
                    fields.extend(
                        sort::entries(values)
                            .into_iter()
                            .filter_map(|(name, value)| Field::named(name, value)),
                    );
                }
                Some(Value::Array(items)) => fields.extend(items.iter().filter_map(Field::read)),
                _ => {}
            }
        }
        if single {
            fields.extend(Field::read(data));
        }
        let errors =
            ["errors", "error"].iter().filter_map(|key| map.get(*key)).filter(|errors| !is_empty(errors));
        let form = Self { name, event: event_of(map), fields, errors: errors.collect() };
        let says_something = form.name.is_some() || !form.fields.is_empty() || !form.errors.is_empty();
        says_something.then_some(form)
    }

    pub(super) fn name(&self) -> Option<&'a str> {
        self.name
    }

    /// Applies a later state of the same form: merges its fields, and replaces the event and errors.
    pub(super) fn update(&mut self, later: Self) {
        let places: HashMap<_, _> = keys(&self.fields).into_iter().zip(0..).collect();
        for (key, field) in keys(&later.fields).into_iter().zip(later.fields) {
            match places.get(&key).and_then(|place| self.fields.get_mut(*place)) {
                Some(known) => {
                    known.label = field.label.or(known.label);
                    known.value = field.value;
                }
                None => self.fields.push(field),
            }
        }
        self.event = later.event;
        self.errors = later.errors;
    }

    pub(super) fn write(&self, out: &mut String) {
        out.push_str("Form");
        if let Some(name) = self.name {
            out.push(' ');
            write::name(out, name);
        }
        if let Some(event) = self.event {
            out.push_str(" (");
            write::name(out, event);
            out.push(')');
        }
        if !self.fields.is_empty() {
            out.push_str(": ");
        }
        generic::list(out, &self.fields, |out, field| field.write(out));
        for errors in &self.errors {
            out.push_str("; errors: ");
            write_errors(out, errors);
        }
    }
}

/// Returns the name of each field and how many fields before it have the same name.
fn keys<'a>(fields: &[Field<'a>]) -> Vec<(&'a str, usize)> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut number = |name| {
        let number = seen.entry(name).or_default();
        *number += 1;
        *number
    };
    fields.iter().map(|field| (field.name, number(field.name))).collect()
}

impl<'a> Field<'a> {
    /// Reads a field of a map, whose value can be the description of a field.
    fn named(name: &'a str, value: &'a Value) -> Option<Self> {
        match value {
            Value::Object(map) if map.contains_key("value") || map.contains_key("checked") => {
                let value = value_of(map)?;
                Some(Self { name, label: text(map, &["label"]), value })
            }
            _ => Some(Self { name, label: None, value: Cow::Borrowed(value) }),
        }
    }

    /// Reads a field of a list: an object with name and value, or a pair of them.
    fn read(item: &'a Value) -> Option<Self> {
        match item {
            Value::Object(map) => {
                let label = text(map, &["label"]);
                let name = text(map, &["name", "field", "key", "id"]).or(label)?;
                Some(Self { name, label, value: value_of(map)? })
            }
            Value::Array(pair) => match pair.as_slice() {
                [Value::String(name), value] => Some(Self { name, label: None, value: Cow::Borrowed(value) }),
                _ => None,
            },
            _ => None,
        }
    }

    fn write(&self, out: &mut String) {
        write::name(out, self.name);
        if let Some(label) = self.label.filter(|label| !label.is_empty() && !says_the_same(self.name, label))
        {
            out.push_str(" (");
            write::quoted(out, label);
            out.push(')');
        }
        out.push_str(" = ");
        write::value(out, &self.value);
    }
}

/// Returns the value of a described field. The value of a checkbox is its state. A radio button that is not selected,
/// and a description without a value, have none.
fn value_of(map: &Map<String, Value>) -> Option<Cow<'_, Value>> {
    let kind = text(map, &["type"]).unwrap_or_default();
    match map.get("checked") {
        Some(Value::Bool(false)) if kind.eq_ignore_ascii_case("radio") => None,
        Some(checked @ Value::Bool(_)) if !kind.eq_ignore_ascii_case("radio") => Some(Cow::Borrowed(checked)),
        _ => map.get("value").map(Cow::Borrowed),
    }
}

fn write_errors(out: &mut String, errors: &Value) {
    match errors {
        Value::Object(map) => generic::pairs(out, map),
        Value::Array(items) => generic::list(out, items, write_error),
        _ => write::value(out, errors),
    }
}

fn write_error(out: &mut String, item: &Value) {
    let entry = item.as_object().and_then(|map| {
        let name = text(map, &["field", "name", "path", "key"])?;
        Some((name, map.get("message").or_else(|| map.get("error"))?))
    });
    match entry {
        Some((name, message)) => generic::pair(out, name, message),
        None => write::value(out, item),
    }
}

fn name_of(value: &Value) -> Option<&str> {
    match value {
        Value::String(name) if !name.is_empty() => Some(name),
        Value::Object(map) => text(map, &["id", "name"]).filter(|name| !name.is_empty()),
        _ => None,
    }
}

fn event_of(map: &Map<String, Value>) -> Option<&str> {
    let event = text(map, &EVENTS).filter(|event| !event.is_empty());
    event.or_else(|| (map.get("submitted") == Some(&Value::Bool(true))).then_some("submitted"))
}

fn says_the_same(name: &str, label: &str) -> bool {
    let letters = |text: &'_ str| -> Vec<char> {
        text.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    letters(name) == letters(label)
}
