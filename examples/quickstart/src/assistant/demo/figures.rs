use std::sync::Arc;

use omniassist_axum::core::{Text, ToolSpec, TranscriptItem};
use serde_json::{Value, json};

/// The tools that show figures. No question leads to them.
pub(super) const SHOWS: [&str; 2] = ["ui_table", "ui_chart"];

/// Returns calls that show the sales by region, if the last result has them.
pub(super) fn shown(turn: &[TranscriptItem], tools: &[Arc<ToolSpec>]) -> Vec<(Text, Value)> {
    let Some([TranscriptItem::Call(call), TranscriptItem::Result(result)]) = turn.last_chunk() else {
        return Vec::new();
    };
    let Value::Array(sales) = result.output.to_value() else { return Vec::new() };
    if call.name != *"sales_by_region" || result.is_error {
        return Vec::new();
    }
    let column = |name: &str| sales.iter().map(|one| one[name].clone()).collect::<Vec<_>>();
    let (regions, euros) = (column("region"), column("euros"));
    let rows: Vec<Value> = regions
        .iter()
        .zip(column("orders"))
        .zip(&euros)
        .map(|((region, orders), euros)| json!([region, orders, euros]))
        .collect();
    let number = |label: &str| json!({"label": label, "kind": "number"});
    let columns = [json!({"label": "Region"}), number("Orders"), number("Sales in euros")];
    let title = "Sales by region";
    let table = json!({"title": title, "columns": columns, "rows": rows, "selectable": true});
    let series = [json!({"name": "Sales", "values": euros})];
    let chart = json!({"title": title, "kind": "bar", "labels": regions, "series": series, "unit": "€"});
    let calls = SHOWS.into_iter().zip([table, chart]);
    let offered = calls.filter(|(name, _)| tools.iter().any(|tool| tool.name == **name));
    offered.map(|(name, props)| (name.into(), props)).collect()
}
