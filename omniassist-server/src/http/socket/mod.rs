//! `GET /ws`: a tree of agents over a WebSocket.
//!
//! The request passes the checks of every other route before the connection is upgraded. All state belongs to the
//! connection: when it ends, its agents end.

mod age;
mod bearer;
mod connection;
mod fragments;
mod handshake;
mod inbox;
mod pace;
mod reply;
mod upgrade;

pub(super) use bearer::take_bearer;
pub(super) use handshake::accept;
pub use upgrade::SocketUpgrade;
