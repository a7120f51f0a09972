//! Tests of the memory that a large upload uses.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, header};
use http_body::{Body, Frame};
use omniassist_server::Principal;

use super::store::Memory;
use super::{Answer, PDF, builder, serve};

const SIZE: usize = 50 << 20;

/// The buffer of a frame. `live` counts the existing buffers.
struct Buffer {
    bytes: Vec<u8>,
    live: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A body that creates its frames when it is polled.
struct Frames {
    size: usize,
    made: Arc<AtomicUsize>,
    live: Arc<AtomicUsize>,
    head: Option<Vec<u8>>,
    left: usize,
    tail: Option<Vec<u8>>,
}

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = self.head.take().or_else(|| {
            let size = self.size.min(self.left);
            self.left -= size;
            if size > 0 { Some(vec![b' '; size]) } else { self.tail.take() }
        });
        let Some(bytes) = bytes else { return Poll::Ready(None) };
        assert_eq!(self.live.fetch_add(1, Ordering::Relaxed), 0, "a frame that was read must be released");
        self.made.fetch_add(bytes.len(), Ordering::Relaxed);
        let frame = Bytes::from_owner(Buffer { bytes, live: Arc::clone(&self.live) });
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }
}

/// Uploads 50 MiB in frames of this size. Returns the maximum of the bytes that arrived and were not yet stored.
async fn held(content_type: &str, frame: usize) -> usize {
    let (store, made) = (Memory::default(), Arc::new(AtomicUsize::new(0)));
    {
        let mut inner = store.0.lock().unwrap();
        (inner.discards, inner.made) = (true, Arc::clone(&made));
    }
    let is_form = content_type.starts_with("multipart/");
    let head: &[u8] = b"--X\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.pdf\"\r\n\r\n";
    let head = [if is_form { head } else { b"" }, PDF].concat();
    let tail = is_form.then(|| b"\r\n--X--\r\n".to_vec());
    let body = Frames { size: frame, made, live: Arc::default(), head: Some(head), left: SIZE, tail };
    let request = Request::post("/files").header(header::CONTENT_TYPE, content_type);
    let mut request = request.body(body).unwrap();
    request.extensions_mut().insert(Principal::new("ann"));
    let answer = serve(builder(store.clone()).1).handle(request).await;
    assert_eq!(Answer::of(answer).await.file()["size"], SIZE + PDF.len());
    store.0.lock().unwrap().held
}

/// A server reuses its read buffer only after all frames in it are released.
#[tokio::test]
async fn an_upload_holds_at_most_64_kib_in_addition_to_its_last_frame() {
    for content_type in ["application/pdf", "multipart/form-data; boundary=X"] {
        for frame in [5_000, 16 * 1024, 400_000] {
            let held = held(content_type, frame).await;
            assert!(held <= 64 * 1024 + frame, "{content_type}, frames of {frame} bytes: {held}");
        }
    }
}
