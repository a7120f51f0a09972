use std::collections::BTreeMap;

use rmcp::ErrorData;

use super::refusal;

/// The items of a page, and the cursor of the next one if there is one.
pub(super) type Found<T> = (Vec<T>, Option<String>);

/// Returns the items whose names come after this one, in their order.
///
/// # Errors
///
/// Returns an error if there is no item of this name.
pub(super) fn page<T>(
    all: BTreeMap<&str, T>,
    after: Option<&str>,
    size: usize,
) -> Result<Found<T>, ErrorData> {
    if after.is_some_and(|after| !all.contains_key(after)) {
        return Err(refusal::unknown_cursor());
    }
    let mut left = all.into_iter().filter(|(name, _)| after.is_none_or(|after| *name > after));
    let page: Vec<_> = left.by_ref().take(size).collect();
    let more = left.next().and_then(|_| page.last().map(|(name, _)| (*name).to_owned()));
    Ok((page.into_iter().map(|(_, item)| item).collect(), more))
}
