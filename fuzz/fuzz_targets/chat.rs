//! Streams of Chat Completions.
#![no_main]

use omniassist_fuzz::{check, limits};
use omniassist_server::provider::openai::ChatDecoder;

libfuzzer_sys::fuzz_target!(|input: &[u8]| check(input, || ChatDecoder::new(&limits(), "fuzz")));
