//! OAuth 2.1 for servers over HTTP, with the tokens of each user.
//!
//! `rmcp` speaks the protocol: discovery, PKCE, registration, and the checks of the issuer. Here are the parts that depend on
//! the host: who may send which request, the tokens of each user, and one authorization at a time.

mod authorizer;
mod discovery;
mod flow;
mod guarded_requests;
mod record;
mod redirect;
mod settings;
mod store;
mod user;

pub(super) use authorizer::Authorizer;
pub use settings::OAuth;
pub use store::{CredentialFuture, CredentialKey, CredentialKind, CredentialStore, MemoryCredentialStore};
pub(super) use user::{Refusal, User};
