use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::StreamExt;

use crate::files::FileContent;
use crate::one_line;

/// The content of a stored file as a body of known length. Dropping it ends the read.
pub(in crate::http) struct FileBody {
    /// Never locked. A body must be `Sync`, and a store's stream need not be.
    content: Mutex<FileContent>,
    left: u64,
}

impl FileBody {
    pub(in crate::http) fn new(content: FileContent, size: u64) -> Self {
        Self { content: Mutex::new(content), left: size }
    }

    /// Returns the number of remaining bytes.
    pub(in crate::http) fn left(&self) -> u64 {
        self.left
    }

    /// Polls for the next bytes. A store that fails, or yields another number of bytes than it announced, is an error.
    pub(super) fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ()>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let content = self.content.get_mut().unwrap_or_else(PoisonError::into_inner);
        let bytes = loop {
            match ready!(content.poll_next_unpin(cx)) {
                // A store may yield empty chunks, which a body does not need.
                Some(Ok(bytes)) if bytes.is_empty() => {}
                Some(Ok(bytes)) => break bytes,
                Some(Err(error)) => {
                    tracing::error!(error = %one_line::chain(&*error), "a stored file cannot be read");
                    return Poll::Ready(Some(Err(())));
                }
                None => break Bytes::new(),
            }
        };
        Poll::Ready(Some(match self.left.checked_sub(bytes.len() as u64) {
            Some(left) if !bytes.is_empty() => {
                self.left = left;
                Ok(bytes)
            }
            _ => {
                tracing::error!("a stored file does not have the size of its description");
                Err(())
            }
        }))
    }
}
