use std::collections::VecDeque;

use omniassist_core::agent_tree::{ClientFrame, Intervention};
use omniassist_core::{Error, Text};

/// The most client frames that wait while the client does not read.
const QUEUED: usize = 64;

/// The faults in a row with which a connection is closed.
const FAULTS: usize = 32;

/// The most bytes of a prompt, an answer, a task or a remark.
const TEXT: usize = 256 * 1024;

/// The frames of a client, as they arrive.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    frames: VecDeque<Result<ClientFrame, Fault>>,
    faults: usize,
}

/// A frame that cannot be used.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) code: &'static str,
    pub(super) message: Text,
}

/// The reason for which a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    Queued,
    Faults,
}

impl Inbox {
    /// Takes the text of a message.
    ///
    /// # Errors
    ///
    /// Returns an error for the 65th message that waits.
    pub(super) fn text(&mut self, text: &str) -> Result<(), Excess> {
        self.put(ClientFrame::read(text).and_then(within).map_err(Fault::from))
    }

    /// Takes a message that is not text.
    ///
    /// # Errors
    ///
    /// As [`text`](Self::text).
    pub(super) fn binary(&mut self) -> Result<(), Excess> {
        let message = Text::from_static("A frame is text, and not binary.");
        self.put(Err(Fault { code: "binary_frame", message }))
    }

    fn put(&mut self, frame: Result<ClientFrame, Fault>) -> Result<(), Excess> {
        if self.frames.len() >= QUEUED {
            return Err(Excess::Queued);
        }
        self.frames.push_back(frame);
        Ok(())
    }

    /// Returns the next frame.
    pub(super) fn next(&mut self) -> Option<Result<ClientFrame, Fault>> {
        let frame = self.frames.pop_front()?;
        self.faults = if frame.is_err() { self.faults + 1 } else { 0 };
        Some(frame)
    }

    /// Returns an error after the 32nd fault in a row.
    ///
    /// # Errors
    ///
    /// See above.
    pub(super) fn check(&self) -> Result<(), Excess> {
        if self.faults >= FAULTS { Err(Excess::Faults) } else { Ok(()) }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self { code: error.code().as_str(), message: error.to_string().into() }
    }
}

/// Checks the texts of a frame.
fn within(frame: ClientFrame) -> Result<ClientFrame, Error> {
    let texts: [(&str, Option<&Text>); 2] = match &frame {
        ClientFrame::StartAgent { prompt } => [("prompt", Some(prompt)), ("", None)],
        ClientFrame::UserResponse { response, .. } => [("response", Some(response)), ("", None)],
        ClientFrame::UserIntervention(Intervention { user_content, user_comment, .. }) => {
            [("userContent", user_content.as_ref()), ("userComment", user_comment.as_ref())]
        }
        _ => return Ok(frame),
    };
    for (name, text) in texts {
        if text.is_some_and(|text| text.len() > TEXT) {
            return Err(Error::limit_exceeded("text_bytes", TEXT, name.to_owned()));
        }
    }
    match &frame {
        ClientFrame::StartAgent { prompt } if prompt.trim().is_empty() => {
            Err(Error::invalid_field("prompt", "a task", "an empty text"))
        }
        _ => Ok(frame),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = r#"{"type":"get-agent-tree"}"#;

    #[test]
    fn sixty_four_frames_wait() {
        let mut inbox = Inbox::default();
        for _ in 0..64 {
            inbox.text(TREE).unwrap();
        }
        assert_eq!(inbox.text(TREE), Err(Excess::Queued));
        assert!(inbox.next().unwrap().is_ok());
        inbox.text(TREE).unwrap();
    }

    #[test]
    fn the_32nd_fault_in_a_row_is_one_too_many() {
        let mut inbox = Inbox::default();
        let mut take = |text: &str| {
            inbox.text(text).unwrap();
            let _ = inbox.next();
            inbox.check()
        };
        for _ in 0..31 {
            assert_eq!(take("no"), Ok(()));
        }
        // A good frame begins the row again.
        assert_eq!(take(TREE), Ok(()));
        for _ in 0..31 {
            assert_eq!(take("{}"), Ok(()));
        }
        assert_eq!(take("no"), Err(Excess::Faults));
    }

    #[test]
    fn a_text_has_at_most_256_kib() {
        let of = |bytes: usize| format!(r#"{{"type":"start-agent","prompt":"{}"}}"#, "x".repeat(bytes));
        let mut inbox = Inbox::default();
        inbox.text(&of(256 * 1024)).unwrap();
        inbox.text(&of(256 * 1024 + 1)).unwrap();
        inbox.text(&of(0)).unwrap();
        assert!(inbox.next().unwrap().is_ok());
        let fault = inbox.next().unwrap().unwrap_err();
        assert!(fault.code == "limit_exceeded" && fault.message.contains("prompt"), "{fault:?}");
        assert_eq!(inbox.next().unwrap().unwrap_err().code, "invalid_request");
    }
}
