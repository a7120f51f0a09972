//! The addresses of files that a provider may be sent.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns `true` for a `data:`, `http:` or `https:` URL whose host is not link-local.
///
/// A provider may run in the server's own network and fetch the file from there. Link-local addresses are where cloud
/// machines keep their credentials, and `file:` would name a file of the provider's machine.
pub(crate) fn is_allowed(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once(':') else { return false };
    if scheme.eq_ignore_ascii_case("data") {
        return true;
    }
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return false;
    }
    // Parsers drop control characters and read `\` as `/`, so such an address could mean another host.
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

/// Escapes and other characters than ASCII are refused: a parser would decode them to a name that was not checked.
fn is_allowed_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_plain = name.is_ascii() && !name.contains('%') && !name.is_empty();
    is_plain && ipv4(name).is_none_or(|ip| !ip.is_link_local())
}

/// Reads an IPv4 address in any spelling that URL parsers accept: one to four numbers, decimal, octal or hexadecimal, of
/// which the last fills the bytes that are left.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_on_the_web_and_data_are_allowed() {
        for url in [
            "https://a.example/x.png",
            "HTTP://a.example",
            "https://user:pass@a.example:8443/x?y#z",
            "http://127.0.0.1:8000/x.png",
            "http://10.0.0.1/",
            "http://[::1]:80/x",
            "https://169.253.1.1/",
            "https://1690.254.1.1.example/",
            "data:image/png;base64,AAAA",
            "https://a.example/169.254.169.254",
        ] {
            assert!(is_allowed(url), "{url}");
        }
    }

    #[test]
    fn other_schemes_and_link_local_hosts_are_refused() {
        for url in [
            "",
            "x.png",
            "//169.254.169.254/",
            "file:///etc/passwd",
            "FILE:///etc/passwd",
            "ftp://a.example/",
            "gopher://a.example/",
            "gs://bucket/x",
            "https:a.example",
            "http:///x",
            "http://169.254.169.254/latest/meta-data",
            "http://169.254.169.254./",
            "http://169.254.0.0",
            "http://169.254.255.255:80",
            "http://a.example@169.254.169.254/",
            "http://2852039166/",
            "http://0xA9FEA9FE/",
            "http://0xa9.0xfe.0xa9.0xfe/",
            "http://0251.0376.0251.0376/",
            "http://169.254.43518/",
            "http://169.16689662/",
            "http://%31%36%39.254.169.254/",
            "http://１６９.254.169.254/",
            "http://169\u{3002}254.169.254/",
            "http:\\\\169.254.169.254/",
            "http://169.254.169.254\\@a.example/",
            "http://1\t69.254.169.254/",
            " http://169.254.169.254/",
            "http://[fe80::1]/",
            "http://[febf::1]/",
            "http://[::ffff:169.254.169.254]/",
            "http://[::169.254.169.254]/",
            "http://[fe80::1%25eth0]/",
            "http://[not-an-ip]/",
        ] {
            assert!(!is_allowed(url), "{url}");
        }
    }
}
