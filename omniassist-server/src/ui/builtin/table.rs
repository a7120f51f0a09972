use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use std::borrow::Cow;

use super::layout::{Align, Heading, columns_of, grid, heading, inert, joined, one_line, shown};
use super::schema::compact;
use crate::component::{Component, TextArea};

/// The number of columns that is shown.
const MAX_COLUMNS: usize = 100;

const DESCRIPTION: &str =
    "Shows rows of values, which the user can sort and copy, and tick if they are selectable.";

/// Props of `table`: rows of values. The user can sort them, and tick them if they are selectable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Table {
    /// The heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub title: Option<String>,
    /// The columns.
    #[schemars(description = "")]
    pub columns: Vec<Column>,
    /// The rows, each with a cell for every column.
    #[schemars(description = "One cell for each column. The first names the row.")]
    pub rows: Vec<Vec<Cell>>,
    /// `true` if the user can tick rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "Lets the user tick rows.")]
    pub selectable: Option<bool>,
}

/// A column of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Column {
    /// The heading of the column.
    #[schemars(description = "")]
    pub label: String,
    /// The kind of its cells. Default: text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub kind: Option<ColumnKind>,
}

/// The kind of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// Numbers, which are at the right of their cells.
    Number,
    /// Dates.
    Date,
    /// Addresses.
    Link,
}

/// A cell of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// An empty cell.
    #[default]
    Empty,
    /// `true` or `false`.
    Bool(bool),
    /// A number, shown as it was written.
    Number(Number),
    /// A text.
    Text(String),
}

impl JsonSchema for Cell {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Cell".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean", "null"] })
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<f64> for Cell {
    /// A number that JSON does not have, such as infinity, is an empty cell.
    fn from(value: f64) -> Self {
        Number::from_f64(value).map_or(Self::Empty, Self::Number)
    }
}

impl Cell {
    fn text(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Bool(true) => "✓".to_owned(),
            Self::Bool(false) => "✗".to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => inert(text),
        }
    }
}

/// State of `table` that the user changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TableState {
    /// The first cell of each row that is ticked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<Vec<String>>,
    /// The order of the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<Sort>,
}

/// The order of the rows of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sort {
    /// The column, from 0.
    pub column: usize,
    /// `true` if the greatest value comes first.
    pub descending: bool,
}

/// Returns `table`. Its state is a [`TableState`].
pub fn table() -> Component {
    Component::new::<Table>("table", DESCRIPTION).state::<TableState>().cli(text)
}

/// Returns the table with lines around its cells.
pub(super) fn text(table: &Table, area: &TextArea) -> String {
    let columns = columns_of(area);
    let (rows, more) = shown(&table.rows);
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().take(MAX_COLUMNS).map(Cell::text).collect()).collect();
    let widest = rows.iter().map(Vec::len).max().unwrap_or_default().max(table.columns.len());
    let headings: Vec<Heading> = (0..widest.min(MAX_COLUMNS))
        .map(|at| table.columns.get(at).map_or_else(Heading::default, Column::heading))
        .collect();

    let mut lines = heading(table.title.as_deref(), columns);
    if !headings.is_empty() {
        lines.extend(grid(&headings, &rows, columns));
    }
    lines.extend(more);
    joined(&lines, area)
}

impl Column {
    fn heading(&self) -> Heading {
        let align = if self.kind == Some(ColumnKind::Number) { Align::Right } else { Align::Left };
        Heading { label: one_line(&self.label), align }
    }
}
