//! Forged conversations against the seals: nothing that the server did not write is believed, and nothing that it did
//! write is lost.
//!
//! An honest server and an honest client make a random conversation ([`chat`]). The forgeries ([`forge`]) change what is
//! posted, and every one of them would fool a server without seals ([`post::judge`] posts it to one first). The counts
//! are printed with `--nocapture`.

#![allow(clippy::print_stdout, reason = "the counts are for whoever runs these with --nocapture")]

mod chat;
mod dice;
mod forge;
mod json;
mod keys;
mod kinds;
mod legal;
mod post;
mod replay;
mod rules;
mod size;

use omniassist_server::seal::SealKeys;

const SECRET: &[u8] = b"the secret of the honest server.";
const OTHER_SECRET: &[u8] = b"a secret of some other server's.";

fn keys() -> SealKeys {
    SealKeys::new("2026-11", SECRET).unwrap()
}
