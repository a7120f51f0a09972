//! Checks a value against a JSON Schema (2020-12) in a bounded number of steps.
//!
//! A client or a model may have written the schema. A result is remembered for each pair of a `$ref`'s target and a
//! value, so that a schema which refers to itself twice does not take exponential time, and every step is counted.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Number, Value};

use super::pattern::Patterns;
use super::resolve;

/// Steps that a check may take, beside those for the size of the value.
const BASE_STEPS: u64 = 250_000;
/// Further steps for each value within the checked one.
const STEPS_A_VALUE: u64 = 8;
/// Steps of a pattern's automaton that count as one.
const STATES_A_STEP: u64 = 16;
/// Steps for a pattern that is compiled during the check.
const STEPS_A_PATTERN: u64 = 2_000;
/// Bytes of a text that count as one step where the text is read.
const BYTES_A_STEP: u64 = 256;
/// Schemas within schemas, references included, that are open at the same time.
const MAX_NESTING: usize = 256;
/// Complaints about one value.
const MAX_COMPLAINTS: usize = 3;
/// Bytes of a value that a complaint repeats. The model wrote it, and a longer one takes too much of its context.
const MAX_SHOWN_VALUE: usize = 80;
/// Values of an `enum` that a complaint lists.
const MAX_SHOWN_CHOICES: usize = 20;

/// An error that occurs when a check takes more steps than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooComplex;

type Holds = Result<bool, TooComplex>;
type Keywords = Map<String, Value>;

/// Returns the complaints about a value, at most three. None means that the value fits.
pub(super) fn complaints(
    root: &Value,
    patterns: &Patterns,
    value: &Value,
) -> Result<Vec<String>, TooComplex> {
    let steps = STEPS_A_VALUE.saturating_mul(values_in(value)).saturating_add(BASE_STEPS);
    let mut walk = Walk::new(root, patterns, steps);
    if walk.check(root, value)? {
        return Ok(Vec::new());
    }
    // The value does not fit: a second walk finds the reasons. Without steps left, fewer are given.
    walk.steps = steps;
    walk.found = Some(Vec::new());
    let _ = walk.check(root, value);
    let mut found: Vec<String> = walk.found.into_iter().flatten().map(|complaint| complaint.text).collect();
    found.truncate(MAX_COMPLAINTS);
    if found.is_empty() {
        found.push("at the root: the value does not fit".to_owned());
    }
    Ok(found)
}

struct Walk<'s, 'v> {
    root: &'s Value,
    /// The patterns that were compiled before.
    patterns: &'s Patterns,
    /// The other ones, which a client declared for one run.
    compiled: Patterns,
    steps: u64,
    nesting: usize,
    /// The names and indices that lead to the value.
    path: Vec<Step<'v>>,
    /// Results by the addresses of a reference's target and a value. One that is being found counts as `true`.
    known: HashMap<(usize, usize), bool>,
    /// The pairs whose complaints are being collected.
    explaining: Vec<(usize, usize)>,
    /// The complaints, where they are collected.
    found: Option<Vec<Complaint>>,
}

#[derive(Clone, Copy)]
enum Step<'v> {
    Name(&'v str),
    Index(usize),
}

struct Complaint {
    text: String,
    depth: usize,
    /// The value is of another type than the schema wants, or another constant.
    is_other_kind: bool,
}

impl<'s, 'v> Walk<'s, 'v> {
    fn new(root: &'s Value, patterns: &'s Patterns, steps: u64) -> Self {
        Self {
            root,
            patterns,
            compiled: Patterns::default(),
            steps,
            nesting: 0,
            path: Vec::new(),
            known: HashMap::new(),
            explaining: Vec::new(),
            found: None,
        }
    }

    fn spend(&mut self, steps: u64) -> Result<(), TooComplex> {
        self.steps = self.steps.checked_sub(steps).ok_or(TooComplex)?;
        Ok(())
    }

