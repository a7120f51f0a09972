//! Codes that were literals when they were written, and are text now.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The limit of different codes, and of the bytes of one. Hosts write their codes as literals, so both suffice.
const MAX_CODES: usize = 256;
const MAX_BYTES: usize = 128;

/// The host's codes that were read so far.
static CODES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Returns the code as a literal, or `None` beyond the limits. Each different code stays in memory for the life of the
/// process.
pub(super) fn literal(code: &str) -> Option<&'static str> {
    let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = codes.get(code) {
        return Some(*known);
    }
    if codes.len() >= MAX_CODES || code.len() > MAX_BYTES {
        return None;
    }
    let literal: &'static str = Box::leak(Box::from(code));
    codes.insert(literal);
    Some(literal)
}
