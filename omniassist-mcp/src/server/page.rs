use std::collections::BTreeMap;

/// Returns the items whose names come after this one, in their order, and the cursor of the next page if there is one.
pub(super) fn page<T>(all: BTreeMap<&str, T>, after: Option<&str>, size: usize) -> (Vec<T>, Option<String>) {
    let mut left = all.into_iter().filter(|(name, _)| after.is_none_or(|after| *name > after));
    let page: Vec<_> = left.by_ref().take(size).collect();
    let more = left.next().and_then(|_| page.last().map(|(name, _)| (*name).to_owned()));
    (page.into_iter().map(|(_, item)| item).collect(), more)
}
