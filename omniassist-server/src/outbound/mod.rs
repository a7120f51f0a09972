//! Requests to other servers, with protection from requests to internal ones.
//!
//! An [`OutboundClient`] sends requests under an [`OutboundPolicy`]. Use it where someone else has a say in the URL: a
//! client, a model, a document, or the redirect of a server. For a provider of models, use its own settings.
//!
//! - A host is resolved once. The client connects to the checked addresses, so that an answer which changes between check
//!   and connection (DNS rebinding) has no effect.
//! - Loopback, private, shared, link-local, documentation and multicast networks are refused, and the addresses at which
//!   clouds serve credentials. So are their forms as IPv6 addresses: IPv4-mapped, NAT64, 6to4, Teredo.
//! - Each spelling of an IPv4 address (`2130706433`, `0x7f.1`) is read as the client would read it.
//! - Redirects are not followed. Time and bytes are bounded.
//!
//! ```no_run
//! use bytes::Bytes;
//! use omniassist_server::outbound::{OutboundClient, OutboundPolicy};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = OutboundClient::new(OutboundPolicy::new().only_hosts(["api.example.com"]))?;
//! let response = client.send(http::Request::get("https://api.example.com/status").body(Bytes::new())?).await?;
//! assert!(response.status().is_success());
//!
//! let refused = client.send(http::Request::get("https://169.254.169.254/").body(Bytes::new())?).await;
//! assert!(refused.unwrap_err().is_refused());
//! # Ok(())
//! # }
//! ```

mod address;
mod client;
mod clients;
mod error;
mod guard;
mod policy;
mod response;
mod tls;

pub use client::OutboundClient;
pub(crate) use clients::Clients;
pub use error::OutboundError;
#[cfg(all(feature = "files", feature = "__transport"))]
pub(crate) use guard::parse;
pub use policy::OutboundPolicy;
pub use response::OutboundResponse;
pub(crate) use tls::Roots;
