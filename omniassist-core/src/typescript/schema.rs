use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::expression::{Kind, Type};
use super::names::{Names, pascal_case};
use super::write;

/// Schemas nested deeper than this are `unknown`.
const MAX_DEPTH: usize = 64;

/// The number of schemas visited in the search for recursive types of one tool. Types beyond it are `unknown`.
const MAX_SEARCHED: usize = 20_000;

/// Writes one tool's JSON Schema (2020-12 and earlier drafts) as types.
pub(super) struct SchemaWriter<'a> {
    root: &'a Value,
    stem: &'a str,
    names: &'a mut Names,
    /// The type of each referenced schema, by JSON pointer.
    named: BTreeMap<String, String>,
    /// Pointers whose types have a name and no declaration yet.
    waiting: VecDeque<String>,
    /// The number of schemas that the search for recursive types may still visit.
    search: usize,
}

/// The place of a type expression.
#[derive(Clone)]
struct Place {
    /// The level of indentation.
    level: usize,
    depth: usize,
    /// The declaration (by pointer) that the expression is part of. `None` inside an object or array, where a type may
    /// refer to itself because TypeScript resolves the contents later.
    declaring: Option<String>,
}

impl Place {
    fn inside(&self, deeper: usize) -> Self {
        Self { level: self.level + deeper, depth: self.depth + 1, declaring: None }
    }

    fn beside(&self, deeper: usize) -> Self {
        Self { level: self.level + deeper, depth: self.depth + 1, declaring: self.declaring.clone() }
    }
}

impl<'a> SchemaWriter<'a> {
    /// Creates a writer. `input` is the name of the whole schema's type; the types of its definitions begin with
    /// `stem`.
    pub(super) fn new(root: &'a Value, stem: &'a str, input: &str, names: &'a mut Names) -> Self {
        let named = BTreeMap::from([(String::new(), input.to_owned())]);
        Self { root, stem, names, named, waiting: VecDeque::from([String::new()]), search: MAX_SEARCHED }
    }

    /// Declares the schema's type, and those of all definitions that it refers to.
    pub(super) fn declare(mut self, out: &mut String) {
        while let Some(pointer) = self.waiting.pop_front() {
            let (Some(schema), Some(name)) = (self.root.pointer(&pointer), self.named.get(&pointer).cloned())
            else {
                continue;
            };
            if !pointer.is_empty() {
                out.push('\n');
                write::comment(out, 0, description(schema));
            }
            let place = Place { level: 0, depth: 0, declaring: Some(pointer) };
            let declared = self.schema(schema, &place);
            out.push_str(&format!("export type {name} ={};\n", declared.after_sign()));
        }
    }

