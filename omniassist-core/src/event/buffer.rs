use std::collections::VecDeque;

/// Events on their way from one layer to the next, in order. Reused from call to call, so that a steady stream does
/// not allocate.
#[derive(Debug, Clone)]
pub struct EventBuf<T> {
    events: VecDeque<T>,
}

impl<T> EventBuf<T> {
    /// An empty buffer.
    #[must_use]
    pub const fn new() -> Self {
        Self { events: VecDeque::new() }
    }

    /// An empty buffer with room for so many events, and not for the four that the first one would make room for.
    #[must_use]
    pub fn with_capacity(events: usize) -> Self {
        Self { events: VecDeque::with_capacity(events) }
    }

    /// Appends an event.
    pub fn push(&mut self, event: T) {
        self.events.push_back(event);
    }

    /// Takes the oldest event.
    pub fn pop(&mut self) -> Option<T> {
        self.events.pop_front()
    }

    /// Returns `true` if no event waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the number of waiting events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Takes all events, oldest first.
    pub fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.events.drain(..)
    }
}

impl<T> Default for EventBuf<T> {
    fn default() -> Self {
        Self::new()
    }
}
