use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{columns_of, hanging, heading, inert, joined, one_line, shown};
use super::schema::compact;
use crate::component::{Component, TextArea};

const DESCRIPTION: &str = "Shows items below each other.";

/// Props of `list`: items below each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct List {
    /// The heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub title: Option<String>,
    /// `true` if the items are numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "Numbers the items.")]
    pub ordered: Option<bool>,
    /// The items.
    #[schemars(description = "")]
    pub items: Vec<ListItem>,
}

/// An item of a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct ListItem {
    /// The item.
    #[schemars(description = "")]
    pub text: String,
    /// A second line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub detail: Option<String>,
    /// The address that the item links to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(url, description = "")]
    pub url: Option<String>,
}

/// Returns `list`.
pub fn list() -> Component {
    Component::new::<List>("list", DESCRIPTION).cli(text)
}

/// Returns the items with bullets or numbers.
pub(super) fn text(list: &List, area: &TextArea) -> String {
    let columns = columns_of(area);
    let (items, more) = shown(&list.items);
    let digits = items.len().to_string().len();
    let mut lines = heading(list.title.as_deref(), columns);
    for (number, item) in (1..).zip(items) {
        let first = match list.ordered {
            Some(true) => format!("{number:>digits$}. "),
            _ => "• ".to_owned(),
        };
        let rest = " ".repeat(first.chars().count());
        let text = match &item.url {
            Some(url) => format!("{} <{}>", one_line(&item.text), one_line(url)),
            None => inert(&item.text),
        };
        lines.extend(hanging(&first, &rest, &text, columns));
        if let Some(detail) = &item.detail {
            lines.extend(hanging(&rest, &rest, detail, columns));
        }
    }
    lines.extend(more);
    joined(&lines, area)
}
