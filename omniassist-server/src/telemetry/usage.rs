use omniassist_core::Usage;
use tracing::Span;

use super::names;

pub(super) fn record_usage(span: &Span, usage: &Usage) {
    let fields = [
        (names::INPUT_TOKENS, usage.input_tokens),
        (names::OUTPUT_TOKENS, usage.output_tokens),
        (names::CACHED_INPUT_TOKENS, usage.cached_input_tokens),
        (names::CACHE_WRITE_INPUT_TOKENS, usage.cache_write_input_tokens),
        (names::REASONING_TOKENS, usage.reasoning_tokens),
    ];
    for (name, tokens) in fields {
        // Subscribers that export to OpenTelemetry support signed numbers only, and print others as text.
        if let Some(tokens) = tokens.and_then(|tokens| i64::try_from(tokens).ok()) {
            span.record(name, tokens);
        }
    }
}
