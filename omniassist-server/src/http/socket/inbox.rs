use std::collections::VecDeque;
use std::error::Error as _;

use omniassist_core::agent_tree::{CallResponse, ClientFrame, Intervention, ServerFrame};
use omniassist_core::{Error, ErrorCode, JsonText, Text};

/// The most client frames that wait while the client does not read.
const QUEUED: usize = 64;

/// The most bytes of those frames.
const BYTES: usize = 1024 * 1024;

/// The faults in a row with which a connection is closed.
const FAULTS: usize = 32;

/// The most bytes of a prompt, an answer, a task or a remark.
const TEXT: usize = 256 * 1024;

/// The frames of a client, as they arrive.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// The frames that wait, with their bytes.
    frames: VecDeque<(usize, Result<ClientFrame, Fault>)>,
    bytes: usize,
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
    /// Returns an error for the 65th message that waits, and for one with which more than 1 MiB would wait.
    pub(super) fn text(&mut self, text: &str) -> Result<(), Excess> {
        self.put(text.len(), || ClientFrame::read(text).and_then(within).map_err(Fault::from))
    }

    /// Takes a message that is not text.
    ///
    /// # Errors
    ///
    /// As [`text`](Self::text).
    pub(super) fn binary(&mut self) -> Result<(), Excess> {
        let message = Text::from_static("A frame is text, and not binary.");
        self.put(0, || Err(Fault { code: "binary_frame", message }))
    }

    fn put(&mut self, bytes: usize, read: impl FnOnce() -> Result<ClientFrame, Fault>) -> Result<(), Excess> {
        if self.frames.len() >= QUEUED || self.bytes + bytes > BYTES {
            return Err(Excess::Queued);
        }
        self.bytes += bytes;
        self.frames.push_back((bytes, read()));
        Ok(())
    }

    /// Returns the next frame.
    pub(super) fn next(&mut self) -> Option<Result<ClientFrame, Fault>> {
        let (bytes, frame) = self.frames.pop_front()?;
        self.bytes -= bytes;
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
        let message = match (error.code(), error.limit(), error.path(), error.source()) {
            // The source names the place, and nothing of the content.
            (ErrorCode::InvalidJson, _, _, Some(source)) => format!("The frame is not valid JSON: {source}."),
            (_, Some((_, limit)), Some(field), _) => format!("`{field}` has at most {limit} bytes."),
            (_, _, Some(field), _) => format!(
                "`{field}`: expected {}, found {}.",
                error.expected().unwrap_or_default(),
                error.found().unwrap_or_default()
            ),
            _ => error.to_string(),
        };
        Self { code: error.code().as_str(), message: message.into() }
    }
}

impl From<Fault> for ServerFrame {
    fn from(Fault { code, message }: Fault) -> Self {
        Self::error(code, message)
    }
}

/// Checks the texts of a frame.
fn within(frame: ClientFrame) -> Result<ClientFrame, Error> {
    let texts: [(&str, Option<&str>); 3] = match &frame {
        ClientFrame::StartAgent { prompt } => [("prompt", Some(prompt)), ("", None), ("", None)],
        ClientFrame::UserResponse { response, .. } => [("response", Some(response)), ("", None), ("", None)],
        ClientFrame::CallResponse(CallResponse { output, arguments, reason, .. }) => [
            ("output", output.as_ref().map(JsonText::as_str)),
            ("arguments", arguments.as_ref().map(JsonText::as_str)),
            ("reason", reason.as_deref()),
        ],
        ClientFrame::UserIntervention(Intervention { user_content, user_comment, .. }) => {
            [("userContent", user_content.as_deref()), ("userComment", user_comment.as_deref()), ("", None)]
        }
        _ => return Ok(frame),
    };
    for (name, text) in texts {
        if text.is_some_and(|text| text.len() > TEXT) {
            return Err(Error::limit_exceeded("text_bytes", TEXT, name.to_owned()));
        }
    }
    let task = match &frame {
        ClientFrame::StartAgent { prompt } => Some(("prompt", prompt)),
        ClientFrame::UserIntervention(Intervention { user_content: Some(task), .. }) => {
            Some(("userContent", task))
        }
        _ => None,
    };
    match task {
        Some((name, task)) if task.trim().is_empty() => {
            Err(Error::invalid_field(name, "a task", "a blank text"))
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
    fn one_mib_of_frames_waits() {
        let frame = |bytes: usize| format!("{TREE}{}", " ".repeat(bytes - TREE.len()));
        let mut inbox = Inbox::default();
        inbox.text(&frame(BYTES)).unwrap();
        assert_eq!(inbox.text(TREE), Err(Excess::Queued));
        assert!(inbox.next().unwrap().is_ok());
        for _ in 0..4 {
            inbox.text(&frame(BYTES / 4 - 10)).unwrap();
        }
        assert_eq!(inbox.text(&frame(41)), Err(Excess::Queued));
        inbox.text(&frame(40)).unwrap();
    }

    #[test]
    fn a_fault_names_the_field_and_the_limit() {
        let long = "x".repeat(TEXT + 1);
        let frame =
            |field: &str| format!(r#"{{"type":"user-intervention","agentId":"a","{field}":"{long}"}}"#);
        let too_long = |field: &str| format!("`{field}` has at most 262144 bytes.");
        let blank = |field: &str| format!("`{field}`: expected a task, found a blank text.");
        let cases = [
            (frame("userContent"), too_long("userContent")),
            (frame("userComment"), too_long("userComment")),
            (
                format!(r#"{{"type":"user-response","agentId":"a","response":"{long}"}}"#),
                too_long("response"),
            ),
            (format!(r#"{{"type":"start-agent","prompt":"{long}"}}"#), too_long("prompt")),
            (r#"{"type":"start-agent","prompt":" \n\t"}"#.to_owned(), blank("prompt")),
            (
                r#"{"type":"user-intervention","agentId":"a","userContent":" "}"#.to_owned(),
                blank("userContent"),
            ),
            (
                r#"{"type":"start-agent"}"#.to_owned(),
                "`frame`: expected a frame as documented, found missing field `prompt`.".to_owned(),
            ),
            (
                "{".to_owned(),
                "The frame is not valid JSON: EOF while parsing an object at line 1 column 1.".to_owned(),
            ),
        ];
        for (text, wanted) in cases {
            let mut inbox = Inbox::default();
            inbox.text(&text).unwrap();
            assert_eq!(inbox.next().unwrap().unwrap_err().message, *wanted);
        }
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
