use http::HeaderMap;
use omniassist_core::secret::Secrets;

/// The shortest secret that is removed. Shorter values would also match ordinary words.
const MIN_SECRET: usize = 6;

/// Removes the values of sensitive headers and strings in the form of a key from `text`. Some servers and gateways
/// repeat the request's headers in their error pages.
pub(super) fn redact(text: &str, headers: &HeaderMap) -> String {
    let values =
        headers.values().filter(|value| value.is_sensitive()).filter_map(|value| value.to_str().ok());
    // In `Bearer KEY`, the key alone is secret too.
    let secrets = values.flat_map(|value| [value, value.rsplit(' ').next().unwrap_or(value)]);
    let secrets: Vec<String> =
        secrets.filter(|secret| secret.len() >= MIN_SECRET).map(str::to_owned).collect();
    let mut clean = Secrets::new(secrets.clone()).redact(text);
    secrets.iter().for_each(|secret| cut_begun(&mut clean, secret));
    clean
}

/// Removes the beginning of a secret at the end of `text`, since `text` may be cut within a secret.
fn cut_begun(text: &mut String, secret: &str) {
    for (length, _) in secret.char_indices().rev().filter(|(length, _)| *length >= MIN_SECRET) {
        if secret.get(..length).is_some_and(|begun| text.ends_with(begun)) {
            text.truncate(text.len() - length);
            return;
        }
    }
}
