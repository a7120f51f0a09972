use std::time::Duration;

use omniassist_core::Text;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;

/// Bytes of a line that are logged.
const MAX_LINE: usize = 1024;

/// Lines that are logged in each [`PERIOD`].
const MAX_LINES: u32 = 20;

const PERIOD: Duration = Duration::from_secs(10);

/// Logs what a server writes to its standard error, until it closes it.
pub(super) async fn log(source: Text, mut stderr: impl AsyncRead + Unpin) {
    let mut log = Log { source, line: Vec::new(), began: Instant::now(), lines: 0 };
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = stderr.read(&mut bytes).await {
        log.take(bytes.get(..read).unwrap_or_default());
    }
    log.end_line();
}

struct Log {
    source: Text,
    line: Vec<u8>,
    began: Instant,
    lines: u32,
}

impl Log {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => self.end_line(),
                byte if self.line.len() < MAX_LINE => self.line.push(*byte),
                _ => {}
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if self.began.elapsed() >= PERIOD {
            (self.began, self.lines) = (Instant::now(), 0);
        }
        self.lines = self.lines.saturating_add(1);
        let source = self.source.as_str();
        match self.lines {
            _ if line.is_empty() => {}
            ..=MAX_LINES => {
                // As a value, so that a subscriber escapes it.
                tracing::info!(source, line = ?String::from_utf8_lossy(&line), "an MCP server wrote to stderr");
            }
            lines if lines == MAX_LINES + 1 => {
                tracing::warn!(source, "more lines of an MCP server's stderr are left out for 10 s");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_counted_and_not_kept() {
        let mut log = Log { source: "s".into(), line: Vec::new(), began: Instant::now(), lines: 0 };
        log.take(&b"x".repeat(100_000));
        assert_eq!(log.line.len(), MAX_LINE);
        log.take("\nline".repeat(1000).as_bytes());
        assert_eq!(log.lines, 1000);
        tokio::time::advance(PERIOD).await;
        log.take(b"\n");
        assert_eq!(log.lines, 1, "the next period counts anew");
    }
}
