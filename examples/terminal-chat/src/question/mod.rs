//! Questions to the user, below the transcript.

mod approval;
mod choices;
mod form;

use crossterm::event::KeyEvent;
use omniassist_server::core::message::{ToolPart, ToolState};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::Block;
use serde_json::Value;

use crate::components;
use approval::ApprovalQuestion;
use choices::ChoicesQuestion;
use form::FormQuestion;

/// A question that the user answers by keyboard.
#[derive(Debug)]
pub(crate) enum Question {
    Approval(ApprovalQuestion),
    Choices(ChoicesQuestion),
    Form(Box<FormQuestion>),
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// The answer to a request for approval.
    Decided(bool),
    /// The output of a component that waits for the user.
    Responded(Value),
}

impl Question {
    /// Returns the question of a call that waits for the user.
    pub(crate) fn of(call: &ToolPart) -> Option<Self> {
        match (&call.state, components::name_of(&call.name)) {
            (ToolState::ApprovalRequested { input, .. }, _) => {
                Some(Self::Approval(ApprovalQuestion::new(&call.name, input.as_str())))
            }
            (ToolState::InputAvailable { input }, Some("form")) => {
                input.to().ok().map(|form| Self::Form(Box::new(FormQuestion::new(form))))
            }
            (ToolState::InputAvailable { input }, Some("choices")) => {
                input.to().ok().map(|choices| Self::Choices(ChoicesQuestion::new(choices)))
            }
            _ => None,
        }
    }

    /// Applies a key. Returns the answer when it is complete.
    pub(crate) fn on_key(&mut self, key: KeyEvent) -> Option<Answer> {
        match self {
            Self::Approval(_) => approval::decision(key).map(Answer::Decided),
            Self::Choices(question) => question.on_key(key).map(Answer::Responded),
            Self::Form(question) => question.on_key(key).map(Answer::Responded),
        }
    }

    /// Inserts pasted text.
    pub(crate) fn on_paste(&mut self, text: &str) {
        if let Self::Form(question) = self {
            question.on_paste(text);
        }
    }

    /// Returns the number of lines that it needs, with its border.
    pub(crate) fn height(&self, columns: u16) -> u16 {
        let columns = usize::from(columns.saturating_sub(2));
        let lines = match self {
            Self::Approval(question) => question.lines(columns).len(),
            Self::Choices(question) => question.lines(columns).0.len(),
            Self::Form(question) => question.height(),
        };
        u16::try_from(lines + 2).unwrap_or(u16::MAX)
    }

    /// Draws the question in a box.
    pub(crate) fn draw(&self, frame: &mut Frame<'_>, area: Rect) {
        let title = match self {
            Self::Approval(_) => " Approval: y or n ",
            Self::Choices(_) => " Space, Enter ",
            Self::Form(_) => " Tab, Space, Enter ",
        };
        let block = Block::bordered().title(title);
        let inner = block.inner(area);
        frame.render_widget(block, area);
        match self {
            Self::Approval(question) => question.draw(frame, inner),
            Self::Choices(question) => question.draw(frame, inner),
            Self::Form(question) => question.draw(frame, inner),
        }
    }
}
