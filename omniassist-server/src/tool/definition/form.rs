//! The built-in tool that asks the user to fill in a form.

use omniassist_core::run::Gate;
use omniassist_core::{JsonText, Text};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::schema::{self, ArgumentCheck, SchemaLimits};

/// The default name of the tool.
pub(crate) const REQUEST_INPUT: &str = "request_input";

pub(in crate::tool) const DESCRIPTION: &str = "Asks the user to fill in a form, and gives what was entered. Use it when \
    several details are missing, or when one must be exact. The answer comes later, as this call's output.";

#[derive(Deserialize)]
struct Form {
    message: Text,
    schema: Value,
}

pub(super) fn arguments_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "message": { "type": "string", "description": "What the user is asked, in one sentence." },
            "schema": {
                "type": "object",
                "description": "JSON Schema of the answer: type \"object\", with a property for each field of the \
                    form. Give each a type, a title, and where it helps a description, enum or format.",
                "properties": {
                    "type": { "const": "object" },
                    "properties": { "type": "object" },
                    "required": { "type": "array", "items": { "type": "string" } }
                },
                "required": ["type", "properties"]
            }
        },
        "required": ["message", "schema"]
    })
}

/// Returns the form of a call. Arguments that are not a form have none, as with every other front-end tool.
pub(in crate::tool) fn gate(arguments: &JsonText) -> Gate {
    match arguments.to::<Form>() {
        Ok(form) => Gate::Form { message: Some(form.message), schema: JsonText::from_value(&form.schema) },
        Err(_) => Gate::Open,
    }
}

/// Checks that the model wrote a form that can be shown and checked.
pub(in crate::tool) fn check_arguments(arguments: &JsonText, limits: SchemaLimits) -> Result<(), Text> {
    let form: Form =
        arguments.to().map_err(|error| Text::from(format!("These arguments are not a form: {error}.")))?;
    schema::lint(&form.schema, limits)
        .and_then(|_| ArgumentCheck::new(&form.schema, limits).map(drop))
        .map_err(|reason| Text::from(format!("The form's schema cannot be used: {reason}.")))
}

/// Checks that the answer of the user fits the form.
pub(in crate::tool) fn check_output(
    arguments: &JsonText,
    output: &JsonText,
    limits: SchemaLimits,
) -> Result<(), Text> {
    let Ok(form) = arguments.to::<Form>() else { return Ok(()) };
    let check = ArgumentCheck::new(&form.schema, limits).map_err(Text::from)?;
    let answer = output.to_value();
    check.check_value(&form.schema, &answer).map_err(|text| Text::from(format!("The form's answer: {text}")))
}
