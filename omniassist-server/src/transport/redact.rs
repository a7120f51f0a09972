use http::HeaderMap;

/// Shorter values would blot out ordinary words.
const MIN_SECRET: usize = 6;

/// Replaces the values of sensitive headers in `text`. Some servers and gateways echo the request's headers in their
/// error pages.
pub(super) fn redact(text: &str, headers: &HeaderMap) -> String {
    let mut clean = text.to_owned();
    for value in headers.values().filter(|value| value.is_sensitive()) {
        let Ok(value) = value.to_str() else { continue };
        // `Bearer KEY`: the key alone is as secret as the whole.
        let credential = value.rsplit(' ').next().unwrap_or(value);
        for secret in [value, credential] {
            if secret.len() >= MIN_SECRET {
                clean = clean.replace(secret, "[redacted]");
                cut_begun(&mut clean, secret);
            }
        }
    }
    clean
}

/// Takes away the beginning of a secret at the end of `text`, which is often the start of something longer.
fn cut_begun(text: &mut String, secret: &str) {
    for (length, _) in secret.char_indices().rev().filter(|(length, _)| *length >= MIN_SECRET) {
        if secret.get(..length).is_some_and(|begun| text.ends_with(begun)) {
            text.truncate(text.len() - length);
            return;
        }
    }
}
