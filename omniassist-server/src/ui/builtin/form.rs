use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::layout::{columns_of, hanging, heading, joined, one_line, shown};
use super::schema::compact;
use crate::component::{Component, TextArea};

const DESCRIPTION: &str = "Asks the user to fill in a form. The answer comes later, as this call's output.";

/// Props of `form`, which the user fills in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Form {
    /// The heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub title: Option<String>,
    /// The fields.
    #[schemars(description = "")]
    pub fields: Vec<FormField>,
    /// The label of the button.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "Label of the button.")]
    pub submit: Option<String>,
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct FormField {
    /// The key of the value in the answer.
    #[schemars(description = "Key in the answer.")]
    pub name: String,
    /// The label.
    #[schemars(description = "")]
    pub label: String,
    /// The kind of the field.
    #[schemars(description = "")]
    pub kind: FieldKind,
    /// `true` if the field must be filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub required: Option<bool>,
    /// The values of a field of kind `select`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "For select.")]
    pub options: Option<Vec<String>>,
    /// The value that the field has at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "Filled in already.")]
    pub value: Option<String>,
}

/// The kind of a field of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = compact)]
pub enum FieldKind {
    /// One line of text.
    Text,
    /// Several lines of text.
    LongText,
    /// A number.
    Number,
    /// A date, as `2026-11-27`.
    Date,
    /// An e-mail address.
    Email,
    /// One of several values.
    Select,
    /// Yes or no.
    Checkbox,
}

/// Output of `form`: what the user entered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct FormAnswer {
    /// The values, by the names of their fields.
    #[schemars(description = "")]
    pub values: BTreeMap<String, FieldValue>,
}

/// A value that the user entered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FieldValue {
    /// The value of a checkbox.
    Bool(bool),
    /// The value of a field of kind `number`.
    Number(Number),
    /// Every other value.
    Text(String),
}

impl JsonSchema for FieldValue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FieldValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"] })
    }
}

/// Returns `form`, which waits for the user. Its output is a [`FormAnswer`].
pub fn form() -> Component {
    Component::awaiting::<Form, FormAnswer>("form", DESCRIPTION).cli(text)
}

/// Returns the questions of the form.
fn text(form: &Form, area: &TextArea) -> String {
    let columns = columns_of(area);
    let (fields, more) = shown(&form.fields);
    let mut lines = heading(form.title.as_deref(), columns);
    for field in fields {
        let required = if field.required == Some(true) { " *" } else { "" };
        let first = if field.kind == FieldKind::Checkbox {
            format!("[{}] ", if field.value.as_deref() == Some("true") { "x" } else { " " })
        } else {
            "• ".to_owned()
        };
        let mut text = format!("{}{required}", one_line(&field.label));
        if let Some(options) = field.options.as_deref().filter(|options| !options.is_empty()) {
            let (options, more) = shown(options);
            let options: Vec<String> = options.iter().map(|option| one_line(option)).chain(more).collect();
            text = format!("{text} ({})", options.join(" | "));
        }
        if let (Some(value), false) = (&field.value, field.kind == FieldKind::Checkbox) {
            text = format!("{text}: {}", one_line(value));
        }
        lines.extend(hanging(&first, &" ".repeat(first.chars().count()), &text, columns));
    }
    lines.extend(more);
    joined(&lines, area)
}