    fn check(&mut self, schema: &'s Value, value: &'v Value) -> Holds {
        self.spend(1)?;
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return Ok(self.fail(|| format!("{} is not allowed", show(value)))),
            _ => return Ok(true),
        };
        if self.nesting == MAX_NESTING {
            return Err(TooComplex);
        }
        self.nesting += 1;
        let holds = self.keywords(keywords, value);
        self.nesting -= 1;
        holds
    }

    fn keywords(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
        if let Some(types) = keywords.get("type")
            && !is_of_type(types, value)
        {
            return Ok(self.fail_kind(|| format!("{} is not of {}", show(value), types_text(types))));
        }
        let rules = match value {
            Value::Number(_) => Self::number,
            Value::String(_) => Self::string,
            Value::Array(_) => Self::array,
            Value::Object(_) => Self::object,
            _ => |_: &mut Self, _, _| Ok(true),
        };
        let mut holds = true;
        for rules in [Self::constants, rules, Self::reference, Self::combined] {
            holds &= rules(self, keywords, value)?;
            if !holds && !self.wants_more() {
                return Ok(false);
            }
        }
        Ok(holds)
    }

    fn constants(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
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

    fn number(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
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

    fn string(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
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

    fn array(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
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

    fn object(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
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

    /// Collects the names of the properties that these keywords look at, and those that the schemas which are applied
    /// to the same value and hold look at.
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

    fn reference(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
        let Some(Value::String(reference)) = keywords.get("$ref") else { return Ok(true) };
        self.spend(reference.len() as u64 / BYTES_A_STEP)?;
        let Some(target) = resolve(self.root, reference) else { return Ok(true) };
        let pair = (std::ptr::from_ref(target).addr(), std::ptr::from_ref(value).addr());
        let holds = match self.known.get(&pair) {
            Some(holds) => *holds,
            None => {
                self.known.insert(pair, true);
                let holds = self.silently(|this| this.check(target, value))?;
                self.known.insert(pair, holds);
                holds
            }
        };
        if !holds && self.wants_more() && !self.explaining.contains(&pair) {
            self.explaining.push(pair);
            self.check(target, value)?;
            self.explaining.pop();
        }
        Ok(holds)
    }

    fn combined(&mut self, keywords: &'s Keywords, value: &'v Value) -> Holds {
        let mut holds = true;
        for schema in list(keywords, "allOf") {
            holds &= self.check(schema, value)?;
            if !holds && !self.wants_more() {
                return Ok(false);
            }
        }
        for (key, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
            let Some(Value::Array(alternatives)) = keywords.get(key) else { continue };
            let mut fitting = 0_usize;
            for schema in alternatives {
                fitting += usize::from(self.silently(|this| this.check(schema, value))?);
                if fitting > most || fitting == 1 && most > 1 {
                    break;
                }
            }
            if fitting == 0 {
                holds = false;
                self.explain(key, alternatives, value)?;
            } else if fitting > most {
                holds = self.fail(|| format!("{} fits more than one schema of `{key}`", show(value)));
            }
        }
        if let Some(schema) = keywords.get("not")
            && self.silently(|this| this.check(schema, value))?
        {
            holds = self.fail(|| format!("{} is what `not` excludes", show(value)));
        }
        if let Some(condition) = keywords.get("if") {
            let branch = if self.silently(|this| this.check(condition, value))? { "then" } else { "else" };
            if let Some(schema) = keywords.get(branch) {
                holds &= self.check(schema, value)?;
            }
        }
        Ok(holds)
    }

    /// Complains about alternatives that all fail: with what the nearest one wants, which is the first that takes values
    /// of this kind.
    fn explain(&mut self, key: &str, alternatives: &'s [Value], value: &'v Value) -> Result<(), TooComplex> {
        if !self.wants_more() {
            return Ok(());
        }
        for schema in alternatives {
            let outer = self.found.replace(Vec::new());
            let result = self.check(schema, value);
            let inner = std::mem::replace(&mut self.found, outer);
            result?;
            let first = inner.into_iter().flatten().next();
            if let Some(first) = first.filter(|first| first.depth > self.path.len() || !first.is_other_kind) {
                self.found.get_or_insert_default().push(first);
                return Ok(());
            }
        }
        self.fail(|| format!("{} fits no schema of `{key}`", show(value)));
        Ok(())
    }

    fn at(&mut self, step: Step<'v>, schema: &'s Value, value: &'v Value) -> Holds {
        self.path.push(step);
        let holds = self.check(schema, value);
        self.path.pop();
        holds
    }

    /// Does something without collecting complaints.
    fn silently<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let found = self.found.take();
        let result = work(self);
        self.found = found;
        result
    }

    /// Returns `true` if further complaints are collected.
    fn wants_more(&self) -> bool {
        self.found.as_ref().is_some_and(|found| found.len() < MAX_COMPLAINTS)
    }

    fn fail(&mut self, text: impl FnOnce() -> String) -> bool {
        self.complain(false, text)
    }

    fn fail_kind(&mut self, text: impl FnOnce() -> String) -> bool {
        self.complain(true, text)
    }

    /// Adds a complaint about the value at the current path. Returns `false`, the result of the failed rule.
    fn complain(&mut self, is_other_kind: bool, text: impl FnOnce() -> String) -> bool {
        if self.wants_more()
            && let Some(found) = &mut self.found
        {
            let text = format!("at {}: {}", place(&self.path), text());
            found.push(Complaint { text, depth: self.path.len(), is_other_kind });
        }
        false
    }

    fn expected(&mut self, unexpected: &[&str]) -> bool {
        unexpected.is_empty()
            || self.fail(|| {
                let names: Vec<String> = unexpected.iter().map(|name| format!("'{name}'")).collect();
                let verb = if names.len() == 1 { "was" } else { "were" };
                format!("additional properties are not allowed ({} {verb} unexpected)", names.join(", "))
            })
    }

    fn matches(&mut self, pattern: &str, text: &str) -> Holds {
        if !self.patterns.contains(pattern) && !self.compiled.contains(pattern) {
            self.spend(STEPS_A_PATTERN)?;
            // A pattern that cannot be read accepts every text.
            let _ = self.compiled.add(pattern);
        }
        let patterns = if self.patterns.contains(pattern) { self.patterns } else { &self.compiled };
        let steps = patterns.cost(pattern, text) / STATES_A_STEP + 1;
        self.spend(steps)?;
        Ok(self.patterns.matches(pattern, text) && self.compiled.matches(pattern, text))
    }

    fn equal(&mut self, a: &Value, b: &Value) -> Holds {
        self.spend(1)?;
        Ok(match (a, b) {
            (Value::Number(a), Value::Number(b)) => compare(a, b) == Some(Ordering::Equal),
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (a, b) in a.iter().zip(b) {
                    if !self.equal(a, b)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
                for (name, a) in a {
                    let Some(b) = b.get(name) else { return Ok(false) };
                    if !self.equal(a, b)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::String(a), Value::String(b)) => {
                self.spend(a.len().min(b.len()) as u64 / BYTES_A_STEP)?;
                a == b
            }
            (a, b) => a == b,
        })
    }
}

fn list<'s>(keywords: &'s Keywords, key: &str) -> &'s [Value] {
    keywords.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn map<'s>(keywords: &'s Keywords, key: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    keywords.get(key).and_then(Value::as_object).into_iter().flatten()
}

fn is_of_type(types: &Value, value: &Value) -> bool {
    let is = |name: &str| match (name, value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("number", Value::Number(_)) => true,
        ("integer", Value::Number(number)) => {
            number.as_i128().is_some() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => false,
    };
    match types {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

/// Compares integers exactly, and other numbers as doubles.
fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn is_multiple(number: &Number, unit: &Number) -> bool {
    if let (Some(number), Some(unit)) = (number.as_i128(), unit.as_i128()) {
        return number.checked_rem(unit) == Some(0);
    }
    let (Some(number), Some(unit)) = (number.as_f64(), unit.as_f64()) else { return true };
    let quotient = number / unit;
    (quotient - quotient.round()).abs() <= quotient.abs().max(1.0) * 4.0 * f64::EPSILON
}

/// A text that is the same for equal values: `1` and `1.0` are one number.
fn key_of(value: &Value) -> String {
    match value {
        Value::Number(number) if number.as_i128().is_none() => match number.as_f64() {
            Some(number) if number.fract() == 0.0 => format!("{number:.0}"),
            _ => number.to_string(),
        },
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(key_of).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), key_of(value)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}

/// Returns the number of values in this one, itself included.
fn values_in(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(values_in).sum(),
        Value::Object(fields) => fields.values().map(values_in).sum(),
        _ => 0,
    }
}

fn place(path: &[Step<'_>]) -> String {
    if path.is_empty() {
        return "the root".to_owned();
    }
    let mut pointer = "`".to_owned();
    for step in path {
        pointer.push('/');
        match step {
            Step::Name(name) => pointer.push_str(&name.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => pointer.push_str(&index.to_string()),
        }
    }
    pointer.push('`');
    pointer
}

fn show(value: &Value) -> String {
    let text = value.to_string();
    if text.len() > MAX_SHOWN_VALUE { "value".to_owned() } else { text }
}

fn types_text(types: &Value) -> String {
    match types {
        Value::Array(names) if names.len() > 1 => {
            let names: Vec<String> = names.iter().map(Value::to_string).collect();
            format!("types {}", names.join(", "))
        }
        Value::Array(names) => format!("type {}", names.first().unwrap_or(&Value::Null)),
        name => format!("type {name}"),
    }
}

fn choices_text(choices: &[Value]) -> String {
    let shown: Vec<String> = choices.iter().take(MAX_SHOWN_CHOICES).map(show).collect();
    match (choices.len() - shown.len(), shown.as_slice()) {
        (0, [first @ .., last]) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        (0, _) => shown.join(", "),
        (more, _) => format!("{} or {more} others", shown.join(", ")),
    }
}
