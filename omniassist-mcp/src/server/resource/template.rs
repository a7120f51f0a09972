use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

/// The address of one resource, or of all that fit a template.
#[derive(Debug, Clone)]
pub(super) struct UriTemplate {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    /// `takes_slashes` is true for `{+name}`.
    Parameter {
        name: String,
        takes_slashes: bool,
    },
}

impl UriTemplate {
    /// Takes a URI as it is.
    pub(super) fn exact(uri: String) -> Self {
        Self { parts: vec![Part::Text(uri.clone())], text: uri }
    }

    /// Reads a template. What is no expression of the form `{name}` or `{+name}` stands for itself.
    pub(super) fn read(text: String) -> Self {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        let mut literal = String::new();
        while let Some((before, after)) = rest.split_once('{') {
            literal.push_str(before);
            match after.split_once('}').and_then(|(inner, after)| Some((parameter(inner)?, after))) {
                Some((parameter, after)) => {
                    if !literal.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut literal)));
                    }
                    parts.push(parameter);
                    rest = after;
                }
                None => {
                    literal.push('{');
                    rest = after;
                }
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Self { text, parts }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn is_template(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Parameter { .. }))
    }

    /// Returns the parameters in a URI, decoded. `None` if the URI does not fit.
    pub(super) fn read_uri(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        let mut found = BTreeMap::new();
        let mut rest = uri;
        let mut parts = self.parts.as_slice();
        while let [part, after @ ..] = parts {
            parts = after;
            match part {
                Part::Text(text) => rest = rest.strip_prefix(text.as_str())?,
                Part::Parameter { name, takes_slashes } => {
                    let value = match after {
                        [Part::Text(text)] => rest.strip_suffix(text.as_str())?,
                        [Part::Text(text), ..] => rest.split_once(text.as_str())?.0,
                        _ => rest,
                    };
                    if value.is_empty() || (!takes_slashes && value.contains(['/', '?', '#'])) {
                        return None;
                    }
                    rest = rest.get(value.len()..)?;
                    let value = percent_decode_str(value).decode_utf8().ok()?;
                    found.insert(name.clone(), value.into_owned());
                }
            }
        }
        rest.is_empty().then_some(found)
    }
}

/// Reads the inner part of an expression.
fn parameter(inner: &str) -> Option<Part> {
    let name = inner.strip_prefix('+').unwrap_or(inner);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.');
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    Some(Part::Parameter { name: name.to_owned(), takes_slashes: name.len() < inner.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
        Some(UriTemplate::read(template.to_owned()).read_uri(uri)?.into_iter().collect())
    }

    fn found(parameters: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        Some(parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn parameters_are_read_and_decoded() {
        assert_eq!(read("a://{id}/data", "a://12%203/data"), found(&[("id", "12 3")]));
        assert_eq!(read("a://{x}/{y}", "a://1/2"), found(&[("x", "1"), ("y", "2")]));
        assert_eq!(read("a://{+path}.md", "a://b/c.md.md"), found(&[("path", "b/c.md")]));
        assert_eq!(read("a://{id}", "a://%C3%BC"), found(&[("id", "ü")]));
        assert_eq!(read("a://{not closed", "a://{not closed"), found(&[]));
        assert_eq!(read("a://{?q}", "a://{?q}"), found(&[]));
    }

    #[test]
    fn other_uris_do_not_fit() {
        for uri in [
            "a://",
            "a:///data",
            "a://1/2/data",
            "a://1/datas",
            "b://1/data",
            "a://%ff/data",
            "a://1?x/data",
            "",
        ] {
            assert_eq!(read("a://{id}/data", uri), None, "{uri}");
        }
        assert_eq!(read("a://{x}{y}", "a://12"), None);
    }
}