    fn schema(&mut self, schema: &Value, place: &Place) -> Type {
        let Value::Object(keywords) = schema else {
            return if schema == &Value::Bool(false) { Type::primary("never") } else { Type::unknown() };
        };
        if place.depth > MAX_DEPTH {
            return Type::unknown();
        }
        let mut members = Vec::new();
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            members.push(self.reference(reference, place));
        }
        let alternatives = ["anyOf", "oneOf"].map(|key| list(keywords, key));
        let all = list(keywords, "allOf");
        let is_refined =
            !members.is_empty() || !all.is_empty() || alternatives.iter().any(|of| !of.is_empty());
        members.push(self.own(keywords, is_refined, place));
        for schema in all {
            members.push(self.schema(schema, &place.beside(0)));
        }
        for of in alternatives {
            if !of.is_empty() {
                members.push(self.alternatives(of, place));
            }
        }
        Type::intersection(members)
    }

    fn alternatives(&mut self, of: &[Value], place: &Place) -> Type {
        if of.iter().all(|schema| description(schema).is_empty()) {
            return Type::union(of.iter().map(|schema| self.schema(schema, &place.beside(0))).collect());
        }
        let place = place.beside(1);
        let mut text = String::new();
        for schema in of {
            let member = self.schema(schema, &place);
            if member.is_unknown() {
                return member;
            }
            text.push('\n');
            write::comment(&mut text, place.level, description(schema));
            text.push_str(&format!("{}|{}", write::indent(place.level), member.after_sign()));
        }
        Type { text, kind: Kind::Union }
    }

    /// Returns the type of the keywords other than `$ref` and the combining ones.
    fn own(&mut self, keywords: &Map<String, Value>, is_refined: bool, place: &Place) -> Type {
        if let Some(value) = keywords.get("const") {
            return Type::primary(write::literal(value));
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            return Type::union(values.iter().map(|value| Type::primary(write::literal(value))).collect());
        }
        match keywords.get("type") {
            Some(Value::String(name)) => self.of_type(name, keywords, is_refined, place),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                Type::union(names.map(|name| self.of_type(name, keywords, is_refined, place)).collect())
            }
            _ if ["properties", "required", "additionalProperties", "patternProperties"]
                .iter()
                .any(|key| keywords.contains_key(*key)) =>
            {
                self.object(keywords, is_refined, place)
            }
            _ if keywords.contains_key("items") || keywords.contains_key("prefixItems") => {
                self.array(keywords, place)
            }
            _ => Type::unknown(),
        }
    }

    fn of_type(
        &mut self,
        name: &str,
        keywords: &Map<String, Value>,
        is_refined: bool,
        place: &Place,
    ) -> Type {
        match name {
            "object" => self.object(keywords, is_refined, place),
            "array" => self.array(keywords, place),
            "string" | "boolean" | "null" | "number" => Type::primary(name),
            "integer" => Type::primary("number"),
            _ => Type::unknown(),
        }
    }

    fn object(&mut self, keywords: &Map<String, Value>, is_refined: bool, place: &Place) -> Type {
        let empty = Map::new();
        let properties = keywords.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: BTreeSet<&str> = list(keywords, "required").iter().filter_map(Value::as_str).collect();
        let unnamed = required.iter().filter(|name| !properties.contains_key(**name));
        let fields: Vec<(&str, &Value)> = properties
            .iter()
            .map(|(name, schema)| (name.as_str(), schema))
            .chain(unnamed.map(|name| (*name, &Value::Bool(true))))
            .collect();
        if fields.is_empty() {
            // "An object" adds nothing to a more precise type.
            return if is_refined { Type::unknown() } else { self.map(keywords, place) };
        }
        let inside = place.inside(1);
        let indent = write::indent(inside.level);
        let mut text = "{\n".to_owned();
        for (name, schema) in fields {
            write::comment(&mut text, inside.level, description(schema));
            let sign = if required.contains(name) { ":" } else { "?:" };
            let value = self.schema(schema, &inside).after_sign();
            text.push_str(&format!("{indent}{}{sign}{value};\n", write::property_name(name)));
        }
        // An index signature covers the named properties too, so it cannot be narrower than `unknown`.
        let is_open = keywords.get("additionalProperties").is_some_and(|other| other != &Value::Bool(false));
        if is_open || keywords.contains_key("patternProperties") {
            text.push_str(&format!("{indent}[key: string]: unknown;\n"));
        }
        text.push_str(&format!("{}}}", write::indent(place.level)));
        Type::primary(text)
    }

    /// Returns the type of an object without named properties.
    fn map(&mut self, keywords: &Map<String, Value>, place: &Place) -> Type {
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let mut values: Vec<&Value> = patterns.into_iter().flat_map(Map::values).collect();
        match keywords.get("additionalProperties") {
            Some(Value::Bool(false)) => {}
            Some(other) => values.push(other),
            None => values.push(&Value::Bool(true)),
        }
        let inside = place.inside(0);
        let value = Type::union(values.into_iter().map(|value| self.schema(value, &inside)).collect());
        Type::primary(format!("{{ [key: string]:{} }}", value.after_sign()))
    }

    fn array(&mut self, keywords: &Map<String, Value>, place: &Place) -> Type {
        let inside = place.inside(0);
        // Up to draft 2019-09, `prefixItems` is a list in `items`, and `items` is `additionalItems`.
        let (first, rest) = match keywords.get("items") {
            Some(Value::Array(first)) => (first.as_slice(), keywords.get("additionalItems")),
            rest => (list(keywords, "prefixItems"), rest),
        };
        let count = |key| keywords.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let rest_type = rest.map_or_else(Type::unknown, |rest| self.schema(rest, &inside));
        let rest_text = format!("{}[]", rest_type.within(Kind::Primary));
        if first.is_empty() {
            return Type::primary(rest_text);
        }
        let at_least = count("minItems").unwrap_or(0);
        let at_most = count("maxItems").unwrap_or(usize::MAX);
        let mut items = Vec::new();
        for (index, schema) in first.iter().enumerate().take(at_most) {
            let item = self.schema(schema, &inside).within(Kind::Primary);
            items.push(if index < at_least { item } else { format!("{item}?") });
        }
        if at_most > first.len() && rest != Some(&Value::Bool(false)) {
            items.push(format!("...{rest_text}"));
        }
        Type::primary(format!("[{}]", items.join(", ")))
    }

    fn reference(&mut self, reference: &str, place: &Place) -> Type {
        let Some(pointer) = pointer_of(reference).filter(|pointer| self.root.pointer(pointer).is_some())
        else {
            return Type::unknown();
        };
        if let Some(declaring) = &place.declaring
            && self.leads_to(&pointer, declaring)
        {
            return Type::unknown();
        }
        if let Some(name) = self.named.get(&pointer) {
            return Type::primary(name.clone());
        }
        let last = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/");
        let name = self.names.take(&format!("{}{}", self.stem, pascal_case(&last, "Type")));
        self.named.insert(pointer.clone(), name.clone());
        self.waiting.push_back(pointer);
        Type::primary(name)
    }

    /// Returns `true` if the type at `from` contains the one at `to` without an object or array between, or if the
    /// search limit is reached.
    fn leads_to(&mut self, from: &str, to: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![from.to_owned()];
        while let Some(pointer) = open.pop() {
            if pointer == to || self.search == 0 {
                return true;
            }
            self.search -= 1;
            if let Some(schema) = self.root.pointer(&pointer)
                && seen.insert(pointer)
            {
                let before = open.len();
                direct_references(schema, 0, &mut open);
                self.search = self.search.saturating_sub(open.len() - before);
            }
        }
        false
    }
}

fn direct_references(schema: &Value, depth: usize, out: &mut Vec<String>) {
    let Some(keywords) = schema.as_object().filter(|_| depth <= MAX_DEPTH) else { return };
    out.extend(keywords.get("$ref").and_then(Value::as_str).and_then(pointer_of));
    for key in ["allOf", "anyOf", "oneOf"] {
        for schema in list(keywords, key) {
            direct_references(schema, depth + 1, out);
        }
    }
}

/// Returns the JSON pointer of a reference into the same document, with `%` escapes resolved.
fn pointer_of(reference: &str) -> Option<String> {
    let pointer = reference.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    percent_encoding::percent_decode_str(pointer).decode_utf8().ok().map(Into::into)
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(keywords: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    keywords.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
