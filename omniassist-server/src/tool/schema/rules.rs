//! The keywords that apply to values of one type: numbers, strings, arrays and objects.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

use serde_json::{Number, Value};

use super::messages::{Step, choices_text, show};
use super::reference::resolve;
use super::validate::{BYTES_A_STEP, Holds, Keywords, MAX_NESTING, TooComplex, Walk, list, map};
use super::values::{compare, is_multiple, key_of, values_in};

impl<'s, 'v> Walk<'s, 'v> {
    pub(super) fn constants(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
        if let Some(constant) = keywords.get("const")
            && !self.equal(constant, value)?
        {
            return Ok(self.fail_kind(|| format!("{} was expected", show(constant))));
        }
        if let Some(Value::Array(choices)) = keywords.get("enum") {
            for choice in choices {
                if self.equal(choice, value)? {
                    return Ok(true);
                }
            }
            return Ok(self.fail(|| format!("{} is not one of {}", show(value), choices_text(choices))));
        }
        Ok(true)
    }

    pub(super) fn number(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
        let Value::Number(number) = value else { return Ok(true) };
        let mut holds = true;
        for (key, allowed, text) in [
            ("minimum", [Ordering::Greater, Ordering::Equal], "less than the minimum of"),
            ("maximum", [Ordering::Less, Ordering::Equal], "greater than the maximum of"),
            ("exclusiveMinimum", [Ordering::Greater; 2], "less than or equal to the minimum of"),
            ("exclusiveMaximum", [Ordering::Less; 2], "greater than or equal to the maximum of"),
        ] {
            if let Some(Value::Number(bound)) = keywords.get(key)
                && !compare(number, bound).is_some_and(|order| allowed.contains(&order))
            {
                holds = self.fail(|| format!("{number} is {text} {bound}"));
            }
        }
        if let Some(Value::Number(unit)) = keywords.get("multipleOf")
            && !is_multiple(number, unit)
        {
            holds = self.fail(|| format!("{number} is not a multiple of {unit}"));
        }
        Ok(holds)
    }

    pub(super) fn string(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
        let Value::String(text) = value else { return Ok(true) };
        let mut holds = true;
        if keywords.contains_key("minLength") || keywords.contains_key("maxLength") {
            self.spend(text.len() as u64 / BYTES_A_STEP)?;
            holds = self.size(keywords, "Length", text.chars().count(), value, |most| {
                if most { ("longer than", "characters") } else { ("shorter than", "characters") }
            });
        }
        if let Some(Value::String(pattern)) = keywords.get("pattern")
            && !self.matches(pattern, text)?
        {
            holds = self.fail(|| format!("{} does not match \"{pattern}\"", show(value)));
        }
        Ok(holds)
    }

    /// Checks a size against the keywords `min` and `max` of this name.
    fn size(
        &mut self,
        keywords: &Keywords,
        name: &str,
        size: usize,
        value: &Value,
        words: impl Fn(bool) -> (&'static str, &'static str),
    ) -> bool {
        let mut holds = true;
        for (key, is_most) in [("min", false), ("max", true)] {
            let Some(bound) = keywords.get(&format!("{key}{name}")).and_then(Value::as_number) else {
                continue;
            };
            let outside = if is_most { Ordering::Greater } else { Ordering::Less };
            if compare(&Number::from(size), bound) == Some(outside) {
                let (verb, unit) = words(is_most);
                holds = self.fail(|| format!("{} is {verb} {bound} {unit}", show(value)));
            }
        }
        holds
    }

