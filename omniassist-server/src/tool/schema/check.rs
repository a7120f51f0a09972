use std::fmt::{self, Write};
use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use omniassist_core::{JsonText, Text};
use serde_json::Value;

use crate::tool::output::floor_char_boundary;

/// What one complaint may take of the model's context.
const MAX_TEXT_BYTES: usize = 500;
/// Values longer than this are not repeated to the model, which wrote them.
const MAX_SHOWN_VALUE: usize = 80;
/// Complaints about one call.
const MAX_COMPLAINTS: usize = 3;

/// Checks arguments against a schema, which is compiled once.
pub(crate) struct ArgumentCheck {
    compiled: OnceLock<Result<Validator, String>>,
}

impl ArgumentCheck {
    /// A check that compiles its schema at the first call: most tools that a client declares are never called.
    pub(crate) fn lazy() -> Self {
        Self { compiled: OnceLock::new() }
    }

    /// A check with its schema compiled.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        let validator = compile(schema)?;
        Ok(Self { compiled: OnceLock::from(Ok(validator)) })
    }

    /// Says what does not fit, for the model: where (a JSON pointer) and what is expected there.
    pub(crate) fn check(&self, schema: &Value, arguments: &JsonText) -> Result<(), Text> {
        let arguments: Value = arguments
            .to()
            .map_err(|error| Text::from(format!("The arguments are not valid JSON: {error}.")))?;
        self.check_value(schema, &arguments)
    }

    pub(crate) fn check_value(&self, schema: &Value, arguments: &Value) -> Result<(), Text> {
        let validator = match self.compiled.get_or_init(|| compile(schema)) {
            Ok(validator) => validator,
            Err(reason) => return Err(cap(format!("The tool cannot be called: {reason}."))),
        };
        let mut text = String::new();
        for error in validator.iter_errors(arguments).take(MAX_COMPLAINTS) {
            text.push_str(if text.is_empty() {
                "The arguments do not fit the tool's schema: "
            } else {
                "; "
            });
            describe(&error, &mut text).unwrap_or_default();
        }
        if text.is_empty() { Ok(()) } else { Err(cap(text)) }
    }
}

impl fmt::Debug for ArgumentCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArgumentCheck").field("compiled", &self.compiled.get().is_some()).finish()
    }
}

/// Patterns run on an engine of linear time: a client can declare a pattern, and make the model write its input.
fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .offline()
        .build(schema)
        .map_err(|error| format!("its schema is not valid JSON Schema: {error}"))
}

/// What one error says; of alternatives that all fail, the one that the value comes nearest to.
fn describe(error: &ValidationError<'_>, text: &mut String) -> fmt::Result {
    if let ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } =
        error.kind()
    {
        let nearest = context.iter().filter_map(|errors| errors.first()).find(|inner| {
            // Another place, or another keyword than these: the value is of this alternative's kind.
            inner.instance_path() != error.instance_path()
                || !matches!(
                    inner.kind(),
                    ValidationErrorKind::Type { .. } | ValidationErrorKind::Constant { .. }
                )
        });
        if let Some(nearest) = nearest {
            return describe(nearest, text);
        }
    }
    let place = error.instance_path().as_str();
    if place.is_empty() {
        text.push_str("at the root: ");
    } else {
        write!(text, "at `{place}`: ")?;
    }
    if error.instance().to_string().len() > MAX_SHOWN_VALUE {
        write!(text, "{}", error.masked())
    } else {
        write!(text, "{error}")
    }
}

fn cap(mut text: String) -> Text {
    if text.len() > MAX_TEXT_BYTES {
        text.truncate(floor_char_boundary(&text, MAX_TEXT_BYTES - '…'.len_utf8()));
        text.push('…');
    }
    text.into()
}
