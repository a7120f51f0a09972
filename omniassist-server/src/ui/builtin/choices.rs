use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{columns_of, hanging, inert, joined, shown, wrapped};
use super::schema::compact;
use crate::component::{Component, TextArea};

const DESCRIPTION: &str =
    "Lets the user choose between options. The answer comes later, as this call's output.";

/// Props of `choices`: a question that the user answers by choosing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Choices {
    /// The question.
    #[schemars(description = "")]
    pub question: String,
    /// The answers to choose from.
    #[schemars(description = "")]
    pub options: Vec<ChoiceOption>,
    /// `true` if several may be chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "Lets the user choose several.")]
    pub multiple: Option<bool>,
}

/// An answer to choose.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct ChoiceOption {
    /// The id in the output.
    #[schemars(description = "")]
    pub id: String,
    /// The text.
    #[schemars(description = "")]
    pub label: String,
    /// A second line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub detail: Option<String>,
}

/// Output of `choices`: what the user chose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Chosen {
    /// The ids of the options.
    #[schemars(description = "")]
    pub chosen: Vec<String>,
}

/// Returns `choices`, which waits for the user. Its output is [`Chosen`].
pub fn choices() -> Component {
    Component::awaiting::<Choices, Chosen>("choices", DESCRIPTION).cli(text)
}

/// Returns the question and its numbered answers.
fn text(choices: &Choices, area: &TextArea) -> String {
    let columns = columns_of(area);
    let (options, more) = shown(&choices.options);
    let digits = options.len().to_string().len();
    let mut lines = wrapped(&choices.question, columns);
    for (number, option) in (1..).zip(options) {
        let first = format!("{number:>digits$}. ");
        let rest = " ".repeat(first.chars().count());
        lines.extend(hanging(&first, &rest, &inert(&option.label), columns));
        if let Some(detail) = &option.detail {
            lines.extend(hanging(&rest, &rest, detail, columns));
        }
    }
    lines.extend(more);
    joined(&lines, area)
}
