use crossterm::event::{KeyCode, KeyEvent};
use omniassist_server::component::TextArea;
use omniassist_server::ui::builtin::{Choices, plain_text};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Style, Stylize as _};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use serde_json::{Value, json};

/// A choice between options.
#[derive(Debug)]
pub(crate) struct ChoicesQuestion {
    choices: Choices,
    chosen: Vec<bool>,
    at: usize,
}

impl ChoicesQuestion {
    pub(super) fn new(choices: Choices) -> Self {
        Self { chosen: vec![false; choices.options.len()], choices, at: 0 }
    }

    fn is_multiple(&self) -> bool {
        self.choices.multiple == Some(true)
    }

    pub(super) fn on_key(&mut self, key: KeyEvent) -> Option<Value> {
        match key.code {
            KeyCode::Up | KeyCode::BackTab => self.at = self.at.saturating_sub(1),
            KeyCode::Down | KeyCode::Tab => self.at = (self.at + 1).min(self.chosen.len().saturating_sub(1)),
            KeyCode::Char(' ') => self.toggle(),
            KeyCode::Enter => {
                if !self.is_multiple() && !self.chosen.contains(&true) {
                    self.toggle();
                }
                let options = self.choices.options.iter().zip(&self.chosen);
                let chosen: Vec<&str> =
                    options.filter(|(_, chosen)| **chosen).map(|(option, _)| option.id.as_str()).collect();
                return Some(json!({ "chosen": chosen }));
            }
            _ => {}
        }
        None
    }

    fn toggle(&mut self) {
        if !self.is_multiple() {
            self.chosen.fill(false);
        }
        if let Some(chosen) = self.chosen.get_mut(self.at) {
            *chosen = !*chosen;
        }
    }

    /// Returns the lines, and the number of the first one of the option at the cursor.
    pub(super) fn lines(&self, columns: usize) -> (Vec<Line<'static>>, usize) {
        let plain = |text: &str, indent: usize| {
            let text = plain_text(text, &TextArea::new(columns.saturating_sub(indent)));
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let mut lines: Vec<Line<'static>> =
            plain(&self.choices.question, 0).into_iter().map(|line| Line::from(line).bold()).collect();
        let mut cursor = 0;
        for (at, (option, chosen)) in self.choices.options.iter().zip(&self.chosen).enumerate() {
            let mark = match (self.is_multiple(), chosen) {
                (true, true) => "[x] ",
                (true, false) => "[ ] ",
                (false, true) => "(•) ",
                (false, false) => "( ) ",
            };
            let style = if at == self.at { Style::new().reversed() } else { Style::new() };
            if at == self.at {
                cursor = lines.len();
            }
            for (number, line) in plain(&option.label, 4).into_iter().enumerate() {
                let mark = if number == 0 { mark } else { "    " };
                lines.push(Line::styled(format!("{mark}{line}"), style));
            }
            let detail = option.detail.iter().flat_map(|detail| plain(detail, 4));
            lines.extend(detail.map(|line| Line::from(format!("    {line}")).dim()));
        }
        (lines, cursor)
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, area: Rect) {
        let (lines, cursor) = self.lines(usize::from(area.width));
        let first = (cursor + 2).saturating_sub(usize::from(area.height));
        let lines: Vec<Line<'static>> = lines.into_iter().skip(first).collect();
        frame.render_widget(Paragraph::new(lines), area);
    }
}