    pub(super) fn array(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
        let Value::Array(items) = value else { return Ok(true) };
        let mut holds = self.size(keywords, "Items", items.len(), value, |most| {
            if most { ("a list of more than", "items") } else { ("a list of less than", "items") }
        });
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.spend(values_in(value))?;
            let mut seen = HashSet::new();
            if !items.iter().all(|item| seen.insert(key_of(item))) {
                holds = self.fail(|| format!("{} has equal items", show(value)));
            }
        }
        // Up to draft 2019-09, `prefixItems` is a list in `items`, and `items` is `additionalItems`.
        let (first, rest) = match keywords.get("items") {
            Some(Value::Array(first)) => (first.as_slice(), keywords.get("additionalItems")),
            rest => (list(keywords, "prefixItems"), rest),
        };
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(index).or(rest) {
                holds &= self.at(Step::Index(index), schema, item)?;
                if !holds && !self.wants_more() {
                    return Ok(false);
                }
            }
        }
        if let Some(schema) = keywords.get("contains") {
            let mut count = 0_usize;
            for item in items {
                count += usize::from(self.silently(|this| this.check(schema, item))?);
            }
            let bound = |key, default| keywords.get(key).and_then(Value::as_u64).unwrap_or(default);
            let (least, most) = (bound("minContains", 1), bound("maxContains", u64::MAX));
            if !(least..=most).contains(&(count as u64)) {
                holds = self.fail(|| format!("{} has {count} items that fit `contains`", show(value)));
            }
        }
        Ok(holds)
    }

    pub(super) fn object(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
        let Value::Object(fields) = value else { return Ok(true) };
        let mut holds = self.size(keywords, "Properties", fields.len(), value, |most| {
            if most {
                ("an object of more than", "properties")
            } else {
                ("an object of less than", "properties")
            }
        });
        holds &= self.required(list(keywords, "required"), fields)?;
        for (name, needed) in map(keywords, "dependentRequired") {
            self.spend(1)?;
            if fields.contains_key(name) {
                holds &= self.required(needed.as_array().map_or(&[], Vec::as_slice), fields)?;
            }
        }
        for (name, schema) in map(keywords, "dependentSchemas") {
            if fields.contains_key(name) {
                holds &= self.check(schema, value)?;
            }
        }
        if let Some(schema) = keywords.get("propertyNames") {
            for name in fields.keys() {
                let value = Value::from(name.as_str());
                let mut walk = Walk::new(self.root, self.patterns, self.steps);
                walk.nesting = self.nesting;
                walk.compiled = std::mem::take(&mut self.compiled);
                let allowed = walk.check(schema, &value);
                self.steps = walk.steps;
                self.compiled = walk.compiled;
                if !allowed? {
                    holds = self.fail(|| format!("the property name {} is not allowed", show(&value)));
                }
            }
        }
        if !holds && !self.wants_more() {
            return Ok(false);
        }
        Ok(self.properties(keywords, fields)? & self.unevaluated(keywords, value, fields)? & holds)
    }

    fn required(&mut self, names: &[Value], fields: &Keywords) -> Holds {
        let mut holds = true;
        for name in names.iter().filter_map(Value::as_str) {
            self.spend(1)?;
            if !fields.contains_key(name) {
                holds = self.fail(|| format!("\"{name}\" is a required property"));
            }
        }
        Ok(holds)
    }

    fn properties(&mut self, keywords: &'s Keywords, fields: &'v Keywords) -> Holds {
        let mut holds = true;
        let mut unexpected = Vec::new();
        for (name, value) in fields {
            self.spend(1)?;
            let mut is_named = false;
            if let Some(schema) = keywords.get("properties").and_then(|properties| properties.get(name)) {
                is_named = true;
                holds &= self.at(Step::Name(name), schema, value)?;
            }
            for (pattern, schema) in map(keywords, "patternProperties") {
                if self.matches(pattern, name)? {
                    is_named = true;
                    holds &= self.at(Step::Name(name), schema, value)?;
                }
            }
            match keywords.get("additionalProperties").filter(|_| !is_named) {
                None => {}
                Some(Value::Bool(false)) => unexpected.push(name.as_str()),
                Some(schema) => holds &= self.at(Step::Name(name), schema, value)?,
            }
            if !(holds && unexpected.is_empty() || self.wants_more()) {
                return Ok(false);
            }
        }
        Ok(self.expected(&unexpected) && holds)
    }

    /// Checks the properties that no other keyword has looked at.
    fn unevaluated(&mut self, keywords: &'s Keywords, value: &'v Value, fields: &'v Keywords) -> Holds {
        let Some(schema) = keywords.get("unevaluatedProperties") else { return Ok(true) };
        let mut seen = BTreeSet::new();
        let without = |key: &str| key != "unevaluatedProperties";
        self.silently(|this| this.evaluated(keywords, &without, value, fields, &mut seen))?;
        let mut holds = true;
        let mut unexpected = Vec::new();
        for (name, value) in fields.iter().filter(|(name, _)| !seen.contains(name.as_str())) {
            if schema == &Value::Bool(false) {
                unexpected.push(name.as_str());
            } else {
                holds &= self.at(Step::Name(name), schema, value)?;
            }
        }
        Ok(self.expected(&unexpected) && holds)
    }

    /// Collects the names of the properties that these keywords evaluate, and of those that the valid subschemas for the
    /// same value evaluate.
    fn evaluated(
        &mut self,
        keywords: &'s Keywords,
        counts: &dyn Fn(&str) -> bool,
        value: &'v Value,
        fields: &'v Keywords,
        seen: &mut BTreeSet<&'v str>,
    ) -> Result<(), TooComplex> {
        self.spend(fields.len() as u64 + 1)?;
        if self.nesting == MAX_NESTING {
            return Err(TooComplex);
        }
        self.nesting += 1;
        if keywords.contains_key("additionalProperties")
            || counts("unevaluatedProperties") && keywords.contains_key("unevaluatedProperties")
        {
            seen.extend(fields.keys().map(String::as_str));
        }
        for name in fields.keys() {
            if keywords.get("properties").is_some_and(|properties| properties.get(name).is_some()) {
                seen.insert(name);
            }
            for (pattern, _) in map(keywords, "patternProperties") {
                if self.matches(pattern, name)? {
                    seen.insert(name);
                }
            }
        }
        let mut applied = Vec::new();
        for key in ["allOf", "anyOf", "oneOf"] {
            applied.extend(list(keywords, key));
        }
        let reference = keywords.get("$ref").and_then(Value::as_str);
        applied.extend(reference.and_then(|reference| resolve(self.root, reference)));
        applied.extend(
            map(keywords, "dependentSchemas")
                .filter(|(name, _)| fields.contains_key(*name))
                .map(|(_, schema)| schema),
        );
        if let Some(condition) = keywords.get("if") {
            let branch = if self.check(condition, value)? { "then" } else { "else" };
            applied.push(condition);
            applied.extend(keywords.get(branch));
        }
        for schema in applied {
            if let Value::Object(inner) = schema
                && self.check(schema, value)?
            {
                self.evaluated(inner, &|_| true, value, fields, seen)?;
            }
        }
        self.nesting -= 1;
        Ok(())
    }

    fn expected(&mut self, unexpected: &[&str]) -> bool {
        unexpected.is_empty()
            || self.fail(|| {
                let names: Vec<String> = unexpected.iter().map(|name| format!("'{name}'")).collect();
                let verb = if names.len() == 1 { "was" } else { "were" };
                format!("additional properties are not allowed ({} {verb} unexpected)", names.join(", "))
            })
    }
}
