/// The generation of a client, by what it says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Version {
    /// Up to 0.0.59, which says nothing; CopilotKit up to 1.75 is one. What it does not know ends its run with an error.
    #[default]
    V0,
    /// 1.0 and later, which say so.
    V1,
}
