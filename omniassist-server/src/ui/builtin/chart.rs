use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{Align, MAX_ITEMS, columns_of, cut, heading, joined, one_line, padded, shown, width};
use super::plot::{Plot, bar, number, spark};
use super::schema::compact;
use crate::component::{Component, TextArea};

/// The number of lines of a plot.
const PLOT_HEIGHT: usize = 6;

/// The fills of bars, one for each series.
const FILLS: [char; 4] = ['█', '▓', '▒', '░'];

const DESCRIPTION: &str = "Shows series of numbers as a chart.";

/// Props of `chart`: series of numbers over the same labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Chart {
    /// The heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub title: Option<String>,
    /// The kind of the chart.
    #[schemars(description = "")]
    pub kind: ChartKind,
    /// The labels of the values.
    #[schemars(description = "The x axis, or the slices of a pie.")]
    pub labels: Vec<String>,
    /// The series.
    #[schemars(description = "")]
    pub series: Vec<Series>,
    /// The unit of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub unit: Option<String>,
}

/// The kind of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub enum ChartKind {
    /// A bar for each value.
    Bar,
    /// A line through the values of each series.
    Line,
    /// A line with the area below it.
    Area,
    /// The shares of the values of the first series.
    Pie,
    /// A small line without axes.
    Spark,
}

/// A series of a chart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Series {
    /// The name of the series.
    #[schemars(description = "")]
    pub name: String,
    /// A value for each label. `None` is a gap.
    #[schemars(description = "One for each label, null for a gap.")]
    pub values: Vec<Option<f64>>,
}

/// Returns `chart`.
pub fn chart() -> Component {
    Component::new::<Chart>("chart", DESCRIPTION).cli(text)
}

/// Returns the chart in block characters.
pub(super) fn text(chart: &Chart, area: &TextArea) -> String {
    let columns = columns_of(area);
    let mut title = chart.title.clone().unwrap_or_default();
    if let Some(unit) = chart.unit.as_deref().filter(|unit| !unit.trim().is_empty()) {
        title = format!("{title} ({})", one_line(unit)).trim_start().to_owned();
    }
    let mut lines = heading(Some(&title), columns);
    lines.extend(match chart.kind {
        ChartKind::Bar => bars(chart, columns),
        ChartKind::Line | ChartKind::Area => plots(chart, columns),
        ChartKind::Pie => shares(chart, columns),
        ChartKind::Spark => sparks(chart, columns),
    });
    joined(&lines, area)
}

/// A labelled value of a bar, and its fill.
struct Bar {
    label: String,
    value: Option<f64>,
    text: String,
    fill: char,
}

fn bars(chart: &Chart, columns: usize) -> Vec<String> {
    let (labels, more) = shown(&chart.labels);
    let several = chart.series.len() > 1;
    let mut bars = Vec::new();
    for (at, label) in labels.iter().enumerate() {
        for (series, fill) in chart.series.iter().zip(FILLS.into_iter().cycle()) {
            let is_first = several && bars.len() % chart.series.len() > 0;
            let label = if is_first { String::new() } else { one_line(label) };
            let value = series.values.get(at).copied().flatten();
            bars.push(Bar { label, value, text: value.map_or_else(String::new, number), fill });
            if bars.len() >= MAX_ITEMS {
                break;
            }
        }
    }
    let mut lines = if several { legend(chart, columns) } else { Vec::new() };
    let most = bars.iter().filter_map(|bar| bar.value).map(f64::abs).fold(0.0, f64::max);
    lines.extend(bar_lines(&bars, most, columns));
    lines.extend(more);
    lines
}

fn legend(chart: &Chart, columns: usize) -> Vec<String> {
    let names = chart.series.iter().zip(FILLS.into_iter().cycle());
    let names: Vec<String> =
        names.take(MAX_ITEMS).map(|(series, fill)| format!("{fill} {}", one_line(&series.name))).collect();
    super::layout::wrapped(&names.join("   "), columns)
}

