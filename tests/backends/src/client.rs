use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::backend::Backend;

/// The model's text before the stream pauses.
pub(crate) const SO_FAR: &str = "Hm, ";

/// A client whose answer is under way.
pub(crate) struct Client {
    stream: TcpStream,
    seen: Vec<u8>,
}

impl Client {
    pub(crate) async fn ask(backend: &Backend, number: usize) -> Self {
        let mut stream = TcpStream::connect(backend.address).await.unwrap();
        let body = format!(r#"{{"id":"c{number}","messages":[{{"id":"m1","role":"user","content":"hi"}}]}}"#);
        let request = format!(
            "POST /assistant HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            token(number),
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        Self { stream, seen: Vec::new() }
    }

    /// Reads until the model's text arrives.
    pub(crate) async fn has_begun(&mut self) {
        while memchr::memmem::find(&self.seen, SO_FAR.as_bytes()).is_none() {
            let read = self.stream.read_buf(&mut self.seen).await.unwrap();
            assert!(read > 0, "the answer continues: {}", String::from_utf8_lossy(&self.seen));
        }
    }

    /// Reads until the server closes the connection. Returns everything that was read.
    pub(crate) async fn end(mut self) -> String {
        // The caller detects a cut answer by its missing end.
        let _ = self.stream.read_to_end(&mut self.seen).await;
        String::from_utf8_lossy(&self.seen).into_owned()
    }
}

/// The credential of a user.
pub(crate) fn token(number: usize) -> String {
    format!("token{number}")
}
