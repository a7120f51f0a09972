use bytes::Bytes;
use omniassist_core::Text;

/// The beginning of the ids of [entries](StoredMessage::is_entry). A posted id has no control characters.
pub(crate) const ENTRY: &str = "\u{1f}ui/";

/// A message of a stored conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredMessage {
    /// The id, which the client chose. It is unique in its conversation.
    pub id: Text,
    /// The message before it; `None` for a first message. Messages with one parent are siblings: edits of a question, or
    /// other answers to it.
    pub parent: Option<Text>,
    /// The content. The store does not read it.
    pub body: Bytes,
    /// The time of the first save, in milliseconds since 1970. The store sets it.
    pub created_ms: u64,
}

impl StoredMessage {
    /// Creates a message.
    #[must_use]
    pub fn new(id: impl Into<Text>, parent: Option<Text>, body: impl Into<Bytes>) -> Self {
        Self { id: id.into(), parent, body: body.into(), created_ms: 0 }
    }

    /// Returns `true` for an entry of a [history of components](crate::afs), which is no message of the chat. It has no
    /// parent and is on no branch that is shown. Its id begins with the control character U+001F and `ui/`, and no client
    /// can post such an id.
    #[must_use]
    pub fn is_entry(&self) -> bool {
        self.id.starts_with(ENTRY)
    }
}

/// A change of a conversation. All of it is saved, or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Change {
    /// Messages, each after its parent. One with a known id replaces the content of that message; its parent and time
    /// stay. Default: none.
    pub messages: Vec<StoredMessage>,
    /// The message at the end of the branch that is shown. Default: `None`, which keeps it.
    pub head: Option<Text>,
    /// The title. Default: `None`, which keeps it.
    pub title: Option<Text>,
    /// Content of the application. The store does not read it. Default: `None`, which keeps it.
    pub meta: Option<Bytes>,
    /// The version that the conversation must have; 0 for one that does not exist. Default: `None`, for any.
    pub version: Option<u32>,
    /// The wrapped key with which an encrypting store has encrypted the change. A new conversation gets it. One that has
    /// another key, or none, is not changed. [`settle`](super::RunStore::settle) does not read it. Default: `None`, which is
    /// not compared.
    pub key: Option<Bytes>,
}

impl Change {
    /// Creates a change that adds messages and shows the branch that ends with the last of them.
    #[must_use]
    pub fn messages(messages: impl Into<Vec<StoredMessage>>) -> Self {
        let messages = messages.into();
        let head = messages.last().map(|message| message.id.clone());
        Self { messages, head, ..Self::default() }
    }
}

/// The reason why a change was not saved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSaved {
    /// The conversation does not have this message, which the change names as a parent or as the head.
    UnknownMessage(Text),
    /// The conversation has this version.
    Conflict(u32),
    /// The conversation does not have the key of the change, or of the run.
    OtherKey,
    /// The conversation was deleted.
    Deleted,
}

/// The result of [`ConversationStore::save`](super::ConversationStore::save).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Saved {
    /// The change is saved. The conversation has this version, which each change raises.
    Version(u32),
    /// Nothing was saved.
    Refused(NotSaved),
}

/// The part of a conversation to load.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Window {
    /// The branch. Default: [`Branch::Head`].
    pub branch: Branch,
    /// The message of the branch before which to end. A branch without it loads nothing. Default: none.
    pub before: Option<Text>,
    /// The number of messages, counted from the end. Default: no limit.
    pub at_most: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self { branch: Branch::Head, before: None, at_most: usize::MAX }
    }
}

/// The messages of a conversation that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Branch {
    /// The branch that is shown: the head, and the messages before it.
    #[default]
    Head,
    /// This message, and the messages before it.
    Leaf(Text),
    /// All branches, in the order in which their messages were saved.
    All,
}

/// A stored conversation, without its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversationInfo {
    /// The client's name of the conversation.
    pub chat: Text,
    /// The title.
    pub title: Option<Text>,
    /// The message at the end of the branch that is shown.
    pub head: Option<Text>,
    /// The number of changes.
    pub version: u32,
    /// Content of the application.
    pub meta: Option<Bytes>,
    /// The wrapped key of the content. Default: `None`, for content that is not encrypted.
    pub key: Option<Bytes>,
    /// The time of the first save, in milliseconds since 1970.
    pub created_ms: u64,
    /// The time of the last save, in milliseconds since 1970.
    pub updated_ms: u64,
}

impl ConversationInfo {
    /// Creates a conversation without content, at this time in milliseconds since 1970.
    #[must_use]
    pub fn new(chat: impl Into<Text>, now_ms: u64) -> Self {
        Self {
            chat: chat.into(),
            title: None,
            head: None,
            version: 0,
            meta: None,
            key: None,
            created_ms: now_ms,
            updated_ms: now_ms,
        }
    }
}

/// A part of a stored conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conversation {
    /// The conversation.
    pub info: ConversationInfo,
    /// Its messages, the oldest first.
    pub messages: Vec<StoredMessage>,
    /// `true` if the branch has messages before these.
    pub more: bool,
}

impl Conversation {
    /// Creates a part of a conversation.
    #[must_use]
    pub fn new(info: ConversationInfo, messages: Vec<StoredMessage>, more: bool) -> Self {
        Self { info, messages, more }
    }
}
