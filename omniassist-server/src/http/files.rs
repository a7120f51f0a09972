//! `POST /files`, and `GET` and `DELETE /files/{id}`.

use std::fmt::Write as _;
use std::pin::pin;
use std::sync::Arc;

use bytes::Buf;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::Body;
use omniassist_core::Error;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use tokio::sync::oneshot;

use super::request::receive::{Paced, RETRY_ANY, RETRY_OWN, require_no_coding};
use super::request::{decoded, multipart, query_value};
use super::response::{FileBody, Rejection, reply};
use super::{AssistantBody, MountPath};
use crate::files::{
    CHUNK_BYTES, FileError, FileId, FileInfo, FileKey, Kind, Library, StoredFile, Upload, essence, served,
};
use crate::quota::Share;
use crate::{Assistant, Principal, one_line};

/// The headers of a file beside its type and name. The sandbox keeps a browser that shows a file in spite of its
/// disposition from running it.
const HEADERS: [(header::HeaderName, &str); 4] = [
    (header::CACHE_CONTROL, "private, no-store"),
    (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::ACCEPT_RANGES, "none"),
];

/// Answers `POST /files`.
pub(super) async fn store<B: Body>(
    assistant: &Assistant,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let library = assistant.library().ok_or_else(Rejection::not_found)?;
    let (parts, body) = request.into_parts();
    let body = pin!(body);
    let mut body = Paced::new(body, assistant.limits());
    let mut place = None;
    let uploads = match receive(library, &parts, &mut body, &mut place).await {
        Ok(uploads) => uploads,
        Err(refused) => {
            // A client that waits for `100 Continue` does not send a body after this answer. An upload without a place is
            // only discarded as other bodies are.
            let is_sent = body.received > 0 || !parts.headers.contains_key(header::EXPECT);
            if is_sent && place.is_some() {
                body.discard(library.limits().most_bytes_of_upload()).await;
            }
            return Err(refused);
        }
    };
    let mount = parts.extensions.get::<MountPath>();
    let stored = finish(library, uploads, place).await?;
    let stored: Vec<_> = stored.into_iter().map(|info| StoredFile::new(info, mount)).collect();
    Ok(reply::json(StatusCode::CREATED, &json!({ "files": stored })))
}

/// Receives the files of a request. `place` gets its place among the uploads in progress.
async fn receive<B: Body>(
    library: &Arc<Library>,
    parts: &Parts,
    body: &mut Paced<'_, B>,
    place: &mut Option<Share>,
) -> Result<Vec<Upload>, Rejection> {
    require_no_coding(&parts.headers)?;
    let principal = parts.extensions.get::<Principal>().cloned().unwrap_or_default();
    *place = Some(library.admit(&principal)?);
    let content_type = content_type(&parts.headers).unwrap_or_default();
    if multipart::is_form(content_type) {
        return multipart::receive(library, &principal, content_type, body).await;
    }
    Ok(vec![whole(library, &principal, parts, body).await?])
}

/// Receives a file that is the whole body.
async fn whole<B: Body>(
    library: &Arc<Library>,
    principal: &Principal,
    parts: &Parts,
    body: &mut Paced<'_, B>,
) -> Result<Upload, Rejection> {
    let name = query_value(&parts.uri, "filename").map(decoded);
    let name = name.as_deref().map(String::from_utf8_lossy);
    let stated = content_type(&parts.headers).and_then(essence);
    let mut upload = library.begin(principal, name.as_deref(), stated, body.announced()).await?;
    while let Some(mut data) = body.next().await? {
        while data.has_remaining() {
            upload.write(data.copy_to_bytes(data.remaining().min(CHUNK_BYTES))).await?;
        }
    }
    Ok(upload)
}

/// Completes all uploads of a request, or none. A task does this, since a store may complete a file although its future is
/// dropped. The task holds the request's place, and deletes the files if the client leaves.
async fn finish(
    library: &Arc<Library>,
    uploads: Vec<Upload>,
    place: Option<Share>,
) -> Result<Vec<FileInfo>, Rejection> {
    let library = Arc::clone(library);
    let (send, finished) = oneshot::channel();
    tokio::spawn(async move {
        let (mut keys, mut stored, mut refused) = (Vec::new(), Vec::new(), None);
        for (position, upload) in uploads.into_iter().enumerate() {
            let key = upload.key().clone();
            match upload.finish().await {
                Ok(info) => stored.push(info),
                Err(error) => {
                    refused = Some(Rejection::from(error).with_detail("path", format!("files[{position}]")));
                    break;
                }
            }
            keys.push(key);
        }
        if refused.is_some() || send.is_closed() {
            for key in &keys {
                if let Err(error) = library.delete(key).await {
                    tracing::error!(error = %one_line::chain(&error), "a file cannot be deleted");
                }
            }
        }
        drop(place);
        let _ = send.send(refused.map_or(Ok(stored), Err));
    });
    finished.await.unwrap_or_else(|_| Err(Error::internal().into()))
}

fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::CONTENT_TYPE)?.to_str().ok()
}

/// Finds a file of the principal. Every file that the principal cannot have is answered like an unknown path.
async fn find<'a>(
    assistant: &'a Assistant,
    id: &str,
    owner: Principal,
) -> Result<(&'a Library, FileKey, FileInfo), Rejection> {
    let library = assistant.library().ok_or_else(Rejection::not_found)?;
    let key = FileKey { owner, id: FileId::parse(id).ok_or_else(Rejection::not_found)? };
    let info = library.find(&key).await?.ok_or_else(Rejection::not_found)?;
    Ok((library, key, info))
}

/// Answers a request for one file of its principal.
pub(super) async fn one(
    assistant: &Assistant,
    id: &str,
    parts: &Parts,
) -> Result<Response<AssistantBody>, Rejection> {
    let owner = parts.extensions.get::<Principal>().cloned().unwrap_or_default();
    match parts.method {
        Method::DELETE => delete(assistant, id, owner).await,
        _ => serve(assistant, id, owner).await,
    }
}

/// Answers `GET /files/{id}`.
async fn serve(
    assistant: &Assistant,
    id: &str,
    owner: Principal,
) -> Result<Response<AssistantBody>, Rejection> {
    let (library, key, info) = find(assistant, id, owner).await?;
    let content = match library.read(&key).await {
        Ok(content) => content,
        // It may have been deleted since it was found.
        Err(_) if library.find(&key).await?.is_none() => return Err(Rejection::not_found()),
        Err(error) => return Err(error.into()),
    };
    let mut response = Response::new(AssistantBody::file(FileBody::new(content, info.size)));
    let headers = response.headers_mut();
    headers.extend(HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    let media_type = HeaderValue::try_from(served(&info.media_type));
    headers.extend(media_type.map(|value| (header::CONTENT_TYPE, value)));
    let disposition = HeaderValue::try_from(disposition(info.name.as_deref()));
    headers.extend(disposition.map(|value| (header::CONTENT_DISPOSITION, value)));
    Ok(response)
}

/// Answers `DELETE /files/{id}`.
async fn delete(
    assistant: &Assistant,
    id: &str,
    owner: Principal,
) -> Result<Response<AssistantBody>, Rejection> {
    let (library, key, _) = find(assistant, id, owner).await?;
    library.delete(&key).await?;
    Ok(reply::no_content())
}

/// Returns the disposition of a file: always an attachment. The name is escaped as in RFC 8187, so that it cannot end the
/// value.
fn disposition(name: Option<&str>) -> String {
    let mut disposition = "attachment".to_owned();
    if let Some(name) = name {
        let _ = write!(disposition, "; filename*=UTF-8''{}", utf8_percent_encode(name, NON_ALPHANUMERIC));
    }
    disposition
}

impl From<FileError> for Rejection {
    fn from(error: FileError) -> Self {
        let (status, code) = match error.kind() {
            Kind::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "file_too_large"),
            Kind::Empty => (StatusCode::BAD_REQUEST, "empty_file"),
            Kind::Type(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "file_type_not_allowed"),
            Kind::Quota(..) => (StatusCode::FORBIDDEN, "file_quota_exceeded"),
            Kind::TooManyUploads(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_uploads"),
            Kind::Overloaded => (StatusCode::SERVICE_UNAVAILABLE, "overloaded"),
            Kind::Off => return Self::not_found(),
            Kind::Store => {
                tracing::error!(error = %one_line::chain(&error), "the store of files failed");
                (StatusCode::SERVICE_UNAVAILABLE, "files_unavailable")
            }
        };
        let limit = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let rejection = Self::new(status, code, error.to_string());
        match error.kind() {
            Kind::TooLarge(most) => rejection.with_limit("max_file_bytes", limit(*most)),
            Kind::Type(media_type) => rejection.with_detail("found", media_type.as_str()),
            Kind::Quota(name, most) => rejection.with_limit(name, limit(*most)),
            Kind::TooManyUploads(most) => {
                rejection.with_limit("max_uploads_per_principal", *most).with_retry_after(RETRY_OWN)
            }
            Kind::Overloaded | Kind::Store => rejection.with_retry_after(RETRY_ANY),
            Kind::Empty | Kind::Off => rejection,
        }
    }
}
