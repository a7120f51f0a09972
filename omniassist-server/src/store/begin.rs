use bytes::Bytes;
use omniassist_core::Text;

use super::{Change, InstanceId, NotSaved, RunHead, RunId, Scope, Writer};

/// A run that is about to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewRun {
    /// The id. A repeated `begin` with the id of a run that it began gives the same writer.
    pub run: RunId,
    /// The owner.
    pub scope: Scope,
    /// The client's name of the conversation. A conversation that does not exist is created.
    pub chat: Text,
    /// The instance that drives the run. Its lease must have begun, or the run may be claimed at once.
    pub instance: InstanceId,
    /// The identity of the client's post. Default: none, so that no post repeats it.
    pub post: Option<Post>,
    /// The change of the conversation that the run answers. It is saved if the run starts, and not if it is queued.
    /// Default: none.
    pub change: Option<Change>,
    /// The wrapped key of the conversation, as for [`Change::key`]. Default: none.
    pub key: Option<Bytes>,
    /// The input that a claim needs. The store does not read it. Default: empty.
    pub input: Bytes,
    /// The data of the first segment, a consequence. Default: empty.
    pub first: Bytes,
    /// The number of the next event after the first segment. Default: 0.
    pub events: u32,
    /// The number of runs that may wait in the queue of the conversation, this one included. Default: 0, which answers
    /// [`Begun::Busy`] instead.
    pub queue: u32,
}

impl NewRun {
    /// Creates a run.
    #[must_use]
    pub fn new(run: RunId, scope: Scope, chat: impl Into<Text>, instance: InstanceId) -> Self {
        Self {
            run,
            scope,
            chat: chat.into(),
            instance,
            post: None,
            change: None,
            key: None,
            input: Bytes::new(),
            first: Bytes::new(),
            events: 0,
            queue: 0,
        }
    }
}

/// The identity of a client's post, so that a repeated post begins no second run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Post {
    /// The identity: an idempotency key of the client, or a digest of the post.
    pub key: Bytes,
    /// `true` if the post is repeated as long as the store has its run, `false` if only until that run ends.
    pub lasting: bool,
}

impl Post {
    /// Creates the identity of a post by its content. The same content after the end of its run is a new post.
    #[must_use]
    pub fn digest(key: impl Into<Bytes>) -> Self {
        Self { key: key.into(), lasting: false }
    }

    /// Creates the identity of a post by a key that the client never uses for another one.
    #[must_use]
    pub fn idempotency_key(key: impl Into<Bytes>) -> Self {
        Self { key: key.into(), lasting: true }
    }
}

/// The result of [`RunStore::begin`](super::RunStore::begin).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Begun {
    /// The run has begun. Its next segment has the position 2.
    Started(Writer),
    /// The run waits for others of its conversation, this many. It starts with a claim.
    Queued(u32),
    /// The post began this run before. Nothing was written.
    Repeats(Box<RunHead>),
    /// This run of the conversation goes on or waits. Nothing was written.
    Busy(Box<RunHead>),
    /// The change was not saved, so the run did not begin. Nothing was written.
    Refused(NotSaved),
}
