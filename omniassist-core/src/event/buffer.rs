use std::collections::VecDeque;

/// A first-in, first-out queue of events between two layers. It is reused from call to call, so that a steady stream
/// does not allocate.
#[derive(Debug, Clone)]
pub struct EventBuf<T> {
    events: VecDeque<T>,
}

impl<T> EventBuf<T> {
    /// Creates an empty buffer.
    #[must_use]
    pub const fn new() -> Self {
        Self { events: VecDeque::new() }
    }

    /// Creates an empty buffer with room for exactly this number of events. The first event would otherwise reserve
    /// room for four.
    #[must_use]
    pub fn with_capacity(events: usize) -> Self {
        Self { events: VecDeque::with_capacity(events) }
    }

    /// Appends an event.
    pub fn push(&mut self, event: T) {
        self.events.push_back(event);
    }

    /// Removes and returns the oldest event.
    pub fn pop(&mut self) -> Option<T> {
        self.events.pop_front()
    }

    /// Returns the oldest event.
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.events.front_mut()
    }

    /// Returns `true` if the buffer is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Removes all events, oldest first.
    pub fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.events.drain(..)
    }
}

impl<T> Extend<T> for EventBuf<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, events: I) {
        self.events.extend(events);
    }
}

impl<T> Default for EventBuf<T> {
    fn default() -> Self {
        Self::new()
    }
}
