use std::collections::HashMap;
use std::fmt;

use crate::TaskError;

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct User(String);

impl User {
    /// Returns the unique name of the user.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// The users by their tokens.
pub struct Users(HashMap<String, User>);

impl Users {
    /// Reads users in the form `ann=token,bo=another`.
    #[must_use]
    pub fn parse(pairs: &str) -> Self {
        let pairs = pairs.split(',').filter_map(|pair| pair.split_once('='));
        Self(pairs.map(|(name, token)| (token.trim().to_owned(), User(name.trim().to_owned()))).collect())
    }

    /// Returns the user with the token in an `Authorization` header.
    ///
    /// # Errors
    ///
    /// Returns [`TaskError::SignedOut`] if there is no header or no user with the token.
    pub fn signed_in(&self, authorization: Option<&str>) -> Result<User, TaskError> {
        let token = authorization.and_then(|value| value.strip_prefix("Bearer "));
        token.and_then(|token| self.0.get(token)).cloned().ok_or(TaskError::SignedOut)
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The tokens are secrets.
        f.debug_set().entries(self.0.values()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_user() {
        let users = Users::parse("ann=a-token, bo=b-token");
        assert_eq!(users.signed_in(Some("Bearer b-token")).unwrap().name(), "bo");
        for header in [None, Some("a-token"), Some("Bearer "), Some("Bearer x"), Some("Basic a-token")] {
            assert_eq!(users.signed_in(header), Err(TaskError::SignedOut), "{header:?}");
        }
        assert!(!format!("{users:?}").contains("token"));
    }
}
