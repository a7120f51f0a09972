//! The messages as lines of a screen.

use omniassist_server::component::TextArea;
use omniassist_server::core::Text;
use omniassist_server::core::event::ShownComponent;
use omniassist_server::core::message::{Message, Part, Role, ToolPart, ToolState};
use omniassist_server::ui::builtin::plain_text;
use ratatui::style::{Color, Style};
use ratatui::text::Line;
use serde_json::Value;

use crate::components;
use crate::conversation::{Conversation, instance_of};
use crate::partial_props::completed;
use crate::table_rows::{TableCursor, with_ticks};

/// Returns the lines of the conversation. The call `asked` is shown as a question elsewhere.
pub(crate) fn lines(
    conversation: &Conversation,
    asked: Option<&Text>,
    cursor: Option<&TableCursor>,
    columns: usize,
) -> Vec<Line<'static>> {
    let page = Page { conversation, asked, cursor, area: TextArea::new(columns) };
    let live = conversation.live_message();
    let mut lines = Vec::new();
    for message in conversation.messages().iter().chain(&live) {
        page.message(message, &mut lines);
    }
    if let Some(reason) = conversation.failure() {
        page.text(&format!("✗ {reason}"), Style::new().fg(Color::Red), &mut lines);
    }
    lines
}

struct Page<'a> {
    conversation: &'a Conversation,
    asked: Option<&'a Text>,
    cursor: Option<&'a TableCursor>,
    area: TextArea,
}

impl Page<'_> {
    fn message(&self, message: &Message, lines: &mut Vec<Line<'static>>) {
        if message.role == Role::User {
            self.text(&format!("› {}", message.text()), Style::new().bold().fg(Color::Cyan), lines);
            return;
        }
        for part in &message.parts {
            match part {
                Part::Text(part) => self.text(&part.text, Style::new(), lines),
                Part::Reasoning(part) => self.text(&part.text, Style::new().dim().italic(), lines),
                Part::Tool(call) if self.asked == Some(&call.call_id) => {}
                Part::Tool(call) => match components::name_of(&call.name) {
                    Some(name) => self.component(name, call, lines),
                    None => self.call(call, lines),
                },
                Part::Data(part) if part.name == *"ui" => {
                    let props: Option<ShownComponent> = part.data.to().ok();
                    let text = props.and_then(|shown| {
                        components::text(&shown.component, &shown.props.to_value(), self.area.columns)
                    });
                    shown(&text.unwrap_or_else(|| "❌".to_owned()), lines);
                }
                _ => {}
            }
        }
    }

    /// Adds a text, with an empty line below.
    fn text(&self, text: &str, style: Style, lines: &mut Vec<Line<'static>>) {
        let text = plain_text(text, &self.area);
        if !text.is_empty() {
            lines.extend(text.lines().map(|line| Line::styled(line.to_owned(), style)));
            lines.push(Line::default());
        }
    }

    fn component(&self, name: &str, call: &ToolPart, lines: &mut Vec<Line<'static>>) {
        if let ToolState::OutputError { error_text, .. } = &call.state {
            self.text(&format!("❌ {name}: {error_text}"), Style::new().fg(Color::Red), lines);
            return;
        }
        let text = self.props(name, call).and_then(|props| {
            let instance = instance_of(call).unwrap_or_default();
            let cursor = self.cursor.filter(|cursor| cursor.instance == instance);
            let state = self.conversation.state(&instance);
            let props = with_ticks(props, state.as_ref(), cursor.map(|cursor| cursor.row));
            components::text(name, &props, self.area.columns)
        });
        match text {
            Some(text) => shown(&text, lines),
            None => self.text(&format!("… {name}"), Style::new().dim(), lines),
        }
        if let (ToolState::OutputAvailable { output, .. }, "form" | "choices") = (&call.state, name) {
            self.text(&format!("✓ {}", answer(&output.to_value())), Style::new().fg(Color::Green), lines);
        }
    }

    /// Returns the props of a call, completed while the model writes them.
    fn props(&self, name: &str, call: &ToolPart) -> Option<Value> {
        if let Some(input) = call.state.input() {
            return Some(input.to_value());
        }
        let schema = components::schema(name)?;
        let written = self.conversation.arguments(&call.call_id)?.shown(schema)?;
        completed(written.into_owned(), schema)
    }

    /// Adds a line about the call of a tool that is no component.
    fn call(&self, call: &ToolPart, lines: &mut Vec<Line<'static>>) {
        let (mark, note, colour) = match &call.state {
            ToolState::InputStreaming => ("…", String::new(), Color::Yellow),
            ToolState::InputAvailable { .. } | ToolState::ApprovalResponded { .. } => {
                ("…", " is running".to_owned(), Color::Yellow)
            }
            ToolState::ApprovalRequested { .. } => {
                ("?", " waits for your approval".to_owned(), Color::Yellow)
            }
            ToolState::OutputAvailable { .. } => ("✓", String::new(), Color::Green),
            ToolState::OutputError { error_text, .. } => ("✗", format!(": {error_text}"), Color::Red),
            ToolState::OutputDenied { .. } => ("✗", " was denied".to_owned(), Color::Red),
            _ => return,
        };
        self.text(&format!("{mark} {}{note}", call.name), Style::new().fg(colour), lines);
    }
}

/// Adds the text of a component, with an empty line below.
fn shown(text: &str, lines: &mut Vec<Line<'static>>) {
    lines.extend(text.lines().map(|line| Line::raw(line.to_owned())));
    lines.push(Line::default());
}

/// Returns the answer of the user in words.
fn answer(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(answer).collect::<Vec<_>>().join(", "),
        Value::Object(members) if members.len() == 1 => members.values().map(answer).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{name}: {}", answer(value)));
            members.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
