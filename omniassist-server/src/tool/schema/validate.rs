//! Checks a value against a JSON Schema (2020-12) in a bounded number of steps.
//!
//! A client or a model may have written the schema. A result is remembered for each pair of a `$ref`'s target and a
//! value, so that a schema which refers to itself twice does not take exponential time, and every step is counted.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::messages::{Step, choices_text, place, show, types_text};
use super::pattern::Patterns;
use super::reference::resolve;
use super::values::{compare, is_of_type, values_in};

/// The number of further steps for each value within the checked one.
const STEPS_A_VALUE: u64 = 8;
/// Steps of a pattern's automaton that count as one.
const STATES_A_STEP: u64 = 16;
/// Steps for a pattern that is compiled during the check.
const STEPS_A_PATTERN: u64 = 2_000;
/// Bytes of a text that count as one step where the text is read.
pub(super) const BYTES_A_STEP: u64 = 256;
/// Schemas within schemas, references included, that are open at the same time.
pub(super) const MAX_NESTING: usize = 256;
const MAX_COMPLAINTS: usize = 3;

/// An error that occurs when a check takes more steps than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooComplex;

pub(super) type Holds = Result<bool, TooComplex>;
pub(super) type Keywords = Map<String, Value>;

/// Returns at most three complaints about a value. The list is empty if the value fits.
pub(super) fn complaints(
    root: &Value,
    patterns: &Patterns,
    value: &Value,
    max_steps: u64,
) -> Result<Vec<String>, TooComplex> {
    let steps = STEPS_A_VALUE.saturating_mul(values_in(value)).saturating_add(max_steps);
    let mut walk = Walk::new(root, patterns, steps);
    if walk.check(root, value)? {
        return Ok(Vec::new());
    }
    // The value does not fit, and a second walk finds the reasons. It finds fewer if the steps are used up.
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

pub(super) struct Walk<'s, 'v> {
    pub(super) root: &'s Value,
    /// The patterns that were compiled before.
    pub(super) patterns: &'s Patterns,
    /// The patterns of a schema that a client declared for one run.
    pub(super) compiled: Patterns,
    pub(super) steps: u64,
    pub(super) nesting: usize,
    /// The names and indices that lead to the value.
    path: Vec<Step<'v>>,
    /// Results by the addresses of a reference's target and a value. A pending result counts as `true`.
    known: HashMap<(usize, usize), bool>,
    /// The pairs whose complaints are being collected.
    explaining: Vec<(usize, usize)>,
    /// The complaints, if they are collected.
    found: Option<Vec<Complaint>>,
}

struct Complaint {
    text: String,
    depth: usize,
    /// The value has another type, or is another constant, than the schema requires.
    is_other_kind: bool,
}

impl<'s, 'v> Walk<'s, 'v> {
    pub(super) fn new(root: &'s Value, patterns: &'s Patterns, steps: u64) -> Self {
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

    pub(super) fn spend(&mut self, steps: u64) -> Result<(), TooComplex> {
        self.steps = self.steps.checked_sub(steps).ok_or(TooComplex)?;
        Ok(())
    }

    pub(super) fn check(&mut self, schema: &'s Value, value: &'v Value) -> Holds {
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

    /// Reports that all alternatives fail, with the requirement of the nearest one: the first that accepts values of this
    /// type. The constants of all alternatives are one requirement.
    fn explain(&mut self, key: &str, alternatives: &'s [Value], value: &'v Value) -> Result<(), TooComplex> {
        if !self.wants_more() {
            return Ok(());
        }
        let choices: Vec<&Value> = alternatives
            .iter()
            .filter_map(Value::as_object)
            .flat_map(|keywords| keywords.get("const").into_iter().chain(list(keywords, "enum")))
            .filter(|choice| std::mem::discriminant(*choice) == std::mem::discriminant(value))
            .collect();
        if !choices.is_empty() {
            self.fail(|| format!("{} is not one of {}", show(value), choices_text(choices)));
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

    pub(super) fn at(&mut self, step: Step<'v>, schema: &'s Value, value: &'v Value) -> Holds {
        self.path.push(step);
        let holds = self.check(schema, value);
        self.path.pop();
        holds
    }

    /// Executes `work` without collecting complaints.
    pub(super) fn silently<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let found = self.found.take();
        let result = work(self);
        self.found = found;
        result
    }

    /// Returns `true` if further complaints are collected.
    pub(super) fn wants_more(&self) -> bool {
        self.found.as_ref().is_some_and(|found| found.len() < MAX_COMPLAINTS)
    }

    pub(super) fn fail(&mut self, text: impl FnOnce() -> String) -> bool {
        self.complain(false, text)
    }

    pub(super) fn fail_kind(&mut self, text: impl FnOnce() -> String) -> bool {
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

    pub(super) fn matches(&mut self, pattern: &str, text: &str) -> Holds {
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

    pub(super) fn equal(&mut self, a: &Value, b: &Value) -> Holds {
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

pub(super) fn list<'s>(keywords: &'s Keywords, key: &str) -> &'s [Value] {
    keywords.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn map<'s>(keywords: &'s Keywords, key: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    keywords.get(key).and_then(Value::as_object).into_iter().flatten()
}
