/// The treatment of tools whose definition is new or has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinPolicy {
    /// They are withheld until the application accepts them with [`Pins::accept`](super::Pins::accept).
    Ask,
    /// They are offered. A change is logged as a warning, with the difference.
    Warn,
    /// They are offered, and nothing is recorded.
    Trust,
}
