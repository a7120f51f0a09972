/// The version of a client's protocol, as stated in its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Version {
    /// Up to 0.0.59, including CopilotKit up to 1.75. These clients state no version and end the run with an error at
    /// unknown events.
    #[default]
    V0,
    /// 1.0 and later.
    V1,
}
