//! A box with a title around lines.

use super::lines::{Align, cut, padded, width};

/// Returns the lines in a box of `columns`. The lines must be inert, and are cut at `columns - 4`.
pub(crate) fn panel(title: &str, lines: &[String], columns: usize) -> Vec<String> {
    let inner = columns.saturating_sub(4);
    let title = cut(title, inner.saturating_sub(2));
    let top = if title.is_empty() { String::new() } else { format!("─ {title} ") };
    let rest = "─".repeat((inner + 2).saturating_sub(width(&top)));
    let mut panel = vec![format!("┌{top}{rest}┐")];
    panel.extend(lines.iter().map(|line| format!("│ {} │", padded(line, inner, Align::Left))));
    panel.push(format!("└{}┘", "─".repeat(inner + 2)));
    panel
}
