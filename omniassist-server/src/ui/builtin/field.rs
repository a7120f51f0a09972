use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{Align, cut, hanging, padded, shown, width};
use super::schema::compact;

/// A value with its label.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Field {
    /// The label.
    #[schemars(description = "")]
    pub label: String,
    /// The value.
    #[schemars(description = "")]
    pub value: String,
}

/// Returns the fields with their values below each other.
pub(super) fn lines(fields: &[Field], columns: usize) -> Vec<String> {
    let (fields, more) = shown(fields);
    let most = columns / 3;
    let labels: Vec<String> = fields.iter().map(|field| cut(&field.label, most)).collect();
    let widest = labels.iter().map(|label| width(label)).max().unwrap_or_default();
    let blank = " ".repeat(widest + 2);
    let mut lines = Vec::new();
    for (field, label) in fields.iter().zip(labels) {
        let first = padded(&label, widest, Align::Left) + "  ";
        lines.extend(hanging(&first, &blank, &field.value, columns));
    }
    lines.extend(more);
    lines
}
