use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{one_line, wrapped};
use super::schema::compact;

/// A link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Link {
    /// The text.
    #[schemars(description = "")]
    pub label: String,
    /// The address. Only `http`, `https`, `mailto`, `tel` and relative ones become links.
    #[schemars(url, description = "")]
    pub url: String,
}

/// Returns the text of the link, and its address.
pub(super) fn lines(link: &Link, columns: usize) -> Vec<String> {
    wrapped(&format!("{} <{}>", one_line(&link.label), one_line(&link.url)), columns)
}