/// Returns a line for each bar. `most` is the value of the longest one.
fn bar_lines(bars: &[Bar], most: f64, columns: usize) -> Vec<String> {
    let widest = bars.iter().map(|bar| width(&bar.label)).max().unwrap_or_default().min(columns / 3);
    let texts = bars.iter().map(|bar| width(&bar.text)).max().unwrap_or_default();
    let room = columns.saturating_sub(widest + texts + 4);
    let line = |one: &Bar| {
        let label = padded(&one.label, widest, Align::Left);
        let share = one.value.map_or(0.0, |value| if most > 0.0 { value.abs() / most } else { 0.0 });
        format!("{label} │{} {}", bar(share, room, one.fill), one.text).trim_end().to_owned()
    };
    bars.iter().map(line).collect()
}

fn shares(chart: &Chart, columns: usize) -> Vec<String> {
    let values: &[Option<f64>] = chart.series.first().map_or(&[], |series| &series.values);
    let share =
        |at: usize| values.get(at).copied().flatten().filter(|value| *value > 0.0).unwrap_or_default();
    let total: f64 = (0..chart.labels.len()).map(share).sum();
    let (labels, more) = shown(&chart.labels);
    let bars: Vec<Bar> = labels
        .iter()
        .enumerate()
        .map(|(at, label)| {
            let part = if total > 0.0 { share(at) / total } else { 0.0 };
            Bar {
                label: one_line(label),
                value: Some(part),
                text: format!("{:>5.1} %", part * 100.0),
                fill: '█',
            }
        })
        .collect();
    let mut lines = bar_lines(&bars, 1.0, columns);
    lines.extend(more);
    lines
}

fn plots(chart: &Chart, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let values = || chart.series.iter().flat_map(|series| series.values.iter().copied().flatten());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return lines;
    }
    // An area begins at zero, or its size would mislead.
    let is_area = chart.kind == ChartKind::Area;
    let (low, high) = if is_area { (low.min(0.0), high.max(0.0)) } else { (low, high) };
    let (low_text, high_text) = (number(low), number(high));
    let axis = width(&low_text).max(width(&high_text));
    let area = Plot { columns: columns.saturating_sub(axis + 2), rows: PLOT_HEIGHT, low, high };
    let mut widest = 0;
    let (series, more) = shown(&chart.series);
    for one in series {
        if chart.series.len() > 1 {
            lines.push(cut(&one.name, columns));
        }
        let rows = if is_area { area.area(&one.values) } else { area.line(&one.values) };
        widest = rows.iter().map(|row| width(row)).fold(widest, usize::max);
        let last = rows.len().saturating_sub(1);
        for (at, row) in rows.iter().enumerate() {
            let text = if at == 0 {
                high_text.as_str()
            } else if at == last {
                low_text.as_str()
            } else {
                ""
            };
            lines.push(format!("{} ┤{row}", padded(text, axis, Align::Right)).trim_end().to_owned());
        }
    }
    lines.push(format!("{} {}", " ".repeat(axis + 1), ends(&chart.labels, widest)));
    lines.extend(more);
    lines
}

/// Returns the first and the last label, at the ends of a line.
fn ends(labels: &[String], columns: usize) -> String {
    let label = |label: Option<&String>| {
        label.map(|label| cut(label, (columns / 2).saturating_sub(1))).unwrap_or_default()
    };
    let (first, last) = (label(labels.first()), label(labels.last()));
    if labels.len() < 2 {
        return first;
    }
    let space = " ".repeat(columns.saturating_sub(width(&first) + width(&last)));
    format!("{first}{space}{last}")
}

fn sparks(chart: &Chart, columns: usize) -> Vec<String> {
    let (series, more) = shown(&chart.series);
    let names: Vec<String> = series.iter().map(|series| cut(&series.name, columns / 3)).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or_default();
    let mut lines: Vec<String> = series
        .iter()
        .zip(&names)
        .map(|(series, name)| {
            let last = series.values.iter().rev().copied().flatten().next().map_or_else(String::new, number);
            let room = columns.saturating_sub(widest + width(&last) + 2);
            let line = spark(&series.values, room);
            format!("{} {line} {last}", padded(name, widest, Align::Left)).trim().to_owned()
        })
        .collect();
    lines.extend(more);
    lines
}
