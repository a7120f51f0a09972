use super::authority::Authority;

/// The origin of a page: a scheme, a host, and a port if it is not the scheme's default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    scheme: String,
    authority: Authority,
}

impl Origin {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let mut letters = scheme.bytes();
        let starts_well = letters.next().is_some_and(|byte| byte.is_ascii_alphabetic());
        if !starts_well
            || !letters.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        {
            return None;
        }
        let scheme = scheme.to_ascii_lowercase();
        let authority = Authority::parse(authority)?.without_default_port(&scheme);
        Some(Self { scheme, authority })
    }

    /// Returns `true` if a page of this origin comes from this host, whatever the schemes.
    pub(super) fn is_at(&self, host: &Authority) -> bool {
        self.authority.is_of(host, &self.scheme)
    }

    /// Returns the origin as browsers send it.
    pub(super) fn serialised(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_serialised_as_browsers_do() {
        for (text, form) in [
            ("https://app.example.com", "https://app.example.com"),
            ("HTTPS://App.Example.com:443", "https://app.example.com"),
            ("http://localhost:80", "http://localhost"),
            ("http://localhost:443", "http://localhost:443"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("tauri://localhost", "tauri://localhost"),
            ("chrome-extension://abcdefghijklmnop", "chrome-extension://abcdefghijklmnop"),
        ] {
            assert_eq!(Origin::parse(text).unwrap().serialised(), form);
        }
        for text in [
            "",
            "null",
            "*",
            "app.example.com",
            "https://",
            "https://a/",
            "https://a/b",
            "https://u@a",
            "://a",
        ] {
            assert_eq!(Origin::parse(text), None, "{text}");
        }
    }

    #[test]
    fn pages_match_hosts_with_the_same_name_and_port() {
        let at = |origin, host| Origin::parse(origin).unwrap().is_at(&Authority::parse(host).unwrap());
        for (origin, host) in [
            ("https://a.com", "a.com"),
            ("https://a.com", "a.com:443"),
            ("http://a.com", "a.com"),
            ("http://a.com", "a.com:80"),
            ("http://a.com:8080", "A.com:8080"),
            ("http://[::1]:3000", "[0::1]:3000"),
        ] {
            assert!(at(origin, host), "{origin} {host}");
        }
        for (origin, host) in [
            ("https://a.com", "b.com"),
            ("https://a.com", "a.com:80"),
            ("http://a.com", "a.com:443"),
            ("http://a.com:8080", "a.com"),
            ("http://a.com:8080", "a.com:8081"),
            ("http://localhost:3000", "127.0.0.1:3000"),
        ] {
            assert!(!at(origin, host), "{origin} {host}");
        }
    }
}
