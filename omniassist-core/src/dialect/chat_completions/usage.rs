use bytes::{BufMut, BytesMut};

use crate::Usage;
use crate::dialect::json_write;

/// Writes usage in this API's terms; a count that was not reported beside others is 0. `false`, and nothing written,
/// where nothing was reported.
pub(super) fn write(usage: &Usage, out: &mut BytesMut) -> bool {
    if *usage == Usage::default() {
        return false;
    }
    let (input, output) = (usage.input_tokens.unwrap_or(0), usage.output_tokens.unwrap_or(0));
    let fields = [
        ("{\"prompt_tokens\":", input),
        (",\"completion_tokens\":", output),
        (",\"total_tokens\":", usage.total_tokens.unwrap_or(input.saturating_add(output))),
    ];
    let details = [
        (",\"prompt_tokens_details\":{\"cached_tokens\":", usage.cached_input_tokens),
        (",\"completion_tokens_details\":{\"reasoning_tokens\":", usage.reasoning_tokens),
    ];
    for (key, tokens) in fields {
        out.put_slice(key.as_bytes());
        json_write::number(out, tokens);
    }
    for (key, tokens) in details {
        if let Some(tokens) = tokens {
            out.put_slice(key.as_bytes());
            json_write::number(out, tokens);
            out.put_u8(b'}');
        }
    }
    out.put_u8(b'}');
    true
}
