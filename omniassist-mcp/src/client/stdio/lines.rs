use std::io;

use omniassist_core::Text;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::process::ChildStdout;
use tokio_util::sync::CancellationToken;

use crate::client::tasks;

/// The bytes of a line of a process.
const MAX_LINE: u64 = 8 * 1024 * 1024;

/// The bytes of lines that wait for their reader.
const BUFFER: usize = 64 * 1024;

/// Passes on the lines of a process. A line of more than 8 MiB ends them, and cancels `over_limit` before.
pub(super) fn passed_on(source: Text, stdout: ChildStdout, over_limit: CancellationToken) -> DuplexStream {
    let (mut passed, lines) = duplex(BUFFER);
    tokio::spawn(async move {
        if let Err(error) = pass_on(stdout, &mut passed, &over_limit).await {
            tracing::warn!(source = source.as_str(), %error, "the output of an MCP server cannot be read");
        }
    });
    lines
}

async fn pass_on(
    stdout: ChildStdout,
    passed: &mut DuplexStream,
    over_limit: &CancellationToken,
) -> io::Result<()> {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        (&mut stdout).take(MAX_LINE + 1).read_until(b'\n', &mut line).await?;
        if line.is_empty() {
            return Ok(());
        }
        if line.len() as u64 > MAX_LINE {
            over_limit.cancel();
            return Err(io::Error::other("a line is longer than 8 MiB"));
        }
        if let Some(marked) = tasks::marked(&line) {
            line = marked.into_bytes();
            line.push(b'\n');
        }
        if passed.write_all(&line).await.is_err() {
            // The connection has ended.
            return Ok(());
        }
    }
}
