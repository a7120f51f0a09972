//! A table with lines around its cells.

use super::lines::{Align, hanging, padded, width, wrapped};

/// The widest word that a column must have room for. Without it for each column, the table is written as records.
const MAX_WORD: usize = 16;

/// The cells that a column adds to its text: a border and two spaces.
const FRAME: usize = 3;

/// The number of lines that a cell may have.
const MAX_CELL_LINES: usize = 20;

/// A column with its heading.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heading {
    pub(crate) label: String,
    pub(crate) align: Align,
}

/// Returns the lines of a table of at most `columns`. Headings and cells must be inert.
pub(crate) fn grid(headings: &[Heading], rows: &[Vec<String>], columns: usize) -> Vec<String> {
    let room = columns.checked_sub(headings.len() * FRAME + 1);
    let Some(widths) = room.and_then(|room| widths(headings, rows, room)) else {
        return records(headings, rows, columns);
    };
    let labels: Vec<String> = headings.iter().map(|heading| heading.label.clone()).collect();
    let mut lines = vec![border(&widths, ["┌", "┬", "┐"])];
    lines.extend(row_lines(&labels, headings, &widths));
    lines.push(border(&widths, ["├", "┼", "┤"]));
    for row in rows {
        lines.extend(row_lines(row, headings, &widths));
    }
    lines.push(border(&widths, ["└", "┴", "┘"]));
    lines
}

/// Returns the widths of the columns: the widest word of each, and the rest of `room` for the narrowest that have more
/// text. `None` if the words do not fit.
fn widths(headings: &[Heading], rows: &[Vec<String>], room: usize) -> Option<Vec<usize>> {
    let mut wanted = Vec::new();
    let mut widths = Vec::new();
    for (at, heading) in headings.iter().enumerate() {
        let cells = || rows.iter().filter_map(|row| row.get(at)).chain([&heading.label]);
        let lines = cells().flat_map(|cell| cell.lines().map(width));
        let words = cells().flat_map(|cell| cell.split_whitespace().map(width));
        wanted.push(lines.max().unwrap_or_default().max(1));
        widths.push(words.max().unwrap_or_default().clamp(1, MAX_WORD));
    }
    let mut left = room.checked_sub(widths.iter().sum())?;
    while left > 0 {
        let growing = widths.iter_mut().zip(&wanted).filter(|(width, wanted)| **width < **wanted);
        let Some((narrowest, _)) = growing.min_by_key(|(width, _)| **width) else { break };
        *narrowest += 1;
        left -= 1;
    }
    Some(widths)
}

fn border(widths: &[usize], [left, middle, right]: [&str; 3]) -> String {
    let parts: Vec<String> = widths.iter().map(|width| "─".repeat(width + 2)).collect();
    format!("{left}{}{right}", parts.join(middle))
}

fn row_lines(row: &[String], headings: &[Heading], widths: &[usize]) -> Vec<String> {
    let cells: Vec<Vec<String>> = widths
        .iter()
        .enumerate()
        .map(|(at, width)| {
            let mut lines = wrapped(row.get(at).map_or("", String::as_str), *width);
            if lines.len() > MAX_CELL_LINES {
                lines.truncate(MAX_CELL_LINES - 1);
                lines.push("…".to_owned());
            }
            lines
        })
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or_default().max(1);
    let line = |at: usize| {
        let parts = cells.iter().zip(widths).zip(headings).map(|((cell, width), heading)| {
            padded(cell.get(at).map_or("", String::as_str), *width, heading.align)
        });
        format!("│ {} │", parts.collect::<Vec<_>>().join(" │ "))
    };
    (0..height).map(line).collect()
}

/// Returns the rows one below the other, with a line for each cell. A cell without a heading is before the next one.
fn records(headings: &[Heading], rows: &[Vec<String>], columns: usize) -> Vec<String> {
    let mut lines = vec!["─".repeat(columns)];
    for row in rows {
        let mut first = String::new();
        for (at, cell) in row.iter().enumerate() {
            match headings.get(at).map_or("", |heading| heading.label.as_str()) {
                "" => first = format!("{cell} "),
                _ if cell.is_empty() => {}
                label => {
                    lines.extend(hanging(&first, "  ", &format!("{label}: {cell}"), columns));
                    first = "  ".to_owned();
                }
            }
        }
        lines.push("─".repeat(columns));
    }
    lines
}
