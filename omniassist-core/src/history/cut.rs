//! The position at which a window begins.

/// A user message with all messages up to the next one, before the last user message.
pub(super) trait Exchange {
    /// The estimated tokens of the conversation before it.
    fn at(&self) -> u64;
    /// The estimated tokens saved by removing it.
    fn saved(&self) -> u64;
}

/// Returns the number of exchanges to remove for an excess of tokens: up to the first that crosses a multiple of the
/// stride and fits, or all.
pub(super) fn cut<E: Exchange>(exchanges: &[E], stride: u64, excess: u64) -> usize {
    let mut saved = 0;
    for at in 0..exchanges.len() {
        if saved >= excess && crosses(exchanges, at, stride) {
            return at;
        }
        saved += exchanges.get(at).map_or(0, Exchange::saved);
    }
    exchanges.len()
}

/// Returns `true` for the first exchange after a multiple of the stride.
pub(super) fn crosses<E: Exchange>(exchanges: &[E], at: usize, stride: u64) -> bool {
    let line = |at: usize| exchanges.get(at).map(|exchange| exchange.at() / stride.max(1));
    at == 0 || line(at) != line(at - 1)
}
