//! Downloads of the files that a conversation names by URL, with protection from requests to internal servers.
//!
//! ```text
//! messages → Fetcher::load → download: check of the URL → Guard (addresses) → connection → limits, media type
//!                                ↑                 redirect                      │
//!                                └───────────────────────────────────────────────┘
//! ```

mod address;
mod conversation;
mod error;
mod fetcher;
mod guard;
mod policy;

pub(crate) use error::FetchError;
pub(crate) use fetcher::Fetcher;
pub use policy::FetchPolicy;
