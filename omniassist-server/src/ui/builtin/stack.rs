use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::layout::{Align, columns_of, joined, padded, shown, wrapped};
use super::schema::compact;
use crate::component::{Component, TextArea};

/// The number of stacks within each other.
const MAX_DEPTH: usize = 4;

/// The narrowest column of a row. A row with narrower ones is written as a column.
const MIN_COLUMN: usize = 24;

/// The columns between the children of a row.
const GAP: usize = 2;

const DESCRIPTION: &str = "Shows several components beside or below each other.";

/// Props of `stack`: components beside or below each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Stack {
    /// The direction. Default: column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub direction: Option<Direction>,
    /// The components.
    #[schemars(description = "")]
    pub children: Vec<Child>,
}

/// The direction of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub enum Direction {
    /// Beside each other.
    Row,
    /// Below each other.
    Column,
}

/// A component in a stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Child {
    /// The component.
    #[schemars(description = "")]
    pub component: ChildComponent,
    /// Its props.
    #[schemars(description = "Those of the tool ui_<component>.")]
    pub props: Map<String, Value>,
}

/// A component that a stack may contain. Those that wait for the user are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub enum ChildComponent {
    /// [`Card`](super::Card).
    Card,
    /// [`Stat`](super::Stat).
    Stat,
    /// [`Table`](super::Table).
    Table,
    /// [`Chart`](super::Chart).
    Chart,
    /// [`List`](super::List).
    List,
    /// [`Image`](super::Image).
    Image,
    /// [`Progress`](super::Progress).
    Progress,
    /// [`Timeline`](super::Timeline).
    Timeline,
    /// [`Code`](super::Code).
    Code,
    /// [`Stack`].
    Stack,
}

/// Returns `stack`.
pub fn stack() -> Component {
    Component::new::<Stack>("stack", DESCRIPTION).cli(text)
}

/// Returns the children below each other, or beside each other where there is room.
fn text(stack: &Stack, area: &TextArea) -> String {
    within(stack, area, 1)
}

fn within(stack: &Stack, area: &TextArea, depth: usize) -> String {
    let columns = columns_of(area);
    let (children, more) = shown(&stack.children);
    let wide = (columns + GAP).checked_div(children.len()).unwrap_or_default().saturating_sub(GAP);
    let is_row = stack.direction == Some(Direction::Row) && children.len() > 1 && wide >= MIN_COLUMN;
    let one = TextArea::new(if is_row { wide } else { columns });
    let texts: Vec<String> = children.iter().map(|child| child_text(child, &one, depth)).collect();
    let mut lines = if is_row { beside(&texts, wide) } else { below(&texts) };
    lines.extend(more);
    joined(&lines, area)
}

fn below(texts: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    for text in texts {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(text.lines().map(str::to_owned));
    }
    lines
}

fn beside(texts: &[String], columns: usize) -> Vec<String> {
    let texts: Vec<Vec<&str>> = texts.iter().map(|text| text.lines().collect()).collect();
    let height = texts.iter().map(Vec::len).max().unwrap_or_default();
    let line = |at: usize| {
        let parts = texts.iter().map(|lines| padded(lines.get(at).unwrap_or(&""), columns, Align::Left));
        parts.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

fn child_text(one: &Child, area: &TextArea, depth: usize) -> String {
    let text = child(one.component, Value::Object(one.props.clone()), area, depth);
    text.unwrap_or_else(|problem| {
        let name = serde_json::to_value(one.component).unwrap_or_default();
        let name = name.as_str().unwrap_or_default();
        wrapped(&format!("❌ Error rendering {name}: {problem}"), area.columns).join("\n")
    })
}

/// Returns the text of a component, or the reason why its props do not fit.
pub(super) fn child(
    component: ChildComponent,
    props: Value,
    area: &TextArea,
    depth: usize,
) -> Result<String, String> {
    match component {
        ChildComponent::Card => read(props).map(|props| super::card::text(&props, area)),
        ChildComponent::Stat => read(props).map(|props| super::stat::text(&props, area)),
        ChildComponent::Table => read(props).map(|props| super::table::text(&props, area)),
        ChildComponent::Chart => read(props).map(|props| super::chart::text(&props, area)),
        ChildComponent::List => read(props).map(|props| super::list::text(&props, area)),
        ChildComponent::Image => read(props).map(|props| super::image::text(&props, area)),
        ChildComponent::Progress => read(props).map(|props| super::progress::text(&props, area)),
        ChildComponent::Timeline => read(props).map(|props| super::timeline::text(&props, area)),
        ChildComponent::Code => read(props).map(|props| super::code::text(&props, area)),
        ChildComponent::Stack if depth >= MAX_DEPTH => Err(format!("more than {MAX_DEPTH} levels")),
        ChildComponent::Stack => read(props).map(|props| within(&props, area, depth + 1)),
    }
}

/// Reads the props of a child, or returns the reason why they do not fit.
fn read<P: for<'de> Deserialize<'de>>(props: Value) -> Result<P, String> {
    serde_json::from_value(props).map_err(|error| error.to_string())
}
