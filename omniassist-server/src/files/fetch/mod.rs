//! Downloads of the files that a conversation names by URL, with protection from requests to internal servers.
//!
//! ```text
//! messages → Fetcher::load → download: OutboundClient → limits, media type
//!                                ↑    redirect    │
//!                                └────────────────┘
//! ```

mod conversation;
mod error;
mod fetcher;
mod policy;

pub(crate) use error::FetchError;
pub(crate) use fetcher::Fetcher;
pub use policy::FetchPolicy;
