use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{columns_of, hanging, heading, joined, one_line, shown};
use super::schema::compact;
use crate::component::{Component, TextArea};

const DESCRIPTION: &str = "Shows events in their order.";

/// Props of `timeline`: events in their order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Timeline {
    /// The heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub title: Option<String>,
    /// The events.
    #[schemars(description = "")]
    pub events: Vec<TimelineEvent>,
}

/// An event of a timeline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct TimelineEvent {
    /// The time, as it is shown.
    #[schemars(description = "As shown.", extend("x-stream" = "atomic"))]
    pub time: String,
    /// The event.
    #[schemars(description = "")]
    pub title: String,
    /// A paragraph about the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub detail: Option<String>,
}

/// Returns `timeline`.
pub fn timeline() -> Component {
    Component::new::<Timeline>("timeline", DESCRIPTION).cli(text)
}

/// Returns the events along a line.
pub(super) fn text(timeline: &Timeline, area: &TextArea) -> String {
    let columns = columns_of(area);
    let (events, more) = shown(&timeline.events);
    let mut lines = heading(timeline.title.as_deref(), columns);
    for (at, event) in events.iter().enumerate() {
        let rest = if at + 1 < events.len() { "│ " } else { "  " };
        let title = format!("{}  {}", one_line(&event.time), one_line(&event.title));
        lines.extend(hanging("● ", rest, title.trim(), columns));
        if let Some(detail) = &event.detail {
            lines.extend(hanging(rest, rest, detail, columns));
        }
    }
    lines.extend(more);
    joined(&lines, area)
}
