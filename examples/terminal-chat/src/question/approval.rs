use crossterm::event::{KeyCode, KeyEvent};
use omniassist_server::component::TextArea;
use omniassist_server::ui::builtin::plain_text;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::Paragraph;

/// A request for the approval of a call.
#[derive(Debug)]
pub(crate) struct ApprovalQuestion {
    text: String,
}

impl ApprovalQuestion {
    pub(super) fn new(tool: &str, input: &str) -> Self {
        Self { text: format!("Run {tool} with {input}?") }
    }

    pub(super) fn lines(&self, columns: usize) -> Vec<String> {
        plain_text(&self.text, &TextArea::new(columns)).lines().map(str::to_owned).collect()
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, area: Rect) {
        let lines = self.lines(usize::from(area.width));
        frame.render_widget(Paragraph::new(lines.join("\n")), area);
    }
}

/// Returns the decision of a key.
pub(super) fn decision(key: KeyEvent) -> Option<bool> {
    match key.code {
        KeyCode::Char('y' | 'Y') => Some(true),
        KeyCode::Char('n' | 'N') => Some(false),
        _ => None,
    }
}
