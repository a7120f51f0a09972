use omniassist_server::ToolContext;
use serde_json::{Value, json};

use crate::CodeOutcome;

/// The bytes of the end of each stream that the user sees while the program runs.
const SHOWN: usize = 4 << 10;

/// A stream that a program writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The text that a program has written.
#[derive(Debug)]
pub(crate) struct Output {
    stdout: String,
    stderr: String,
    left: usize,
    is_full: bool,
    /// Bytes of the last progress.
    shown: usize,
    /// Bytes that were written since then.
    unshown: usize,
}

impl Output {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            stdout: String::new(),
            stderr: String::new(),
            left: max_bytes,
            is_full: false,
            shown: 0,
            unshown: 0,
        }
    }

    /// Returns the text of both streams.
    pub(crate) fn texts(&self) -> (String, String) {
        (self.stdout.clone(), self.stderr.clone())
    }

    /// Adds text. Returns `false` if a part of it, or of an earlier text, did not fit.
    pub(crate) fn write(&mut self, stream: Stream, text: &str) -> bool {
        let kept = text.get(..text.floor_char_boundary(self.left)).unwrap_or_default();
        match stream {
            Stream::Stdout => self.stdout.push_str(kept),
            Stream::Stderr => self.stderr.push_str(kept),
        }
        self.left -= kept.len();
        self.unshown += kept.len();
        self.is_full |= kept.len() < text.len();
        !self.is_full
    }

    /// Shows the end of the text to the user if there is as much new text as was shown before. All progress of a program
    /// together then has fewer bytes than its text and two ends of it.
    pub(crate) fn show(&mut self, call: &ToolContext) {
        if self.unshown >= self.shown {
            self.show_rest(call);
        }
    }

    /// Shows the end of the text to the user if there is new text.
    pub(crate) fn show_rest(&mut self, call: &ToolContext) {
        if self.unshown == 0 {
            return;
        }
        let (stdout, stderr) = (end_of(&self.stdout), end_of(&self.stderr));
        (self.shown, self.unshown) = (stdout.len() + stderr.len(), 0);
        call.progress(json!({ "stdout": stdout, "stderr": stderr }));
    }

    /// Returns the output of the tool.
    pub(crate) fn end(&mut self, outcome: CodeOutcome, too_much: &str) -> Value {
        let CodeOutcome { end, traceback } = outcome;
        let (result, error) = match end {
            _ if self.is_full => (Value::Null, Some(too_much.to_owned())),
            Ok(result) if result.to_string().len() > self.left && !result.is_null() => {
                (Value::Null, Some(too_much.to_owned()))
            }
            Ok(result) => (result, None),
            Err(error) => (Value::Null, Some(error)),
        };
        // A traceback that does not fit is cut off, so that the error is still read.
        self.write(Stream::Stderr, &traceback);
        json!({ "stdout": self.stdout, "stderr": self.stderr, "result": result, "error": error })
    }
}

fn end_of(text: &str) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(SHOWN))..).unwrap_or_default()
}
