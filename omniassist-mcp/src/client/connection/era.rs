/// The versions of the protocol that a server speaks.
#[derive(Clone, Copy)]
pub(in crate::client) enum Era {
    /// Version 2026-07-28 is tried first, then the earlier ones.
    Unknown,
    /// Earlier versions. Some such servers do not answer the question for the newer one, which costs 10 s.
    WithInitialize,
}
