//! Tests of the Gemini provider.

#![allow(
    clippy::needless_pass_by_value,
    clippy::print_stderr,
    reason = "`json!` values are built where they are used, and the tests print the number of checks"
)]

mod decode;
mod encode;
mod models;
mod partial;
mod provider;
mod recorded;
pub(crate) mod streams;
mod usage;

use omniassist_server::core::Limits;
use omniassist_server::provider::WireDecoder;
use omniassist_server::provider::gemini::GeminiDecoder;

use crate::recordings::{self, Decoded};

fn decoder() -> Box<dyn WireDecoder> {
    Box::new(GeminiDecoder::new(&Limits::default(), "test"))
}

fn whole(bytes: &[u8]) -> Decoded {
    recordings::decode(decoder(), [bytes])
}
