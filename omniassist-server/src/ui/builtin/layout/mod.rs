//! The layout of components as text.

mod grid;
mod inert;
mod lines;
mod panel;

pub(super) use grid::{Heading, grid};
pub(super) use inert::{inert, one_line};
pub(super) use lines::{Align, MAX_ITEMS, cut, cut_inert, hanging, padded, shown, width, wrapped};
pub(super) use panel::panel;

use crate::component::TextArea;

/// The narrowest layout. A line of a narrower area is cut.
const MIN_COLUMNS: usize = 16;

/// Returns the width for which a component is laid out.
pub(super) fn columns_of(area: &TextArea) -> usize {
    area.columns.max(MIN_COLUMNS)
}

/// Joins the lines of a component, each cut to the width of the area.
pub(super) fn joined(lines: &[String], area: &TextArea) -> String {
    let lines: Vec<String> = lines.iter().map(|line| cut_inert(line, area.columns)).collect();
    lines.join("\n")
}

/// Returns the lines of an optional heading.
pub(super) fn heading(title: Option<&str>, columns: usize) -> Vec<String> {
    title.filter(|title| !title.trim().is_empty()).map_or_else(Vec::new, |title| wrapped(title, columns))
}
