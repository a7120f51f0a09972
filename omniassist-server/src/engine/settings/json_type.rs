//! Rust types of the JSON texts that models write and read.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use omniassist_core::{Limits, ModelOptions, Text};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tool::schema::{self, ArgumentCheck};

/// The maximum number of characters of a schema's name.
const MAX_NAME: usize = 64;

/// A Rust type, with the schema that a model gets.
#[derive(Clone)]
pub(in crate::engine) struct JsonType {
    name: Text,
    pub(in crate::engine) schema: Value,
    fits: fn(Value) -> Result<(), serde_json::Error>,
}

impl JsonType {
    pub(in crate::engine) fn of<T: DeserializeOwned + JsonSchema>() -> Self {
        let fits = |value| serde_json::from_value::<T>(value).map(drop);
        Self { name: name::<T>(), schema: schema::generate::<T>(), fits }
    }

    /// Checks the schema. `what` names the texts for the model.
    ///
    /// # Errors
    ///
    /// Returns the reason why providers cannot take the schema, which must be of type `object`.
    pub(in crate::engine) fn checked(
        self,
        what: &'static str,
        limits: &Limits,
    ) -> Result<CheckedJsonType, String> {
        let Self { name, schema, fits } = self;
        let named = |reason: String| format!("the schema of `{name}`: {reason}");
        let schema = schema::of_answer(schema, limits.into()).map_err(named)?;
        let check = ArgumentCheck::new(&schema, limits.into()).map_err(named)?;
        Ok(CheckedJsonType { what, name, schema, check, fits })
    }
}

/// A type of texts, with the check of each.
pub(in crate::engine) struct CheckedJsonType {
    what: &'static str,
    name: Text,
    schema: Value,
    check: ArgumentCheck,
    fits: fn(Value) -> Result<(), serde_json::Error>,
}

impl CheckedJsonType {
    /// Returns the settings of a model call that writes such a text.
    pub(in crate::engine) fn with_schema(&self, options: &ModelOptions) -> Arc<ModelOptions> {
        let mut options = options.clone();
        options.response_schema = Some((self.name.clone(), self.schema.clone()));
        Arc::new(options)
    }

    /// Checks a text.
    ///
    /// # Errors
    ///
    /// Returns the fault, for the model.
    pub(in crate::engine) fn check(&self, text: &str) -> Result<(), Mismatch> {
        self.read_with(text, self.fits)
    }

    /// Reads a text as the type.
    ///
    /// # Errors
    ///
    /// Returns the fault, for the model.
    pub(in crate::engine) fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T, Mismatch> {
        self.read_with(text, serde_json::from_value)
    }

    fn read_with<T>(
        &self,
        text: &str,
        read: impl FnOnce(Value) -> Result<T, serde_json::Error>,
    ) -> Result<T, Mismatch> {
        let what = self.what;
        let no_json =
            |error: serde_json::Error| Mismatch(format!("The {what} is not valid JSON: {error}.").into());
        let value: Value = serde_json::from_str(text).map_err(no_json)?;
        if let Some(faults) = self.check.faults(&self.schema, &value) {
            return Err(Mismatch(format!("The {what} does not fit the schema: {faults}.").into()));
        }
        read(value).map_err(|error| Mismatch(format!("The {what} does not fit: {error}.").into()))
    }
}

/// The fault of a text, for the model.
#[derive(Debug)]
pub(in crate::engine) struct Mismatch(Text);

impl Mismatch {
    /// Returns the request for another answer.
    pub(in crate::engine) fn correction(&self) -> Text {
        format!("{self} Answer again, with the corrected JSON object only.").into()
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for Mismatch {}

/// Returns the name of a type as a name of a schema.
fn name<T: JsonSchema>() -> Text {
    let name = T::schema_name();
    let is_allowed = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let name: String = name.chars().filter(is_allowed).take(MAX_NAME).collect();
    if name.is_empty() { Text::from_static("answer") } else { name.into() }
}
