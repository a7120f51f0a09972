//! Patterns of names.

/// Returns `true` if a name matches a pattern, in which `*` stands for any characters, or for none.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name) in [
            ("get*", "getOrder"),
            ("*Order", "getOrder"),
            ("get*Order*", "getMyOrderNow"),
            ("*", ""),
            ("a*a", "aa"),
            ("getOrder", "getOrder"),
            ("GET /orders/*", "GET /orders/{id}"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("get*", "forget"), ("a*a", "a"), ("getOrder", "getOrders"), ("*b*c", "cb"), ("", "a")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
