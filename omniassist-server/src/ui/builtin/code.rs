use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{columns_of, cut, cut_inert, inert, joined, shown, width};
use super::schema::compact;
use crate::component::{Component, TextArea};

const DESCRIPTION: &str = "Shows source code or another text with fixed columns.";

/// Props of `code`: a text with fixed columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Code {
    /// The language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "Such as rust.", extend("x-stream" = "atomic"))]
    pub language: Option<String>,
    /// The heading, such as the name of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub title: Option<String>,
    /// The text.
    #[schemars(description = "")]
    pub code: String,
}

/// Returns `code`.
pub fn code() -> Component {
    Component::new::<Code>("code", DESCRIPTION).cli(text)
}

/// Returns the lines between two rules. They are not wrapped, because a line break can change what code does.
pub(super) fn text(code: &Code, area: &TextArea) -> String {
    let columns = columns_of(area);
    let names: Vec<&str> = [&code.title, &code.language].into_iter().flatten().map(String::as_str).collect();
    let name = cut(&names.join(" · "), columns - 4);
    let name = if name.is_empty() { name } else { format!("─ {name} ") };
    let mut lines = vec![format!("{name}{}", "─".repeat(columns - width(&name)))];
    let text = inert(&code.code);
    let all: Vec<&str> = text.lines().collect();
    let (shown, more) = shown(&all);
    lines.extend(shown.iter().map(|line| cut_inert(line, columns)));
    lines.extend(more);
    lines.push("─".repeat(columns));
    joined(&lines, area)
}
