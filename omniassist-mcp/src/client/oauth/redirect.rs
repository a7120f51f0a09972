use reqwest::Url;

use crate::client::McpError;

/// The parameters that the authorization server sends with the user's browser.
pub(super) struct Redirect {
    pub(super) state: String,
    pub(super) issuer: Option<String>,
    /// The code, or the error of the authorization server.
    pub(super) outcome: Result<String, String>,
}

impl Redirect {
    /// Reads the query of a redirect.
    ///
    /// # Errors
    ///
    /// Returns an error if a parameter is missing, or is there twice.
    pub(super) fn read(query: &str) -> Result<Self, McpError> {
        let unreadable = || McpError::authorization("the query of the redirect cannot be read");
        let query = query.strip_prefix('?').unwrap_or(query);
        let mut url = Url::parse("https://invalid.invalid").map_err(McpError::authorization)?;
        url.set_query(Some(query));
        let one = |name: &str| {
            let mut values =
                url.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value.into_owned());
            match (values.next(), values.next()) {
                (value, None) => Ok(value),
                _ => Err(unreadable()),
            }
        };
        let outcome = match (one("code")?, one("error")?) {
            (Some(code), None) => Ok(code),
            (_, Some(error)) => Err(error),
            (None, None) => return Err(unreadable()),
        };
        Ok(Self { state: one("state")?.ok_or_else(unreadable)?, issuer: one("iss")?, outcome })
    }
}
