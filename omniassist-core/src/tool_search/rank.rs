use super::{SearchIndex, SearchText};

/// Returns the indices of the tools that match a query, best first. Equal ones keep their order.
///
/// Only these tools influence each other's rank. Words beyond the first 32 of the query are left out.
#[must_use]
pub fn rank(query: &str, tools: &[&SearchText]) -> Vec<usize> {
    SearchIndex::default().rank(query, |_| true, tools)
}
