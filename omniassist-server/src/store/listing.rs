use omniassist_core::Text;

use super::{ConversationInfo, RunId};

/// The part of a list to return: of conversations, or of usage.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The cursor that the page before returned; `None` for the first page. A cursor that no page returned gives an
    /// [invalid](super::StoreError::is_invalid) error.
    pub cursor: Option<Text>,
    /// The number of entries.
    pub at_most: usize,
}

impl Page {
    /// Returns the first page, of this length.
    #[must_use]
    pub fn first(at_most: usize) -> Self {
        Self { cursor: None, at_most }
    }

    /// Returns the page at a cursor, of this length.
    #[must_use]
    pub fn at(cursor: impl Into<Text>, at_most: usize) -> Self {
        Self { cursor: Some(cursor.into()), at_most }
    }
}

/// A page of conversations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Listing {
    /// The conversations, the one that changed last first.
    pub conversations: Vec<ConversationInfo>,
    /// The cursor of the next page; `None` if this is the last one.
    pub next: Option<Text>,
}

impl Listing {
    /// Creates a page.
    #[must_use]
    pub fn new(conversations: Vec<ConversationInfo>, next: Option<Text>) -> Self {
        Self { conversations, next }
    }
}

/// The conversations to delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delete<'a> {
    /// The conversation with this name.
    Chat(&'a str),
    /// All conversations of the owner.
    Everything,
}

/// The result of [`ConversationStore::delete`](super::ConversationStore::delete).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Deleted {
    /// The number of conversations.
    pub conversations: usize,
    /// The runs that had not ended. They can write no more.
    pub runs: Vec<RunId>,
}

impl Deleted {
    /// Creates a result.
    #[must_use]
    pub fn new(conversations: usize, runs: Vec<RunId>) -> Self {
        Self { conversations, runs }
    }
}
