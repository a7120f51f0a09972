use sha2::{Digest, Sha256};

/// The length that payment APIs accept.
const MAX_CHARS: usize = 255;

/// Returns the key of a call. Providers choose the ids of calls, so an id that is too long or has other characters is
/// replaced by its SHA-256.
pub(in crate::tool) fn of(run_id: &str, call_id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    let fits = run_id.len() + 1 + call_id.len() <= MAX_CHARS;
    if fits && !call_id.is_empty() && call_id.bytes().all(is_plain) {
        return format!("{run_id}/{call_id}");
    }
    let digest: String = Sha256::digest(call_id).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{run_id}/sha256:{digest}")
}
