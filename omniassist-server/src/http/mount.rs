use http::Uri;
use http::uri::PathAndQuery;

/// Returns the URI of a request as seen by a service that is mounted below `prefix`, or `None` for a request that is not
/// below it. It serves adapters whose framework does not do this itself.
///
/// The prefix matches whole segments, and a trailing slash does not count. `""` and `"/"` are the root, below which every
/// URI stays as it is. Paths are compared without decoding. An empty segment right after the prefix is skipped, as by
/// axum's `nest_service`. The rest of the URI stays.
///
/// ```
/// use http::Uri;
/// use omniassist_server::http::strip_prefix;
///
/// let below = |path: &'static str| strip_prefix(&Uri::from_static(path), "/assistant").map(|uri| uri.to_string());
///
/// assert_eq!(below("/assistant").as_deref(), Some("/"));
/// assert_eq!(below("/assistant/manifest.json?v=1").as_deref(), Some("/manifest.json?v=1"));
/// assert_eq!(below("/assistants"), None);
/// ```
#[must_use]
pub fn strip_prefix(uri: &Uri, prefix: &str) -> Option<Uri> {
    let prefix = prefix.trim_end_matches('/');
    if prefix.is_empty() {
        return Some(uri.clone());
    }
    let rest = uri.path().strip_prefix(prefix)?;
    let rest = match rest.strip_prefix('/') {
        None if rest.is_empty() => "/",
        None => return None,
        Some(below) if below.starts_with('/') => below,
        Some(_) => rest,
    };
    let path_and_query = match uri.query() {
        None => PathAndQuery::try_from(rest),
        Some(query) => PathAndQuery::try_from(format!("{rest}?{query}")),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path_and_query.ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(uri: &'static str, prefix: &str) -> Option<String> {
        strip_prefix(&Uri::from_static(uri), prefix).map(|uri| uri.to_string())
    }

    #[test]
    fn a_prefix_ends_with_a_segment() {
        for prefix in ["/a/b/c", "/a/b/c/"] {
            let cases = [
                ("/a/b/c", Some("/")),
                ("/a/b/c?x=1", Some("/?x=1")),
                ("/a/b/c/", Some("/")),
                ("/a/b/c//", Some("/")),
                ("/a/b/c//x", Some("/x")),
                ("/a/b/c///x", Some("//x")),
                ("/a/b/c/v1/models", Some("/v1/models")),
                ("/a/b/c/%2F%20/stop?", Some("/%2F%20/stop?")),
                ("/a/b/cd", None),
                ("/a/b", None),
                ("/a/b/%63", None),
                ("/", None),
                ("*", None),
            ];
            for (uri, expected) in cases {
                assert_eq!(stripped(uri, prefix).as_deref(), expected, "{uri}");
            }
        }
    }

    #[test]
    fn every_path_is_below_the_root() {
        for prefix in ["", "/"] {
            for uri in ["/", "/x?y", "//x", "*"] {
                assert_eq!(stripped(uri, prefix).as_deref(), Some(uri));
            }
        }
    }

    #[test]
    fn scheme_and_authority_stay() {
        let stripped = stripped("https://example.org:8443/chat/x?y", "/chat");
        assert_eq!(stripped.as_deref(), Some("https://example.org:8443/x?y"));
    }
}
