//! Files that a model makes.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use base64::Engine;
use futures_core::Stream;
use omniassist_core::{LlmEvent, Text};

use crate::lenient_base64::LENIENT_BASE64;
use crate::provider::LlmStream;
use crate::{Result, RunContext, one_line};

/// The stream of an answer whose files are stored. The events after a file wait until it is stored. Dropping the stream
/// discards an incomplete file.
pub(super) struct GeneratedFiles {
    answer: LlmStream,
    run: RunContext,
    storing: Option<Pin<Box<dyn Future<Output = LlmEvent> + Send>>>,
}

impl GeneratedFiles {
    pub(in crate::engine) fn new(answer: LlmStream, run: RunContext) -> Self {
        Self { answer, run, storing: None }
    }
}

impl Stream for GeneratedFiles {
    type Item = Result<LlmEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(storing) = &mut this.storing {
                let event = ready!(storing.as_mut().poll(cx));
                this.storing = None;
                return Poll::Ready(Some(Ok(event)));
            }
            match ready!(this.answer.as_mut().poll_next(cx)) {
                Some(Ok(LlmEvent::File { media_type, url })) if url.starts_with("data:") => {
                    this.storing = Some(Box::pin(store(this.run.clone(), media_type, url)));
                }
                event => return Poll::Ready(event),
            }
        }
    }
}

/// Stores a file. A file that cannot be stored keeps its `data:` URL, so that the user still receives it.
async fn store(run: RunContext, media_type: Text, url: Text) -> LlmEvent {
    let content = url.split_once(";base64,").and_then(|(_, data)| LENIENT_BASE64.decode(data).ok());
    let Some(content) = content else { return LlmEvent::File { media_type, url } };
    match run.store_file(&name(&media_type), &media_type, content).await {
        Ok(file) => LlmEvent::File { media_type: file.info.media_type.into(), url: file.url.into() },
        Err(error) => {
            let error = one_line::chain(&error);
            tracing::warn!(run_id = run.run_id().as_str(), %error, "a file of the model is not stored");
            LlmEvent::File { media_type, url }
        }
    }
}

/// Returns a name for a file of this type: `image.png`.
fn name(media_type: &str) -> String {
    let (kind, format) = media_type.split_once('/').unwrap_or(("file", ""));
    let letters = format.bytes().take_while(u8::is_ascii_alphanumeric).count();
    match format.get(..letters) {
        Some(extension @ ("png" | "jpeg" | "gif" | "webp" | "wav" | "mpeg" | "mp4" | "pdf")) => {
            format!("{kind}.{extension}")
        }
        _ => kind.to_owned(),
    }
}
