use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{columns_of, hanging, heading, joined, shown};
use super::plot::bar;
use super::schema::compact;
use crate::component::{Component, TextArea};

/// The widest bar.
const MAX_BAR: usize = 50;

const DESCRIPTION: &str = "Shows how far some work is, as a share or as steps.";

/// Props of `progress`: the state of some work, as a share or as steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Progress {
    /// The heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub title: Option<String>,
    /// The share that is done, from 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "", range(min = 0, max = 100))]
    pub percent: Option<f64>,
    /// The steps of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub steps: Option<Vec<Step>>,
}

/// A step of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Step {
    /// The name of the step.
    #[schemars(description = "")]
    pub label: String,
    /// The state of the step.
    #[schemars(description = "")]
    pub status: StepStatus,
}

/// The state of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// In progress.
    Active,
    /// Complete.
    Done,
    /// Ended by an error.
    Failed,
}

impl StepStatus {
    fn mark(self) -> &'static str {
        match self {
            Self::Pending => "○ ",
            Self::Active => "◐ ",
            Self::Done => "✓ ",
            Self::Failed => "✗ ",
        }
    }
}

/// Returns `progress`.
pub fn progress() -> Component {
    Component::new::<Progress>("progress", DESCRIPTION).cli(text)
}

/// Returns a bar, and a line for each step.
pub(super) fn text(progress: &Progress, area: &TextArea) -> String {
    let columns = columns_of(area);
    let mut lines = heading(progress.title.as_deref(), columns);
    if let Some(percent) = progress.percent {
        let percent = percent.clamp(0.0, 100.0);
        let room = columns.saturating_sub(7).min(MAX_BAR);
        let full = bar(percent / 100.0, room, '█');
        let empty = "░".repeat(room.saturating_sub(full.chars().count()));
        lines.push(format!("{full}{empty} {percent:>3.0} %"));
    }
    let (steps, more) = shown(progress.steps.as_deref().unwrap_or_default());
    lines.extend(steps.iter().flat_map(|step| hanging(step.status.mark(), "  ", &step.label, columns)));
    lines.extend(more);
    joined(&lines, area)
}
