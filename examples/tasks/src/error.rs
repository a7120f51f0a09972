use std::fmt;

/// Why a request of a user is not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError {
    /// Nobody is signed in.
    SignedOut,
    /// The title is empty or longer than this.
    Title(usize),
    /// The user has no task of this number.
    Unknown(u32),
}

impl TaskError {
    /// The HTTP status that says so.
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
