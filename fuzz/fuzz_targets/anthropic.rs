//! Streams of Anthropic Messages.
#![no_main]

use omniassist_fuzz::{check, limits};
use omniassist_server::provider::anthropic::AnthropicDecoder;

libfuzzer_sys::fuzz_target!(|input: &[u8]| check(input, || AnthropicDecoder::new(&limits())));
