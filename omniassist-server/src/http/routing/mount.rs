use http::Uri;
use http::uri::PathAndQuery;

/// Returns the URI of a request as seen by a service that is mounted below `prefix`, or `None` for a request that is not
/// below it. It serves adapters whose framework does not do this itself.
///
/// The prefix matches whole segments, and a trailing slash does not count. `""` and `"/"` are the root, below which every
/// URI is unchanged. Paths are compared without decoding. An empty segment right after the prefix is skipped, as by
/// axum's `nest_service`. The rest of the URI is unchanged.
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
