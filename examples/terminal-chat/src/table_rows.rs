//! The rows of a table that the user ticks.

use omniassist_server::core::Text;
use serde_json::{Value, json};

/// The mark of the row at the cursor.
pub(crate) const CURSOR: &str = "▶";

/// The table whose rows the user selects.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TableCursor {
    pub(crate) instance: Text,
    /// The props of the table.
    pub(crate) props: Value,
    pub(crate) row: usize,
}

/// Returns the props with a column for the ticks, if the rows can be ticked.
pub(crate) fn with_ticks(mut props: Value, state: Option<&Value>, cursor: Option<usize>) -> Value {
    if props.get("selectable") != Some(&Value::Bool(true)) {
        return props;
    }
    let ticked = ticked(state);
    if let Some(columns) = props.get_mut("columns").and_then(Value::as_array_mut) {
        columns.insert(0, json!({ "label": "" }));
    }
    let rows = props.get_mut("rows").and_then(Value::as_array_mut);
    for (at, row) in rows.into_iter().flatten().enumerate() {
        let Some(cells) = row.as_array_mut() else { continue };
        let tick = if cells.first().is_some_and(|cell| ticked.contains(&key(cell))) { "[x]" } else { "[ ]" };
        let mark = if cursor == Some(at) { CURSOR } else { "" };
        cells.insert(0, format!("{mark}{tick}").into());
    }
    props
}

/// Returns the state with the tick of a row changed.
pub(crate) fn toggled(props: &Value, state: Option<&Value>, row: usize) -> Option<Value> {
    let name = key(props.get("rows")?.get(row)?.get(0)?);
    let mut ticked = ticked(state);
    match ticked.iter().position(|one| *one == name) {
        Some(at) => drop(ticked.remove(at)),
        None => ticked.push(name),
    }
    let mut state = state.cloned().unwrap_or_else(|| json!({}));
    state.as_object_mut()?.insert("selected".to_owned(), ticked.into());
    Some(state)
}

fn ticked(state: Option<&Value>) -> Vec<String> {
    let selected = state.and_then(|state| state.get("selected")).and_then(Value::as_array);
    selected.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the text by which a row is named: that of its first cell.
fn key(cell: &Value) -> String {
    cell.as_str().map_or_else(|| cell.to_string(), str::to_owned)
}
