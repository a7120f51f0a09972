use std::io;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::sleep;

use super::Ask;
use super::answer::Head;

/// A connection, and the bytes that are read and not yet used.
pub(super) struct Socket {
    stream: TcpStream,
    read: BytesMut,
}

/// A socket that exchanges share. Answers arrive in the order of the requests, and each exchange reads its own.
pub(super) type Shared = Arc<Mutex<Socket>>;

/// The framing of a body.
#[derive(Debug, Clone, Copy)]
enum Framing {
    Length(usize),
    /// The number of missing bytes of the chunk; `None` between chunks.
    Chunked(Option<usize>),
    UntilClose,
}

/// One answer.
pub(super) struct Answering {
    socket: Shared,
    has_no_body: bool,
    framing: Framing,
}

pub(super) fn shared(stream: TcpStream) -> Shared {
    Arc::new(Mutex::new(Socket { stream, read: BytesMut::new() }))
}

impl Socket {
    /// Sends a request. A failed write is ignored, since the server may have answered already.
    pub(super) async fn send(&mut self, ask: &Ask, authority: &str) {
        let origin = if ask.is_absolute { format!("http://{authority}") } else { String::new() };
        let mut head = format!("{} {origin}{} HTTP/1.1\r\nhost: {authority}\r\n", ask.method, ask.path);
        for (name, value) in &ask.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if ask.has_body() {
            head.push_str(&match ask.announced {
                Some(length) => format!("content-length: {length}\r\n"),
                None => "transfer-encoding: chunked\r\n".to_owned(),
            });
        }
        head.push_str("\r\n");
        let _ = self.send_all(head.as_bytes(), ask).await;
    }

    async fn send_all(&mut self, head: &[u8], ask: &Ask) -> io::Result<()> {
        self.stream.write_all(head).await?;
        if ask.headers.iter().any(|(name, _)| name == "expect") {
            self.read_line_of_continue().await?;
        }
        let is_chunked = ask.has_body() && ask.announced.is_none();
        for piece in &ask.pieces {
            if !ask.pause.is_zero() {
                sleep(ask.pause).await;
            }
            if is_chunked {
                self.stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
            }
            self.stream.write_all(piece).await?;
            if is_chunked {
                self.stream.write_all(b"\r\n").await?;
            }
        }
        if is_chunked && ask.ends {
            self.stream.write_all(b"0\r\n\r\n").await?;
        }
        Ok(())
    }

    /// Waits for the server's `100 Continue`.
    async fn read_line_of_continue(&mut self) -> io::Result<()> {
        const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
        while self.read.len() < CONTINUE.len() {
            self.more().await?;
        }
        assert!(self.read.starts_with(CONTINUE), "{:?}", self.read);
        self.read.advance(CONTINUE.len());
        Ok(())
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.read).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    async fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.read.windows(2).position(|pair| pair == b"\r\n") {
                let line = String::from_utf8(self.read.split_to(end).to_vec()).unwrap();
                self.read.advance(2);
                return Ok(line);
            }
            self.more().await?;
        }
    }
}

impl Answering {
    pub(super) fn new(socket: Shared, ask: &Ask) -> Self {
        Self { socket, has_no_body: ask.method == "HEAD", framing: Framing::Length(0) }
    }

    pub(super) async fn head(&mut self) -> io::Result<Head> {
        let mut socket = self.socket.lock().await;
        let status_line = socket.line().await?;
        let status = status_line.strip_prefix("HTTP/1.1 ").unwrap_or_else(|| panic!("{status_line:?}"));
        let mut head = Head { status: status[..3].parse().unwrap(), headers: Vec::new() };
        loop {
            let line = socket.line().await?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("{line:?}"));
            head.headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let length = head.header("content-length").map(|length| length.parse().unwrap());
        let is_chunked = head.header("transfer-encoding").is_some_and(|coding| coding == "chunked");
        self.framing = match (self.has_no_body || matches!(head.status, 204 | 304), is_chunked, length) {
            (true, ..) => Framing::Length(0),
            (false, true, None) => Framing::Chunked(None),
            (false, false, Some(length)) => Framing::Length(length),
            (false, false, None) => Framing::UntilClose,
            (false, true, Some(_)) => panic!("two framings: {head:?}"),
        };
        Ok(head)
    }

    /// Returns the next bytes of the body, `None` at its end, or an error if it is cut.
    pub(super) async fn data(&mut self) -> io::Result<Option<Bytes>> {
        let mut socket = self.socket.lock().await;
        loop {
            let left = match &mut self.framing {
                Framing::Length(0) => return Ok(None),
                Framing::Length(left) | Framing::Chunked(Some(left)) => left,
                Framing::Chunked(None) => {
                    let size = usize::from_str_radix(&socket.line().await?, 16).unwrap();
                    if size == 0 {
                        assert_eq!(socket.line().await?, "", "no trailers");
                        self.framing = Framing::Length(0);
                    } else {
                        self.framing = Framing::Chunked(Some(size));
                    }
                    continue;
                }
                Framing::UntilClose => {
                    return match socket.more().await {
                        Ok(()) => Ok(Some(socket.read.split().freeze())),
                        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
                        Err(error) => Err(error),
                    };
                }
            };
            if socket.read.is_empty() {
                socket.more().await?;
            }
            let here = (*left).min(socket.read.len());
            *left -= here;
            let data = socket.read.split_to(here).freeze();
            if matches!(self.framing, Framing::Chunked(Some(0))) {
                assert_eq!(socket.line().await?, "", "a chunk has its announced size");
                self.framing = Framing::Chunked(None);
            }
            return Ok(Some(data));
        }
    }
}
