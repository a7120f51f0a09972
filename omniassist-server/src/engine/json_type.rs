//! The types of the JSON texts that models write and read.

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
pub(super) struct Form {
    name: Text,
    pub(super) schema: Value,
    fits: fn(Value) -> Result<(), serde_json::Error>,
}

impl Form {
    pub(super) fn of<T: DeserializeOwned + JsonSchema>() -> Self {
        let fits = |value| serde_json::from_value::<T>(value).map(drop);
        Self { name: name::<T>(), schema: schema::generate::<T>(), fits }
    }

    /// Checks the schema. `what` names the texts for the model.
    ///
    /// # Errors
    ///
    /// Returns the reason why providers cannot take the schema, which must be of type `object`.
    pub(super) fn checked(self, what: &'static str, limits: &Limits) -> Result<Shape, String> {
        let Self { name, schema, fits } = self;
        let named = |reason: String| format!("the schema of `{name}`: {reason}");
        let schema = schema::of_answer(schema, limits.into()).map_err(named)?;
        let check = ArgumentCheck::new(&schema, limits.into()).map_err(named)?;
        Ok(Shape { what, name, schema, check, fits })
    }
}

/// A type of texts, with the check of each.
pub(super) struct Shape {
    what: &'static str,
    name: Text,
    schema: Value,
    check: ArgumentCheck,
    fits: fn(Value) -> Result<(), serde_json::Error>,
}

impl Shape {
    /// Returns the settings with which a model writes such a text.
    pub(super) fn asked_for(&self, options: &ModelOptions) -> Arc<ModelOptions> {
        let mut options = options.clone();
        options.response_schema = Some((self.name.clone(), self.schema.clone()));
        Arc::new(options)
    }

    /// Checks a text.
    ///
    /// # Errors
    ///
    /// Returns the fault, for the model.
    pub(super) fn check(&self, text: &str) -> Result<(), Misfit> {
        self.read_with(text, self.fits)
    }

    /// Reads a text as the type of which the form was made.
    ///
    /// # Errors
    ///
    /// Returns the fault, for the model.
    pub(super) fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T, Misfit> {
        self.read_with(text, serde_json::from_value)
    }

    fn read_with<T>(
        &self,
        text: &str,
        read: impl FnOnce(Value) -> Result<T, serde_json::Error>,
    ) -> Result<T, Misfit> {
        let what = self.what;
        let no_json =
            |error: serde_json::Error| Misfit(format!("The {what} is not valid JSON: {error}.").into());
        let value: Value = serde_json::from_str(text).map_err(no_json)?;
        if let Some(faults) = self.check.faults(&self.schema, &value) {
            return Err(Misfit(format!("The {what} does not fit the schema: {faults}.").into()));
        }
        read(value).map_err(|error| Misfit(format!("The {what} does not fit: {error}.").into()))
    }
}

/// The fault of a text, for the model.
#[derive(Debug)]
pub(super) struct Misfit(Text);

impl Misfit {
    /// Returns the request for another answer.
    pub(super) fn correction(&self) -> Text {
        format!("{self} Answer again, with the corrected JSON object only.").into()
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for Misfit {}

/// Returns the name of a type as a name of a schema.
fn name<T: JsonSchema>() -> Text {
    let name = T::schema_name();
    let is_allowed = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let name: String = name.chars().filter(is_allowed).take(MAX_NAME).collect();
    if name.is_empty() { Text::from_static("answer") } else { name.into() }
}
