//! Seals: proof that what a client posts back is what this server wrote.
//!
//! Every stateless chat protocol has the client post the whole conversation, and a browser can post anything. A seal is
//! a keyed hash (HMAC-SHA-256, cut to 128 bits) over one part of an answer and all that it belongs to. It goes out with
//! the part, the client sends it back without knowing, and [`SealVerifier`] tells from it whether the part is genuine.
//! The server keeps nothing.

mod binding;
mod keys;
mod replay;
mod sealer;
mod token;
mod verifier;

pub use keys::{InvalidSealKey, SealKeys};
pub use replay::{ClaimFuture, InMemoryReplayGuard, ReplayGuard, SealClaim};
pub use sealer::Sealer;
pub use verifier::SealVerifier;
