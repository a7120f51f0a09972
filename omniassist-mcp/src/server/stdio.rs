//! The endpoint over standard input and output: one message in each line.

use std::io;
use std::sync::Arc;

use http::Request;
use omniassist_server::core::json_guard;
use omniassist_server::{Assistant, Principal};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, GetExtensions, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::arguments::WrittenArguments;
use super::handler::Handler;
use super::unread;

/// Serves a client until its input ends.
pub(super) async fn serve(
    handler: Handler,
    assistant: Assistant,
    principal: Principal,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let lines = Lines {
        input: BufReader::new(input),
        line: Vec::new(),
        is_too_long: false,
        output: Arc::new(Mutex::new(output)),
        refusal: None,
        assistant,
        principal,
    };
    let service = match rmcp::serve_server(handler, lines).await {
        Ok(service) => service,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    service.waiting().await.map(|_| ()).map_err(io::Error::other)
}

/// The messages of a client, with the limits of a posted body.
struct Lines<R, W> {
    input: BufReader<R>,
    /// The beginning of a line whose end was not read.
    line: Vec<u8>,
    is_too_long: bool,
    output: Arc<Mutex<W>>,
    /// The answer to a line that is no message. The next line waits for it.
    refusal: Option<JoinHandle<io::Result<()>>>,
    assistant: Assistant,
    principal: Principal,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// Reads a line. `None` at the end of the input. Dropping the future loses nothing.
    async fn line(&mut self) -> io::Result<Option<Line>> {
        let most = self.assistant.limits().max_body_bytes;
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() {
                return Ok(None);
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            self.is_too_long |= self.line.len() + part.len() > most;
            if self.is_too_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(part);
            }
            let used = end.map_or(read.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                let is_too_long = std::mem::take(&mut self.is_too_long);
                return Ok(Some(if is_too_long { Line::TooLong } else { Line::Whole(line) }));
            }
        }
    }

    /// Reads the message in a line.
    ///
    /// # Errors
    ///
    /// Returns the answer to a line that is none.
    fn message(&self, line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Value> {
        json_guard::check(line, self.assistant.limits().max_json_depth)
            .map_err(|error| unread::answer(line, &ErrorData::parse_error(error.to_string(), None)))?;
        let mut message: RxJsonRpcMessage<RoleServer> =
            serde_json::from_slice(line).map_err(|_| unread::answer(line, &unread::no_message()))?;
        if let JsonRpcMessage::Request(request) = &mut message {
            let mut sender = Request::new(());
            sender.extensions_mut().insert(self.assistant.clone());
            sender.extensions_mut().insert(self.principal.clone());
            if let Some(arguments) = WrittenArguments::read(line) {
                sender.extensions_mut().insert(arguments);
            }
            request.request.extensions_mut().insert(sender.into_parts().0);
        }
        Ok(message)
    }

    /// Writes an answer in a task, since `receive` can be dropped while it writes.
    fn refuse(&mut self, message: &Value) {
        let written = write(Arc::clone(&self.output), serde_json::to_vec(message));
        self.refusal = Some(tokio::spawn(written));
    }
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        write(Arc::clone(&self.output), serde_json::to_vec(&message))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(written) = &mut self.refusal {
                let _ = written.await;
                self.refusal = None;
            }
            match self.line().await {
                Ok(Some(Line::Whole(line))) if line.trim_ascii().is_empty() => {}
                Ok(Some(Line::Whole(line))) => match self.message(&line) {
                    Ok(message) => return Some(message),
                    Err(refusal) => self.refuse(&refusal),
                },
                Ok(Some(Line::TooLong)) => {
                    let error = ErrorData::invalid_request("The message is too long.", None);
                    self.refuse(&unread::answer(b"", &error));
                }
                Ok(None) => return None,
                Err(error) => {
                    tracing::warn!(%error, "the standard input cannot be read");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.flush().await
    }
}

async fn write<W: AsyncWrite + Unpin>(
    output: Arc<Mutex<W>>,
    message: serde_json::Result<Vec<u8>>,
) -> io::Result<()> {
    let mut line = message?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}
