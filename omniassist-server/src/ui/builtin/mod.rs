//! The components that come with the crate (feature `components`).
//!
//! Each has a type for its props, which is what a model writes and what a tool can show, and a rendering as text for
//! terminals. The rendering is inert: whatever the props hold, no control character reaches the terminal.

mod card;
mod chart;
mod choices;
mod code;
mod field;
mod form;
mod image;
mod layout;
mod link;
mod list;
mod plot;
mod progress;
mod schema;
mod stack;
mod stat;
mod table;
#[cfg(test)]
mod tests;
mod timeline;

pub use card::{Card, card};
pub use chart::{Chart, ChartKind, Series, chart};
pub use choices::{ChoiceOption, Choices, Chosen, choices};
pub use code::{Code, code};
pub use field::Field;
pub use form::{FieldKind, FieldValue, Form, FormAnswer, FormField, form};
pub use image::{Image, Picture, image};
pub use link::Link;
pub use list::{List, ListItem, list};
pub use progress::{Progress, Step, StepStatus, progress};
pub use stack::{Child, ChildComponent, Direction, Stack, stack};
pub use stat::{Stat, StatItem, Trend, stat};
pub use table::{Cell, Column, ColumnKind, Sort, Table, TableState, table};
pub use timeline::{Timeline, TimelineEvent, timeline};

use crate::component::{Component, TextArea};

/// Returns all components of this module.
///
/// ```
/// use omniassist_server::Assistant;
/// use omniassist_server::testing::ScriptedProvider;
/// use omniassist_server::ui::builtin;
///
/// let assistant = Assistant::builder(ScriptedProvider::new()).components(builtin::all()).build()?;
/// assert_eq!(assistant.tools().names().len(), 12);
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[must_use]
pub fn all() -> Vec<Component> {
    vec![
        card(),
        stat(),
        table(),
        chart(),
        list(),
        form(),
        choices(),
        image(),
        progress(),
        timeline(),
        code(),
        stack(),
    ]
}

/// Returns a text of a model as it may be written to a terminal, in lines of at most the width of the area. It has no
/// control characters and no escape sequences.
#[must_use]
pub fn plain_text(text: &str, area: &TextArea) -> String {
    layout::wrapped(text, area.columns.max(2)).join("\n")
}
