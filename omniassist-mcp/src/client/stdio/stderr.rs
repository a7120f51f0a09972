use std::pin::pin;
use std::time::Duration;

use omniassist_core::Text;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Bytes of a line that are logged.
const MAX_LINE: usize = 1024;

/// Lines that are logged in each [`PERIOD`].
const MAX_LINES: u32 = 20;

const PERIOD: Duration = Duration::from_secs(10);

/// The time after the end of a server in which its last lines are read.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Logs what a server writes to its standard error, until it closes it, or has ended. A process that has left its group can
/// keep the stream open for ever.
pub(super) async fn log(source: Text, mut stderr: impl AsyncRead + Unpin, ended: CancellationToken) {
    let mut log = Log { source, line: Vec::new(), began: Instant::now(), lines: 0 };
    let mut bytes = [0; 4096];
    let mut is_over = pin!(async {
        ended.cancelled().await;
        sleep(LAST_LINES).await;
    });
    loop {
        let read = tokio::select! {
            read = stderr.read(&mut bytes) => read,
            () = &mut is_over => break,
        };
        let Ok(read @ 1..) = read else { break };
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
    use tokio::io::{AsyncWriteExt, duplex};
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_stays_open_is_read_for_a_second_after_the_end() {
        let (mut server, stderr) = duplex(64);
        let ended = CancellationToken::new();
        let logging = tokio::spawn(log("s".into(), stderr, ended.clone()));
        sleep(Duration::from_secs(3600)).await;
        ended.cancel();
        sleep(LAST_LINES / 2).await;
        server.write_all(b"last words\n").await.unwrap();
        assert!(!logging.is_finished());
        timeout(LAST_LINES, logging).await.unwrap().unwrap();
        assert!(server.write_all(b"more\n").await.is_err(), "nobody reads");
    }

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
