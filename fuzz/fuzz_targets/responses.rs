//! Streams of OpenAI Responses.
#![no_main]

use omniassist_fuzz::{check, limits};
use omniassist_server::provider::openai::ResponsesDecoder;

libfuzzer_sys::fuzz_target!(|input: &[u8]| check(input, || ResponsesDecoder::new(&limits())));
