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

    /// Returns `true` if a page of this origin comes from this host, regardless of the schemes.
    pub(super) fn is_at(&self, host: &Authority) -> bool {
        self.authority.is_of(host, &self.scheme)
    }

    /// Returns the origin as browsers send it.
    pub(super) fn serialised(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }
}
