//! The choice of a content coding by `Accept-Encoding`.

use http::{HeaderMap, header};

/// A content coding in which a file is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Brotli,
    Gzip,
    Identity,
}

/// The codings, the smallest result first.
const PREFERRED: [Coding; 3] = [Coding::Brotli, Coding::Gzip, Coding::Identity];

impl Coding {
    /// Returns the value of `Content-Encoding`, if there is one.
    pub(in crate::http) fn name(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Identity => None,
        }
    }

    fn is_named(self, name: &str) -> bool {
        let names: &[&str] = match self {
            Self::Brotli => &["br"],
            Self::Gzip => &["gzip", "x-gzip"],
            Self::Identity => &["identity"],
        };
        names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Returns the coding with the highest weight in the request. Among equal ones, the smallest result is chosen. A request
    /// that refuses every coding gets the file as it is, since that is more useful to its sender than an error.
    pub(in crate::http) fn accepted(headers: &HeaderMap) -> Self {
        let fields = headers.get_all(header::ACCEPT_ENCODING).iter();
        let fields: Vec<&str> = fields.filter_map(|value| value.to_str().ok()).collect();
        let items: Vec<(&str, f32)> =
            fields.iter().flat_map(|field| field.split(',')).filter_map(weighted).collect();
        let weight = |coding: Self| {
            let named = items.iter().find(|(name, _)| coding.is_named(name));
            let any = || items.iter().find(|(name, _)| *name == "*");
            // A request that does not list `identity` prefers what it lists.
            let unlisted = if coding == Self::Identity { f32::MIN_POSITIVE } else { 0.0 };
            named.or_else(any).map_or(unlisted, |(_, weight)| *weight)
        };
        let mut chosen = (Self::Identity, 0.0);
        for coding in PREFERRED {
            if weight(coding) > chosen.1 {
                chosen = (coding, weight(coding));
            }
        }
        chosen.0
    }
}

/// Parses an item such as `gzip;q=0.5`. Returns `None` if its weight is none from 0 to 1.
fn weighted(item: &str) -> Option<(&str, f32)> {
    let (name, parameter) = item.split_once(';').unwrap_or((item, "q=1"));
    let (key, weight) = parameter.split_once('=')?;
    let weight: f32 = weight.trim().parse().ok()?;
    let is_weight = key.trim().eq_ignore_ascii_case("q") && (0.0..=1.0).contains(&weight);
    is_weight.then_some((name.trim(), weight))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, header};

    use super::Coding::{self, Brotli, Gzip, Identity};

    fn accepted(fields: &[&'static str]) -> Coding {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(header::ACCEPT_ENCODING, HeaderValue::from_static(field));
        }
        Coding::accepted(&headers)
    }

    #[test]
    fn the_highest_weight_is_chosen() {
        for (field, coding) in [
            ("gzip, deflate, br, zstd", Brotli),
            ("gzip, deflate", Gzip),
            ("GZIP", Gzip),
            ("x-gzip", Gzip),
            ("br;q=0.5, gzip;q=0.8", Gzip),
            ("br ; Q=0.8 , gzip ; q=0.5", Brotli),
            ("br;q=0.8, gzip;q=0.8", Brotli),
            ("br;q=0.001", Brotli),
            ("identity, gzip;q=0.9", Identity),
            ("*", Brotli),
            ("br;q=0, *", Gzip),
            ("*;q=0.1, gzip;q=0.5", Gzip),
        ] {
            assert_eq!(accepted(&[field]), coding, "{field}");
        }
        assert_eq!(accepted(&["deflate", "gzip;q=0.5, br;q=0.4"]), Gzip);
    }

    #[test]
    fn a_coding_of_weight_zero_is_refused() {
        for (field, coding) in [
            ("br;q=0, gzip", Gzip),
            ("br;q=0.000, gzip;q=0", Identity),
            ("identity;q=0, gzip;q=0.1", Gzip),
            ("*;q=0", Identity),
            ("identity;q=0", Identity),
        ] {
            assert_eq!(accepted(&[field]), coding, "{field}");
        }
    }

    #[test]
    fn unknown_and_invalid_items_do_not_count() {
        for field in
            ["", ",,;", "zstd", "br;q=2", "br;q=-1", "br;q=nan", "br;q=", "br;level=1", "gzip;q=0.5;q=1"]
        {
            assert_eq!(accepted(&[field]), Identity, "{field}");
        }
        assert_eq!(accepted(&[]), Identity);
    }
}
