use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{Align, columns_of, cut, joined, one_line, padded, shown, width, wrapped};
use super::schema::compact;
use crate::component::{Component, TextArea};

const DESCRIPTION: &str = "Shows key figures.";

/// Props of `stat`: key figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Stat {
    /// The figures.
    #[schemars(description = "")]
    pub items: Vec<StatItem>,
}

/// A key figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct StatItem {
    /// The name of the figure.
    #[schemars(description = "")]
    pub label: String,
    /// The figure, as it is shown.
    #[schemars(description = "As shown, such as 1,204.")]
    pub value: String,
    /// Its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub unit: Option<String>,
    /// The change since an earlier time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "Such as +4 % since May.")]
    pub change: Option<String>,
    /// The direction of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub trend: Option<Trend>,
}

/// The direction of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub enum Trend {
    /// It increases.
    Up,
    /// It decreases.
    Down,
    /// It stays.
    Flat,
}

impl Trend {
    fn mark(self) -> &'static str {
        match self {
            Self::Up => "▲",
            Self::Down => "▼",
            Self::Flat => "▬",
        }
    }
}

/// Returns `stat`.
pub fn stat() -> Component {
    Component::new::<Stat>("stat", DESCRIPTION).cli(text)
}

/// Returns a line for each figure, or two where the area is narrow.
pub(super) fn text(stat: &Stat, area: &TextArea) -> String {
    let columns = columns_of(area);
    let (items, more) = shown(&stat.items);
    let rows: Vec<[String; 3]> = items.iter().map(parts).collect();
    let widest = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|part| width(part)).max();
    let (label, value) = (widest(0).unwrap_or_default(), widest(1).unwrap_or_default());
    let change = widest(2).unwrap_or_default();
    let fits = label + value + change + 4 <= columns;
    let mut lines = Vec::new();
    for [name, figure, since] in &rows {
        if fits {
            let (name, figure) = (padded(name, label, Align::Left), padded(figure, value, Align::Right));
            lines.push(format!("{name}  {figure}  {since}").trim_end().to_owned());
        } else {
            lines.push(cut(name, columns));
            lines.extend(wrapped(&format!("  {figure}  {since}"), columns));
        }
    }
    lines.extend(more);
    joined(&lines, area)
}

fn parts(item: &StatItem) -> [String; 3] {
    let join = |parts: [Option<&str>; 2]| {
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        one_line(&parts.join(" "))
    };
    let value = join([Some(&item.value), item.unit.as_deref()]);
    [one_line(&item.label), value, join([item.trend.map(Trend::mark), item.change.as_deref()])]
}
