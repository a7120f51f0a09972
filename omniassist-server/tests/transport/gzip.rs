use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use bytes::Bytes;

use super::*;

fn gzip(pieces: &[&str]) -> (Vec<u8>, usize) {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut flushed = 0;
    for (at, piece) in pieces.iter().enumerate() {
        encoder.write_all(piece.as_bytes()).unwrap();
        encoder.flush().unwrap();
        if at == 0 {
            flushed = encoder.get_ref().len();
        }
    }
    (encoder.finish().unwrap(), flushed)
}

fn compressed(body: impl Into<Bytes>) -> Reply {
    Reply::sse(body).header("content-encoding", "gzip")
}

#[tokio::test]
async fn an_unrequested_gzip_body_is_decoded_in_any_chunking() {
    let (bytes, _) = gzip(&[&body("START hello"), &body("wörld END")]);
    for piece in [1, 3, 7, 1_000] {
        for reply in [compressed(bytes.clone()), compressed(bytes.clone()).until_close()] {
            let server = serve([reply.chunked_by(piece)]).await;
            let heard = hear_with(&server, limits()).await;
            assert_eq!(heard.said, ["hello", "wörld", "<end>"], "{piece}: {heard:?}");
            assert!(heard.is_whole());
            assert_eq!(server.request(1).await.header("accept-encoding"), Some("identity"));
        }
    }
}

#[tokio::test]
async fn flushed_data_is_read_before_more_arrives() {
    let (bytes, flushed) = gzip(&[&body("hello"), &body("END")]);
    let server = serve([compressed(bytes).stall_after(flushed)]).await;
    let mut stream = ask(&server.base_url(), limits());
    let first = tokio::time::timeout(Duration::from_secs(2), next(&mut stream)).await.expect("flushed");
    assert_eq!(first.unwrap(), "hello");
}

#[tokio::test]
async fn a_cut_gzip_body_is_an_interruption() {
    let (bytes, flushed) = gzip(&[&body("hello"), &body("END")]);
    let cut = bytes.get(..flushed).unwrap().to_vec();
    // The body is complete for HTTP but not for gzip.
    for reply in
        [compressed(cut.clone()), compressed(cut).until_close(), compressed(bytes).cut_after(flushed)]
    {
        let server = serve([reply.clone()]).await;
        let heard = hear_with(&server, limits()).await;
        assert_eq!(heard.kind(), Some(ProviderErrorKind::Interrupted), "{reply:?}: {heard:?}");
        assert_eq!(heard.said, ["hello"]);
    }
}

#[tokio::test]
async fn the_cap_counts_decoded_bytes() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let comments = body(":").repeat(1 << 17);
    encoder.write_all(comments.as_bytes()).unwrap();
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() * 200 < comments.len(), "{} bytes", bomb.len());
    let mut limits = limits();
    limits.max_response_bytes = 1 << 20;
    let server = serve([compressed(bomb).stall_after(usize::MAX)]).await;
    let heard = hear_with(&server, limits).await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::TooLarge), "{heard:?}");
    server.closed().await;
    assert_eq!(server.requests().len(), 1, "not repeated");
}

#[tokio::test]
async fn an_uncompressed_body_with_a_gzip_header_is_an_error() {
    let server = serve([compressed(body("hello END"))]).await;
    let heard = hear_with(&server, once()).await;
    assert!(heard.error.is_some() && heard.said.is_empty(), "{heard:?}");
}

#[tokio::test]
async fn a_gzip_error_body_is_read() {
    let (bytes, _) = gzip(&["no ", "good"]);
    let mut raw = b"HTTP/1.1 400 Bad Request\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n".to_vec();
    raw.extend_from_slice(&bytes);
    let server = serve([Reply::raw(raw)]).await;
    let heard = hear_with(&server, limits()).await;
    assert_eq!(heard.error().detail(), Some("no good"));
}
