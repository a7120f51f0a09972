//! The schemas that others refer to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::Detail;
use super::keywords::is_plain;
use crate::document::target;
use crate::{OpenApiError, name};

/// The definitions of one tool's schema, as they are found.
pub(crate) struct Definitions<'a> {
    pub(super) root: &'a Value,
    pub(super) is_3_0: bool,
    pub(super) detail: Detail,
    /// The references from the arguments to the schema that is converted now.
    level: usize,
    /// The pointer of the schema that is converted now.
    place: String,
    /// The names of definitions.
    names: BTreeMap<Key, String>,
    taken: BTreeSet<String>,
    waiting: VecDeque<(Key, usize)>,
    converted: Map<String, Value>,
    /// The names of properties that models cannot write, by the names that they have in the schema.
    renamed: BTreeMap<String, String>,
    faults: Faults,
}

/// The pointer of a definition's schema, and the fields that it requires but that others make read-only.
type Key = (String, BTreeSet<String>);

/// The definitions of a schema, and the names that its properties have in a request.
pub(crate) type Finished = (Map<String, Value>, BTreeMap<String, String>);

#[derive(Default)]
struct Faults {
    dangling: Option<OpenApiError>,
    obstacle: Option<String>,
}

impl<'a> Definitions<'a> {
    pub(crate) fn new(root: &'a Value, is_3_0: bool, detail: Detail, place: &str) -> Self {
        Self {
            root,
            is_3_0,
            detail,
            level: 0,
            place: place.to_owned(),
            names: BTreeMap::new(),
            taken: BTreeSet::new(),
            waiting: VecDeque::new(),
            converted: Map::new(),
            renamed: BTreeMap::new(),
            faults: Faults::default(),
        }
    }

    /// Returns the schema that a chain of references leads to. It ends at one with fields or conditions of its own beside its
    /// reference, which only OpenAPI 3.1 has.
    pub(crate) fn resolved<'s>(&self, schema: &'s Value) -> &'s Value
    where
        'a: 's,
    {
        let mut schema = schema;
        let is_more = |keywords: &Map<String, Value>| {
            !is_plain(keywords, &["$ref"])
                || keywords.contains_key("properties")
                || keywords.contains_key("required")
        };
        for _ in 0..16 {
            if !self.is_3_0 && schema.as_object().is_some_and(is_more) {
                break;
            }
            match schema
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| target(self.root, reference))
            {
                Some((_, next)) => schema = next,
                None => break,
            }
        }
        schema
    }

    /// Returns the reference to a definition in place of a reference of the document. `None` stands for one that is not
    /// followed. The definition does not require the fields that are read-only.
    pub(super) fn refer(&mut self, reference: &str, read_only: &BTreeSet<String>) -> Option<String> {
        let Some((pointer, schema)) = target(self.root, reference) else {
            if reference.starts_with("#/") || reference == "#" {
                let reason = format!("the reference {reference:?} leads nowhere");
                self.faults
                    .dangling
                    .get_or_insert_with(|| OpenApiError::document(self.place.clone(), reason));
            } else {
                self.faults
                    .obstacle
                    .get_or_insert_with(|| format!("it refers to {reference:?}, outside of the document"));
            }
            return None;
        };
        if !schema.is_object() {
            let reason = format!("the reference {reference:?} leads to something that is no schema");
            self.faults.dangling.get_or_insert_with(|| OpenApiError::document(self.place.clone(), reason));
            return None;
        }
        let mut required = self.required(schema, read_only);
        if !required.is_empty() {
            let own = self.read_only(schema);
            required.retain(|name| !own.contains(name));
        }
        let key = (pointer, required);
        if !self.names.contains_key(&key) {
            if self.level >= self.detail.levels {
                return None;
            }
            let name = self.name(&key);
            self.taken.insert(name.clone());
            self.names.insert(key.clone(), name);
            self.waiting.push_back((key.clone(), self.level + 1));
        }
        self.names.get(&key).map(|name| format!("#/$defs/{name}"))
    }

    /// Returns the name of a property that every provider takes.
    pub(super) fn renamed(&mut self, name: &str) -> String {
        let safe = name::safe(name, ".");
        if safe != name {
            self.renamed.insert(safe.clone(), name.to_owned());
        }
        safe
    }

    fn name(&self, (pointer, read_only): &Key) -> String {
        let own = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        let is_component =
            pointer.rsplit_once('/').is_some_and(|(parent, _)| parent == "/components/schemas");
        let names = read_only.iter().map(|name| format!(" {name}"));
        let marked = || name::marked(&own, &format!("{pointer}{}", names.collect::<String>()), ".");
        if !is_component || !read_only.is_empty() {
            return marked();
        }
        let safe = name::safe(&own, ".");
        if self.taken.contains(&safe) { marked() } else { safe }
    }

    /// Converts all schemas that were referred to, and those that they refer to.
    ///
    /// # Errors
    ///
    /// Returns an error for a reference that leads nowhere, and inside the reason why there can be no schema.
    pub(crate) fn finish(mut self) -> Result<Result<Finished, String>, OpenApiError> {
        while let Some((key, level)) = self.waiting.pop_front() {
            let (Some(schema), Some(name)) = (self.root.pointer(&key.0), self.names.get(&key).cloned())
            else {
                continue;
            };
            let (pointer, read_only) = key;
            self.level = level;
            self.place = pointer;
            let converted = self.convert_beside(schema, &read_only);
            self.converted.insert(name, converted);
        }
        match self.faults {
            Faults { dangling: Some(error), .. } => Err(error),
            Faults { obstacle: Some(reason), .. } => Ok(Err(reason)),
            _ => Ok(Ok((self.converted, self.renamed))),
        }
    }
}
