//! Tests of the Anthropic provider.

#![allow(
    clippy::needless_pass_by_value,
    clippy::print_stderr,
    reason = "`json!` values are built where they are used, and the tests print the number of checks"
)]

mod decode;
mod encode;
mod fixtures;
mod provider;
mod schemas;
pub(crate) mod streams;

use omniassist_server::core::Limits;
use omniassist_server::provider::WireDecoder;
use omniassist_server::provider::anthropic::AnthropicDecoder;

use crate::recordings::{Decoded, decode};

fn decoder() -> Box<dyn WireDecoder> {
    Box::new(AnthropicDecoder::new(&Limits::default()))
}

fn whole(bytes: &[u8]) -> Decoded {
    decode(decoder(), [bytes])
}
