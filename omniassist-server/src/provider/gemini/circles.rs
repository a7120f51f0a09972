//! Circles of references. The API follows one only if a property in it can be left out, or a list in it can be empty.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Makes properties optional until no circle of references is without an end. The schema accepts more then.
pub(super) fn open(schema: &mut Value) {
    let mut circles = Circles::of(schema);
    circles.retain_circles();
    if circles.0.is_empty() {
        return;
    }
    let names: BTreeSet<String> = circles.0.into_keys().collect();
    let Value::Object(root) = schema else { return };
    if names.contains("") {
        loosen(root, &names);
    }
    for (name, schema) in root.get_mut("$defs").and_then(Value::as_object_mut).into_iter().flatten() {
        if let (true, Value::Object(schema)) = (names.contains(name), schema) {
            loosen(schema, &names);
        }
    }
}

/// The definitions, each with those that every value of it holds. The root has an empty name.
struct Circles(BTreeMap<String, BTreeSet<String>>);

impl Circles {
    fn of(schema: &Value) -> Self {
        let named = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
        let named = named.map(|(name, schema)| (name.as_str(), schema)).chain([("", schema)]);
        let edges = named.map(|(name, schema)| {
            let mut targets = BTreeSet::new();
            each_forced(schema, &mut |target| {
                targets.insert(target.to_owned());
            });
            (name.to_owned(), targets)
        });
        Self(edges.collect())
    }

    /// Removes the definitions that are neither in a circle nor between two.
    fn retain_circles(&mut self) {
        loop {
            let count = self.0.len();
            let names: BTreeSet<String> = self.0.keys().cloned().collect();
            self.0.retain(|_, targets| !targets.is_disjoint(&names));
            let targets: BTreeSet<String> = self.0.values().flatten().cloned().collect();
            self.0.retain(|name, _| targets.contains(name));
            if self.0.len() == count {
                return;
            }
        }
    }
}

/// Returns the name of the definition that a schema refers to.
fn reference(schema: &Value) -> Option<&str> {
    match schema.get("$ref")?.as_str()? {
        "#" => Some(""),
        reference => reference.strip_prefix("#/$defs/"),
    }
}

/// Calls `visit` with each definition that no value of the schema can do without.
fn each_forced(schema: &Value, visit: &mut dyn FnMut(&str)) {
    if let Some(name) = reference(schema) {
        return visit(name);
    }
    for name in required(schema) {
        if let Some(property) = schema.get("properties").and_then(|properties| properties.get(name)) {
            each_forced(property, visit);
        }
    }
    // The API looks at each alternative by itself.
    let lists: &[&str] =
        if is_filled(schema) { &["anyOf", "oneOf", "prefixItems"] } else { &["anyOf", "oneOf"] };
    for keyword in lists {
        for schema in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            each_forced(schema, visit);
        }
    }
    if let Some(items) = schema.get("items").filter(|_| is_filled(schema)) {
        each_forced(items, visit);
    }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

fn is_filled(schema: &Value) -> bool {
    schema.get("minItems").and_then(Value::as_f64).is_some_and(|least| least > 0.0)
}

/// Returns `true` if no value of the schema can do without one of these definitions.
fn forces(schema: &Value, names: &BTreeSet<String>) -> bool {
    let mut forces = false;
    each_forced(schema, &mut |name| forces |= names.contains(name));
    forces
}

/// Makes a definition so that a value of it can do without these definitions.
fn loosen(schema: &mut Map<String, Value>, names: &BTreeSet<String>) {
    if let Some(Value::Array(mut required)) = schema.remove("required") {
        let property = |name: &Value| schema.get("properties")?.get(name.as_str()?);
        required.retain(|name| !property(name).is_some_and(|property| forces(property, names)));
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
    }
    let prefix = schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
    if prefix.chain(schema.get("items")).any(|items| forces(items, names)) {
        schema.remove("minItems");
    }
    for keyword in ["anyOf", "oneOf"] {
        for schema in schema.get_mut(keyword).and_then(Value::as_array_mut).into_iter().flatten() {
            let is_circle = reference(schema).is_some_and(|name| names.contains(name));
            match schema {
                // It adds nothing to the alternatives beside it.
                Value::Object(schema) if is_circle => schema.clear(),
                Value::Object(schema) => loosen(schema, names),
                _ => {}
            }
        }
    }
}
