//! URLs of files that may be sent to a provider.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns the id in the URL of a file stored by an OmniAssist server: `file_` and 32 lowercase hexadecimal digits,
/// after `/files/`. The URL is an absolute path, or an `http:` or `https:` URL.
///
/// ```
/// use omniassist_core::message::stored_file_id;
///
/// let id = "file_0123456789abcdef0123456789abcdef";
/// assert_eq!(stored_file_id(&format!("/assistant/files/{id}")), Some(id));
/// assert_eq!(stored_file_id("https://example.com/picture.png"), None);
/// ```
#[must_use]
pub fn stored_file_id(url: &str) -> Option<&str> {
    let is_path = url.starts_with('/') && !url.starts_with("//");
    if !is_path && !url.starts_with("https://") && !url.starts_with("http://") {
        return None;
    }
    let (_, id) = url.rsplit_once("/files/")?;
    let digits = id.strip_prefix("file_")?;
    let is_id = digits.len() == 32 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    is_id.then_some(id)
}

/// Returns `true` for a `data:`, `http:` or `https:` URL whose host is not link-local.
///
/// A provider may run in the server's own network and fetch the file from there. Cloud machines serve their credentials
/// at link-local addresses, and `file:` would name a file of the provider's machine.
pub(crate) fn is_allowed(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once(':') else { return false };
    if scheme.eq_ignore_ascii_case("data") {
        return true;
    }
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return false;
    }
    // Parsers drop control characters and read `\` as `/`, so such a URL could name another host.
    if url.contains(|c: char| c.is_ascii_control() || c == ' ' || c == '\\') {
        return false;
    }
    let Some(rest) = rest.strip_prefix("//") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').and_then(|(ip, _)| ip.parse().ok()).is_some_and(is_allowed_v6),
        None => is_allowed_name(host.split_once(':').map_or(host, |(name, _)| name)),
    }
}

fn is_allowed_v6(ip: Ipv6Addr) -> bool {
    let is_v4_link_local = ip.to_ipv4().is_some_and(|ip| ip.is_link_local());
    ip.segments()[0] & 0xffc0 != 0xfe80 && !is_v4_link_local
}

/// Escapes and non-ASCII characters are rejected, because a parser would decode them to a name that was not checked.
fn is_allowed_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_plain = name.is_ascii() && !name.contains('%') && !name.is_empty();
    is_plain && ipv4(name).is_none_or(|ip| !ip.is_link_local())
}

/// Parses an IPv4 address in any spelling that URL parsers accept: one to four numbers, decimal, octal or hexadecimal.
/// The last number fills the remaining bytes.
fn ipv4(name: &str) -> Option<Ipv4Addr> {
    let numbers = name.split('.').map(number).collect::<Option<Vec<u32>>>()?;
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|number| *number > 255) {
        return None;
    }
    let start = first.iter().zip([24, 16, 8]).fold(0, |ip, (number, shift)| ip | (number << shift));
    Some(Ipv4Addr::from(start | last))
}

fn number(digits: &str) -> Option<u32> {
    let lower = digits.to_ascii_lowercase();
    match (lower.strip_prefix("0x"), lower.strip_prefix('0')) {
        (Some(""), _) | (None, Some("")) => Some(0),
        (Some(hex), _) => u32::from_str_radix(hex, 16).ok(),
        (None, Some(octal)) => u32::from_str_radix(octal, 8).ok(),
        (None, None) => digits.parse().ok(),
    }
}
