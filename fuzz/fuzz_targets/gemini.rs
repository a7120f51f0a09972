//! Streams of Google Gemini.
#![no_main]

use omniassist_fuzz::{check, limits};
use omniassist_server::provider::gemini::GeminiDecoder;

libfuzzer_sys::fuzz_target!(|input: &[u8]| check(input, || GeminiDecoder::new(&limits(), "fuzz")));
