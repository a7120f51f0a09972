use std::fmt;

/// An error of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError {
    /// The request has no valid token.
    SignedOut,
    /// The title is empty or has more characters than this.
    Title(usize),
    /// The user has no task with this number.
    Unknown(u32),
}

impl TaskError {
    /// Returns the HTTP status of the error.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::SignedOut => 401,
            Self::Title(_) => 422,
            Self::Unknown(_) => 404,
        }
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SignedOut => f.write_str("Please sign in."),
            Self::Title(most) => write!(f, "A title has 1 to {most} characters."),
            Self::Unknown(id) => write!(f, "There is no task {id}."),
        }
    }
}

impl std::error::Error for TaskError {}
