/// The treatment of a post to a chat that has a run in progress.
///
/// A run that is not stored is known to its process only. With several instances, send the requests of such a chat to the
/// same instance. [`Enqueue`](Self::Enqueue) and [`Discard`](Self::Discard) need a
/// [store](crate::AssistantBuilder::store). For a run that is not stored, such as that of an anonymous client, they are
/// [`Supersede`](Self::Supersede).
///
/// A value in the extensions of a request takes precedence over that of the assistant:
///
/// ```
/// use omniassist_server::WhenBusy;
///
/// // In a middleware, or in a handler with `PostedRun::extensions`:
/// fn of_premium_users(request: &mut http::Request<()>) {
///     request.extensions_mut().insert(WhenBusy::Enqueue);
/// }
/// ```
///
/// An answer to an approval, a form or a call of a front-end tool continues its run, and is not subject to this. If a new
/// message of the user follows the answer in one post, only [`Enqueue`](Self::Enqueue) continues the run. Otherwise the run
/// ends: outputs, inputs of forms and denials are stored with the new message, and an approved call fails without running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum WhenBusy {
    /// Stops the run in progress and those in the queue. What they wrote is kept. The new run begins when they have ended,
    /// or after [`Limits::supersede_grace`](omniassist_core::Limits::supersede_grace).
    #[default]
    Supersede,
    /// Refuses the post with 409 `chat_busy`. A run that waits for an answer is superseded.
    Reject,
    /// Stores the post. Its run begins when all earlier ones have ended, also those that wait for an answer. At most 8 runs
    /// of a chat wait; the next post gets 409 `queue_full`.
    ///
    /// The response is a stream that begins with the run. The question follows the answers before it, if it was posted
    /// alone or after the message that is being answered. It is not part of the conversation before its run begins, and
    /// never if its run is stopped in the queue.
    Enqueue,
    /// As [`Supersede`](Self::Supersede), and the question of the run in progress leaves the branch: the new one takes its
    /// place. The model is sent neither that question nor its answer. Both remain in the store, as another branch.
    Discard,
}

impl WhenBusy {
    /// Returns the value with this name: `supersede`, `reject`, `enqueue` or `discard`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "supersede" => Self::Supersede,
            "reject" => Self::Reject,
            "enqueue" => Self::Enqueue,
            "discard" => Self::Discard,
            _ => return None,
        })
    }

    /// Returns `true` if only a store makes it possible.
    pub(in crate::engine) fn needs_store(self) -> bool {
        matches!(self, Self::Enqueue | Self::Discard)
    }

    /// Returns the treatment by a run that is not stored.
    pub(in crate::engine) fn without_store(self) -> Self {
        if self.needs_store() { Self::Supersede } else { self }
    }
}

/// The treatment that a client asks for, in the extensions of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AskedWhenBusy(pub(crate) WhenBusy);
