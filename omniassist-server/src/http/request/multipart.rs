//! Files in a `multipart/form-data` body.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Buf, Bytes};
use futures_util::stream;
use http::StatusCode;
use http_body::Body;
use multer::{Field, Multipart};
use tokio::sync::mpsc;

use super::receive::{self, Paced};
use crate::Principal;
use crate::files::{CHUNK_BYTES, Library, Upload, essence};
use crate::http::response::Rejection;

/// The maximum number of bytes that are passed to the parser at once, because it copies them.
const PIECE_BYTES: usize = CHUNK_BYTES / 4;

/// Bytes that the parser may keep, and bytes of the fields that are no files.
const MAX_KEPT_BYTES: usize = 4 * CHUNK_BYTES;

/// Returns `true` if a body of this content type has parts.
pub(in crate::http) fn is_form(content_type: &str) -> bool {
    essence(content_type).is_some_and(|essence| essence.starts_with("multipart/"))
}

/// Receives the files of a form. Fields without a file name are skipped, and so are file fields in which the user has
/// chosen nothing: browsers send an empty name and no content.
///
/// # Errors
///
/// Returns an error if the body is no form with files, or passes a limit. One about a file has its position.
pub(in crate::http) async fn receive<B: Body>(
    library: &Arc<Library>,
    principal: &Principal,
    content_type: &str,
    body: &mut Paced<'_, B>,
) -> Result<Vec<Upload>, Rejection> {
    let boundary = multer::parse_boundary(content_type).map_err(|error| unreadable(&error))?;
    let (send, mut chunks) = mpsc::channel(1);
    let taken = AtomicUsize::new(0);
    let chunks = stream::poll_fn(move |cx| chunks.poll_recv(cx));
    let mut uploads = pin!(read(library, principal, Multipart::new(chunks, boundary), &taken));
    // The parser needs a stream that is `Send`, and not every framework has such bodies. No task is spawned.
    tokio::select! {
        uploads = &mut uploads => return uploads,
        sent = pass_on(body, send, &taken) => sent?,
    }
    uploads.await
}

/// Passes the body on to the parser, in chunks.
async fn pass_on<B: Body>(
    body: &mut Paced<'_, B>,
    send: mpsc::Sender<Result<Bytes, std::io::Error>>,
    taken: &AtomicUsize,
) -> Result<(), Rejection> {
    let mut passed = 0_usize;
    // A permit means that the parser has copied the last piece. The server can then use the buffer of that piece again.
    while send.reserve().await.is_ok() {
        let Some(mut data) = body.next().await? else { break };
        while data.has_remaining() {
            let chunk = data.copy_to_bytes(data.remaining().min(PIECE_BYTES));
            passed = passed.saturating_add(chunk.len());
            // The parser has no limit on the headers of a part.
            if passed.saturating_sub(taken.load(Ordering::Relaxed)) > MAX_KEPT_BYTES {
                let rejection =
                    invalid("The headers of the form and its fields without a file are too long.");
                return Err(rejection.with_limit("form_fields_bytes", MAX_KEPT_BYTES));
            }
            if send.send(Ok(chunk)).await.is_err() {
                break;
            }
        }
    }
    Ok(())
}

/// Reads the files of the form. `taken` counts the bytes of files.
async fn read(
    library: &Arc<Library>,
    principal: &Principal,
    mut form: Multipart<'_>,
    taken: &AtomicUsize,
) -> Result<Vec<Upload>, Rejection> {
    let most = library.limits().max_files_per_upload;
    let mut uploads = Vec::new();
    while let Some(mut field) = form.next_field().await.map_err(|error| unreadable(&error))? {
        let Some(name) = field.file_name().map(str::to_owned) else {
            skip(field).await?;
            continue;
        };
        let mut first = field.chunk().await.map_err(|error| unreadable(&error))?;
        while first.as_ref().is_some_and(Bytes::is_empty) {
            first = field.chunk().await.map_err(|error| unreadable(&error))?;
        }
        if name.is_empty() && first.is_none() {
            continue;
        }
        if uploads.len() >= most {
            let message = format!("An upload may have {most} files.");
            return Err(Rejection::new(StatusCode::BAD_REQUEST, "too_many_files", message)
                .with_limit("max_files_per_upload", most));
        }
        let path = format!("files[{}]", uploads.len());
        let upload = file(library, principal, field, first, taken).await;
        uploads.push(upload.map_err(|rejection| rejection.with_detail("path", path))?);
    }
    if uploads.is_empty() {
        return Err(invalid("The form has no file."));
    }
    Ok(uploads)
}

async fn file(
    library: &Arc<Library>,
    principal: &Principal,
    mut field: Field<'_>,
    mut next: Option<Bytes>,
    taken: &AtomicUsize,
) -> Result<Upload, Rejection> {
    let stated = field.content_type().and_then(|stated| essence(stated.essence_str()));
    let mut upload = library.begin(principal, field.file_name(), stated, 0).await?;
    while let Some(chunk) = next {
        taken.fetch_add(chunk.len(), Ordering::Relaxed);
        upload.write(chunk).await?;
        next = field.chunk().await.map_err(|error| unreadable(&error))?;
    }
    Ok(upload)
}

async fn skip(mut field: Field<'_>) -> Result<(), Rejection> {
    while field.chunk().await.map_err(|error| unreadable(&error))?.is_some() {}
    Ok(())
}

fn unreadable(error: &multer::Error) -> Rejection {
    match error {
        multer::Error::IncompleteFieldData { .. }
        | multer::Error::IncompleteHeaders
        | multer::Error::IncompleteStream => receive::broken(),
        multer::Error::NoBoundary => invalid("The content-type of the form has no `boundary`."),
        _ => invalid("The body is not a form of the type multipart/form-data."),
    }
}

fn invalid(message: &'static str) -> Rejection {
    Rejection::new(StatusCode::BAD_REQUEST, "invalid_multipart", message)
}
