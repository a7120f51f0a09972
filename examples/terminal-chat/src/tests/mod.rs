//! Tests on a screen in memory, with keys as a person presses them.

mod keyboard;
mod screens;

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use omniassist_server::LlmProvider;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use unicode_width::UnicodeWidthStr as _;

use crate::{Chat, Conversation, Demo, assistant};

/// A chat on a screen in memory.
struct Screen {
    chat: Chat,
    terminal: Terminal<TestBackend>,
}

impl Screen {
    fn new(model: Arc<dyn LlmProvider>, columns: u16, lines: u16) -> Self {
        let chat = Chat::new(Conversation::new(assistant(model).unwrap()));
        Self { chat, terminal: Terminal::new(TestBackend::new(columns, lines)).unwrap() }
    }

    fn demo(columns: u16, lines: u16) -> (Self, Demo) {
        let demo = Demo::new(Duration::ZERO);
        (Self::new(Arc::new(demo.clone()), columns, lines), demo)
    }

    fn press(&mut self, code: KeyCode) {
        self.press_with(code, KeyModifiers::NONE);
    }

    fn press_with(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.chat.on_event(&Event::Key(KeyEvent::new(code, modifiers)));
    }

    fn write(&mut self, text: &str) {
        text.chars().for_each(|char| self.press(KeyCode::Char(char)));
    }

    /// Writes a message, sends it, and waits for the answer.
    async fn ask(&mut self, text: &str) {
        self.write(text);
        self.press(KeyCode::Enter);
        self.answered().await;
    }

    /// Waits for the end of the answer.
    async fn answered(&mut self) {
        let answered = async {
            while self.chat.is_running() {
                self.chat.advance().await;
            }
        };
        let answered = tokio::time::timeout(Duration::from_secs(10), answered).await;
        assert!(answered.is_ok(), "the answer does not end: {}", self.text());
    }

    /// Waits until the screen has this text.
    async fn until(&mut self, part: &str) {
        let shown = async {
            while !self.text().contains(part) {
                self.chat.advance().await;
            }
        };
        let shown = tokio::time::timeout(Duration::from_secs(10), shown).await;
        assert!(shown.is_ok(), "{part} is not in {}", self.text());
    }

    /// Draws the screen and returns its lines.
    fn text(&mut self) -> String {
        self.terminal.draw(|frame| self.chat.draw(frame)).unwrap();
        let buffer = self.terminal.backend().buffer();
        let width = usize::from(buffer.area.width);
        let lines = buffer.content.chunks(width).map(|cells| {
            let (mut line, mut at) = (String::new(), 0);
            while let Some(cell) = cells.get(at) {
                line.push_str(cell.symbol());
                at += cell.symbol().width().max(1);
            }
            line.trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }
}
