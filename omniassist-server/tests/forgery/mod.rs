//! Tests of forged conversations against the seals. Values that the server did not write must not be accepted, and
//! values that it wrote must not be lost.
//!
//! An honest server and an honest client make a random conversation ([`chat`]). The forgeries ([`forge`]) change the
//! post. Each of them would deceive a server without seals, to which [`post::judge`] posts it first. The counts are
//! printed with `--nocapture`.

#![allow(clippy::print_stdout, reason = "the tests print their counts")]

mod asked;
mod chat;
pub(crate) mod dice;
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
