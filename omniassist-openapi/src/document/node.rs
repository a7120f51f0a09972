//! Places in a document.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::OpenApiError;

/// The maximum number of references that lead from one to the next.
const MAX_HOPS: usize = 16;

/// A value of a document, and its place.
#[derive(Clone)]
pub(super) struct Node<'a> {
    root: &'a Value,
    pub(super) value: &'a Value,
    pub(super) pointer: String,
}

impl<'a> Node<'a> {
    pub(super) fn root(root: &'a Value) -> Self {
        Self { root, value: root, pointer: String::new() }
    }

    pub(super) fn error(&self, reason: impl Into<std::borrow::Cow<'static, str>>) -> OpenApiError {
        OpenApiError::document(self.pointer.clone(), reason)
    }

    fn child(&self, name: &str, value: &'a Value) -> Self {
        let pointer = format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"));
        Self { root: self.root, value, pointer }
    }

    pub(super) fn field(&self, name: &str) -> Option<Self> {
        self.value.get(name).map(|value| self.child(name, value))
    }

    fn object(&self) -> Result<&'a Map<String, Value>, OpenApiError> {
        self.value.as_object().ok_or_else(|| self.error("it must be an object"))
    }

    /// Returns the fields of an object by name.
    pub(super) fn fields(&self) -> Result<Vec<(&'a str, Self)>, OpenApiError> {
        let fields = self.object()?.iter();
        Ok(fields.map(|(name, value)| (name.as_str(), self.child(name, value))).collect())
    }

    /// Returns the items of a list in a field. Without the field there are none.
    pub(super) fn items(&self, name: &str) -> Result<Vec<Self>, OpenApiError> {
        let Some(list) = self.field(name) else { return Ok(Vec::new()) };
        let items = list.value.as_array().ok_or_else(|| list.error("it must be a list"))?.iter();
        Ok(items.enumerate().map(|(index, value)| list.child(&index.to_string(), value)).collect())
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&'a str>, OpenApiError> {
        let Some(field) = self.field(name) else { return Ok(None) };
        field.value.as_str().map(Some).ok_or_else(|| field.error("it must be a string"))
    }

    /// Returns a text that must be there.
    pub(super) fn needed(&self, name: &str) -> Result<&'a str, OpenApiError> {
        self.text(name)?.ok_or_else(|| self.error(format!("it has no `{name}`")))
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, OpenApiError> {
        let Some(field) = self.field(name) else { return Ok(None) };
        field.value.as_bool().map(Some).ok_or_else(|| field.error("it must be `true` or `false`"))
    }

    /// Returns the reference to another document that this object leads to, if there is one.
    pub(super) fn outside(&self) -> Option<&'a str> {
        let mut value = self.value;
        for _ in 0..MAX_HOPS {
            let reference = value.get("$ref")?.as_str()?;
            if !reference.starts_with('#') {
                return Some(reference);
            }
            value = target(self.root, reference)?.1;
        }
        None
    }

    /// Returns the object that this one refers to, or the object itself.
    pub(super) fn resolved(mut self) -> Result<Self, OpenApiError> {
        for _ in 0..MAX_HOPS {
            self.object()?;
            let Some(reference) = self.text("$ref")? else { return Ok(self) };
            let target = target(self.root, reference);
            let (pointer, value) =
                target.ok_or_else(|| self.error(format!("the reference {reference:?} leads nowhere")))?;
            self = Self { root: self.root, value, pointer };
        }
        Err(self.error("its references lead in a circle"))
    }
}

/// Returns the pointer and the value that a reference within a document leads to.
pub(crate) fn target<'a>(root: &'a Value, reference: &str) -> Option<(String, &'a Value)> {
    let pointer = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
    root.pointer(&pointer).map(|value| (pointer.into_owned(), value))
}
