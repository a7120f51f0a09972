//! The faults of a provider, from its bytes to its sockets. Each has a number and at least one test with that number in
//! its name (`fault_NN_…`). The tests run the real providers over a real socket, most with a whole assistant. [`ask`]
//! asserts that every run has exactly one terminal event and leaves a conversation that can continue.
//!
//! | # | fault | tests in this folder | other tests |
//! |---|---|---|---|
//! | 1 | split at every byte | `framing` | core `sse::chunking`, `openai::fixtures` |
//! | 2 | CR and LF in two reads | `framing` | core `sse::chunking` |
//! | 3 | CRLF, lone CR, mixed | `framing` | core `sse::framing` |
//! | 4 | byte order mark | `framing` | core `sse::framing` |
//! | 5 | no space, no colon, unknown fields | `framing` | core `sse::framing` |
//! | 6 | data in several lines | `framing` | core `sse::framing` |
//! | 7 | comments | `framing` | `transport::deadlines` |
//! | 8 | malformed keep-alives | `framing` | `openai::decode_responses` |
//! | 9 | undocumented events | `framing` | `openai::decode_responses` |
//! | 10 | unknown words, nulls | `framing` | `openai::decode_chat` |
//! | 11 | `[DONE]` missing, twice, early | `framing` | `openai::decode_chat` |
//! | 12 | last event without a blank line | `framing` | core `sse::framing` |
//! | 13 | endless line, endless event | `resources` (3) | core `sse::limits`, `transport::answers` |
//! | 14 | 100,000 one-character deltas | `resources` | |
//! | 15 | invalid UTF-8 | `framing` | core `sse::framing` |
//! | 16 | gzip, truncated gzip, bomb | `framing`, `resources` | `transport::gzip` |
//! | 17 | page under 200 | `framing` | `transport::answers` |
//! | 18 | JSON error under 200 | `framing` | `transport::answers` |
//! | 19 | error as the first event | `framing` | `transport::repeats` |
//! | 20 | error after content | `framing` | `transport::repeats` |
//! | 21 | error in two shapes | `framing` | `openai::decode_responses` |
//! | 22 | error chunk before `[DONE]` | `framing` | `openai::decode_chat` |
//! | 23 | end within text | `meaning` | `openai::cuts` |
//! | 24 | end within arguments | `meaning` | `openai::cuts` |
//! | 25 | token limit within arguments | `meaning` | `openai::decode_chat`, core `machine` |
//! | 26 | broken JSON of a finished call | `meaning` | core `machine` |
//! | 27 | no arguments | `meaning` | `openai::fixtures` |
//! | 28 | arguments as an object | `meaning` | `openai::fixtures` |
//! | 29 | interleaved deltas | `meaning` | `openai::decode_chat` |
//! | 30 | one index for all, or none | `meaning` | `openai::decode_chat` |
//! | 31 | ids and names late or repeated | `meaning` | `openai::decode_chat` |
//! | 32 | rotating item ids | `meaning` | `openai::decode_responses` |
//! | 33 | lost end of a call | `meaning` | `openai::decode_responses` |
//! | 34 | Anthropic: spliced `message_start` | | `anthropic::decode` |
//! | 35 | deltas of unknown items | `meaning` | |
//! | 36 | Gemini: content after a finish | | `gemini::decode` |
//! | 37 | Gemini: streamed `partialArgs` | | `gemini::decode` |
//! | 38 | finish reason and calls disagree | `meaning` | `openai::decode_chat` |
//! | 39 | empty deltas | `meaning` | `openai::decode_chat` |
//! | 40 | finish repeated, usage anywhere | `meaning` | `openai::decode_chat` |
//! | 41 | empty turns | `meaning` | `openai::decode_chat` |
//! | 42 | several candidates | `meaning` | `openai::decode_chat` |
//! | 43 | sealed reasoning | `meaning` | `openai::encode` |
//! | 44 | tools that the provider runs | `meaning` | `openai::decode_responses` |
//! | 45 | unknown tools | `meaning` | core `machine` |
//! | 46 | endless loop | `meaning` | core `machine` |
//! | 47 | 429 with every `Retry-After` | `transport` | `transport::retry_after`, `transport::repeats` |
//! | 48 | 5xx and 529 before any byte | `transport` | `transport::repeats` |
//! | 49 | 400, 401, 403, 404 | `transport`, `recorded_errors` | `transport::repeats` |
//! | 50 | failure after the first output | `transport` | `transport::repeats`, `fallback` |
//! | 51 | slow first byte | `transport` | `transport::deadlines` |
//! | 52 | stall | `transport` | `transport::deadlines` |
//! | 53 | dribble | `transport` | `engine` |
//! | 54 | RST; `RST_STREAM`, `GOAWAY` | `transport` | `transport::http2` |
//! | 55 | dead pooled connection | `transport` | `transport::repeats` |
//! | 56 | no name, no route, proxy 407 | `transport` | `transport::network`, `transport::deadlines` |
//! | 56 | unknown authority, expired certificate, wrong host name | `tls` | |
//! | 56 | TLS handshake cut, reset, stalled; no TLS at all | `tls` | |
//! | 56 | plain HTTP to a port with TLS | `tls` | |
//! | 57 | redirects | `transport` | |
//! | 58 | endless head, 1xx, trailers | `transport` | `transport::framing` |
//! | 59 | sends on after a close | `transport` | `transport::drops` |
//!
//! A conversation that is too long for the model is in `overflow`.

#![allow(
    clippy::needless_pass_by_value,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "`json!` values are built where they are used, and the tests print measurements"
)]

mod ask;
mod framing;
mod meaning;
mod overflow;
mod recorded_errors;
mod resources;
mod tls;
mod transport;

pub(crate) use ask::limits;
pub(crate) use tls::{Authority, acceptor, authority};
