//! The screen and the keyboard.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use omniassist_server::core::Text;
use omniassist_server::core::message::Message;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph};
use ratatui_textarea::{TextArea as Editor, WrapMode};
use serde_json::Value;

use crate::conversation::{Conversation, instance_of};
use crate::question::{Answer, Question};
use crate::table_rows::{CURSOR, TableCursor, toggled};
use crate::transcript;

/// The most lines of the message that the user writes.
const MAX_DRAFT: u16 = 5;

/// The chat on the screen.
#[derive(Debug)]
pub struct Chat {
    conversation: Conversation,
    draft: Editor<'static>,
    question: Option<(Text, Question)>,
    /// The call whose question the user left open.
    left: Option<Text>,
    table: Option<TableCursor>,
    /// The first line that is shown. `None`: the last line is shown.
    top: Option<usize>,
    /// The lines above the shown ones, and their number, when the screen was drawn.
    drawn: (usize, usize),
    is_over: bool,
}

impl Chat {
    /// Creates a screen for a conversation.
    #[must_use]
    pub fn new(conversation: Conversation) -> Self {
        Self {
            conversation,
            draft: empty_draft(),
            question: None,
            left: None,
            table: None,
            top: None,
            drawn: (0, 0),
            is_over: false,
        }
    }

    /// Returns `true` if the user quits.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns `true` while an answer is being written.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.conversation.is_running()
    }

    /// Waits until the answer has changed. Never returns without an answer.
    pub async fn advance(&mut self) {
        self.conversation.advance().await;
        self.ask();
    }

    /// Shows the question of the first call that waits for the user.
    fn ask(&mut self) {
        let open = self.conversation.open_call();
        let open = open.filter(|call| self.left.as_ref() != Some(&call.call_id));
        let is_shown = |call_id: &Text| self.question.as_ref().is_some_and(|(shown, _)| shown == call_id);
        match open {
            Some(call) if is_shown(&call.call_id) => {}
            Some(call) => self.question = Question::of(call).map(|question| (call.call_id.clone(), question)),
            None => self.question = None,
        }
    }

    /// Applies an event of the terminal.
    pub fn on_event(&mut self, event: &Event) {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.on_key(*key),
            Event::Paste(text) => match &mut self.question {
                Some((_, question)) => question.on_paste(text),
                None => drop(self.draft.insert_str(text)),
            },
            _ => {}
        }
    }

    fn on_key(&mut self, key: KeyEvent) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_control && self.is_running() => self.conversation.stop(),
            KeyCode::Char('c') if is_control => self.is_over = true,
            KeyCode::PageUp => self.scroll(|top, page| top.saturating_sub(page)),
            KeyCode::PageDown => self.scroll(|top, page| top + page),
            KeyCode::Esc if self.question.is_some() => {
                self.left = self.question.take().map(|(call_id, _)| call_id);
            }
            KeyCode::Esc => self.table = None,
            _ if self.question.is_some() => self.on_key_of_question(key),
            _ if self.table.is_some() => self.on_key_of_table(key),
            KeyCode::Tab if self.left.take().is_some() => self.ask(),
            KeyCode::Tab => self.table = self.last_table(),
            KeyCode::Enter if !key.modifiers.contains(KeyModifiers::ALT) => self.send(),
            _ => drop(self.draft.input(key)),
        }
    }

    fn on_key_of_question(&mut self, key: KeyEvent) {
        let Some((call_id, question)) = &mut self.question else { return };
        let Some(answer) = question.on_key(key) else { return };
        match answer {
            Answer::Decided(approved) => self.conversation.decide(call_id, approved),
            Answer::Responded(output) => self.conversation.respond(call_id, &output),
        }
        self.question = None;
        self.top = None;
        self.ask();
    }

    fn on_key_of_table(&mut self, key: KeyEvent) {
        let Some(cursor) = &mut self.table else { return };
        let rows = cursor.props.get("rows").and_then(Value::as_array).map_or(0, Vec::len);
        match key.code {
            KeyCode::Up => cursor.row = cursor.row.saturating_sub(1),
            KeyCode::Down => cursor.row = (cursor.row + 1).min(rows.saturating_sub(1)),
            KeyCode::Char(' ') => {
                let state = self.conversation.state(&cursor.instance);
                if let Some(state) = toggled(&cursor.props, state.as_ref(), cursor.row) {
                    self.conversation.set_state(&cursor.instance, &state);
                }
            }
            KeyCode::Tab | KeyCode::Enter => self.table = None,
            _ => {}
        }
    }

    /// Returns the last table whose rows can be ticked.
    fn last_table(&self) -> Option<TableCursor> {
        let tables = self.conversation.messages().iter().flat_map(Message::tools);
        let last = tables.filter(|call| call.name == *"ui_table").filter_map(|call| {
            let (instance, props) = (instance_of(call)?, call.state.input()?.to_value());
            let is_selectable = props.get("selectable") == Some(&Value::Bool(true));
            is_selectable.then_some(TableCursor { instance, props, row: 0 })
        });
        last.last()
    }

    fn send(&mut self) {
        let text = self.draft.lines().join("\n").trim().to_owned();
        if !text.is_empty() && !self.is_running() {
            self.draft = empty_draft();
            self.top = None;
            self.conversation.send(text);
        }
    }

    /// Changes the first line that is shown, by half a screen.
    fn scroll(&mut self, moved: impl Fn(usize, usize) -> usize) {
        let (last, height) = self.drawn;
        let top = moved(self.top.unwrap_or(last), (height / 2).max(1));
        self.top = (top < last).then_some(top);
    }

    /// Draws the screen.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let draft = u16::try_from(self.draft.lines().len()).unwrap_or(MAX_DRAFT).clamp(1, MAX_DRAFT) + 2;
        let wanted = self.question.as_ref().map_or(draft, |(_, question)| question.height(area.width));
        let below = wanted.min((area.height / 3 * 2).max(3));
        let parts = [Constraint::Min(0), Constraint::Length(below), Constraint::Length(1)];
        let [above, below, status] = Layout::vertical(parts).areas(area);
        self.draw_transcript(frame, above);
        match &self.question {
            Some((_, question)) => question.draw(frame, below),
            None => frame.render_widget(&self.draft, below),
        }
        let hint = if self.is_running() {
            "… answering  Ctrl+C: stop"
        } else if self.question.is_some() {
            "Esc: leave open  Ctrl+C: quit"
        } else if self.table.is_some() {
            "↑ ↓ Space: tick  Esc: back"
        } else {
            "Enter: send  Tab: rows  Ctrl+C: quit"
        };
        frame.render_widget(Line::styled(hint, Style::new().dim()), status);
    }

    fn draw_transcript(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let (columns, height) = (usize::from(area.width), usize::from(area.height));
        let asked = self.question.as_ref().map(|(call_id, _)| call_id);
        let lines = transcript::lines(&self.conversation, asked, self.table.as_ref(), columns);
        let last = lines.len().saturating_sub(height);
        let mut top = self.top.unwrap_or(last).min(last);
        if self.table.is_some() {
            let has_cursor = |line: &Line<'_>| line.spans.iter().any(|span| span.content.contains(CURSOR));
            if let Some(at) = lines.iter().position(has_cursor) {
                top = top.min(at.saturating_sub(1)).max((at + 2).saturating_sub(height));
            }
        }
        self.drawn = (last, height);
        let shown: Vec<Line<'static>> = lines.into_iter().skip(top).take(height).collect();
        frame.render_widget(Paragraph::new(shown), area);
    }
}

fn empty_draft() -> Editor<'static> {
    let mut draft = Editor::default();
    draft.set_block(Block::bordered());
    draft.set_wrap_mode(WrapMode::WordOrGlyph);
    draft.set_cursor_line_style(Style::new());
    draft.set_placeholder_text("Write a message");
    draft
}
