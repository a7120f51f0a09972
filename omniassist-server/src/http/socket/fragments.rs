//! The frames that are only parts of messages. The codec counts none of them: it returns whole messages.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::pace::Pace;

/// The bit of a frame that ends its message.
const FINAL: u8 = 0x80;

/// The bit of a masked frame, and the bytes of its mask.
const MASKED: (u8, u64) = (0x80, 4);

/// A connection whose client sends frames at a limited rate. The last frame of a message counts when the message is read, and
/// each frame before it as it arrives.
pub(super) struct Paced<S> {
    pub(super) socket: S,
    pub(super) pace: Pace,
    at: At,
    /// `true` after a frame too many. Nothing is read then.
    pub(super) is_too_fast: bool,
    /// `true` if something was read. A long frame arrives in pieces.
    pub(super) has_read: bool,
}

/// The next byte of the input.
#[derive(Clone, Copy)]
enum At {
    /// It begins a frame.
    Start,
    /// It has the length, or the number of bytes of the length.
    Length,
    /// It belongs to a length of this many further bytes. The mask and the payload follow.
    Further { bytes: u8, length: u64, mask: u64 },
    /// It belongs to the mask or the payload, with as many bytes as are left.
    Rest(u64),
}

impl<S> Paced<S> {
    pub(super) fn new(socket: S, pace: Pace) -> Self {
        Self { socket, pace, at: At::Start, is_too_fast: false, has_read: false }
    }

    /// Reads the heads of the frames in a piece of the input.
    fn take(&mut self, mut input: &[u8]) {
        while let Some((&byte, rest)) = input.split_first() {
            (self.at, input) = match self.at {
                At::Start => {
                    let is_too_fast = byte & FINAL == 0 && !self.pace.take();
                    self.is_too_fast |= is_too_fast;
                    (At::Length, rest)
                }
                At::Length => {
                    let mask = if byte & MASKED.0 == 0 { 0 } else { MASKED.1 };
                    let at = match byte & !MASKED.0 {
                        126 => At::Further { bytes: 2, length: 0, mask },
                        127 => At::Further { bytes: 8, length: 0, mask },
                        length => At::rest(u64::from(length) + mask),
                    };
                    (at, rest)
                }
                At::Further { bytes, length, mask } => {
                    let length = length << 8 | u64::from(byte);
                    let at = match bytes {
                        0 | 1 => At::rest(length.saturating_add(mask)),
                        _ => At::Further { bytes: bytes - 1, length, mask },
                    };
                    (at, rest)
                }
                At::Rest(left) => {
                    let here = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                    let at = At::rest(left.saturating_sub(u64::try_from(here).unwrap_or(left)));
                    (at, input.get(here..).unwrap_or_default())
                }
            };
        }
    }
}

impl At {
    fn rest(bytes: u64) -> Self {
        if bytes == 0 { Self::Start } else { Self::Rest(bytes) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_too_fast {
            return Poll::Ready(Err(io::Error::other("the client sends too many frames")));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.socket).poll_read(cx, buffer))?;
        let read = buffer.filled().get(before..).unwrap_or_default();
        self.has_read |= !read.is_empty();
        self.take(read);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a masked frame.
    fn frame(first: u8, payload: usize) -> Vec<u8> {
        let mut frame = vec![first];
        match u16::try_from(payload) {
            Ok(short @ ..126) => frame.push(0x80 | u8::try_from(short).unwrap()),
            Ok(long) => frame.extend([&[0x80 | 126], &long.to_be_bytes()[..]].concat()),
            Err(_) => frame.extend([&[0x80 | 127], &(payload as u64).to_be_bytes()[..]].concat()),
        }
        // Neither the mask nor the payload is a head.
        frame.extend(vec![0; 4 + payload]);
        frame
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_parts_before_the_last_one_count_however_the_input_is_cut() {
        let begin = |payload| frame(0x01, payload);
        let message =
            [begin(0), frame(0, 125), frame(0, 126), frame(0, 70_000), frame(0x80, 3), frame(0x81, 5)]
                .concat();
        for piece in [1, 2, 3, 7, 4_096, message.len()] {
            for (allowed, is_too_fast) in [(4, false), (3, true)] {
                let mut paced = Paced::new((), Pace::new(2));
                (0..4 - allowed).for_each(|_| assert!(paced.pace.take()));
                message.chunks(piece).for_each(|part| paced.take(part));
                assert_eq!(paced.is_too_fast, is_too_fast, "{allowed} in pieces of {piece}");
                assert!(matches!(paced.at, At::Start));
            }
        }
    }
}
