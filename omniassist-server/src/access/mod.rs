//! Authentication, allowed origins and allowed hosts of the HTTP service.
//!
//! Every request to [`AssistantService`](crate::http::AssistantService) is checked here before its body is read. Runs that
//! the application starts itself ([`Assistant::run`](crate::Assistant::run)) are not.
//!
//! # Authentication
//!
//! A request acts for a [`Principal`](crate::Principal), which comes from one of two places:
//!
//! - **Middleware** of the application inserts it into the request's extensions.
//! - **A hook**, [`AssistantBuilder::authenticate`](crate::AssistantBuilder::authenticate), returns it: a closure, or an
//!   implementation of [`Authenticate`]. It takes precedence over the extensions.
//!
//! A request without a principal is answered 401, unless
//! [`AssistantBuilder::allow_anonymous`](crate::AssistantBuilder::allow_anonymous) is set. A middleware can admit a single
//! request with [`Principal::anonymous`](crate::Principal::anonymous).
//!
//! ```
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::{Assistant, AuthError, AuthRequest, Principal};
//!
//! async fn session(request: AuthRequest) -> Result<Option<Principal>, AuthError> {
//!     match request.bearer() {
//!         Some("secret-of-ada") => Ok(Some(Principal::new("ada"))),
//!         Some(_) => Err(AuthError::unauthenticated()),
//!         None => Ok(None),
//!     }
//! }
//!
//! let assistant = Assistant::builder(ScriptedProvider::new()).authenticate(session).build()?;
//! # Ok::<(), omniassist_server::Error>(())
//! ```
//!
//! # Allowed origins
//!
//! Pages of the server's own origin may use the assistant, and so may clients that are not browsers. Browsers send
//! `Sec-Fetch-Site`; if it names another site or another origin, anything but `GET` and `HEAD`, and each WebSocket, is
//! answered 403 `origin_not_allowed`. Without that header, `Origin` must name the requested host. A proxy that changes
//! `Host` is no problem for current browsers. For others, or over plain HTTP, list the origin of the pages.
//!
//! Other origins are listed with [`allow_origin`](crate::AssistantBuilder::allow_origin), or with
//! [`cors`](crate::AssistantBuilder::cors) if they need cookies or further headers. Without a list, no `Access-Control-…`
//! header is sent, so that pages of other origins cannot read any response. A CORS layer of the application does not
//! replace the list.
//!
//! # Allowed hosts
//!
//! With [`allowed_hosts`](crate::AssistantBuilder::allowed_hosts), the server answers only to those names; others are
//! answered 421 `host_not_allowed`. Without a list any name is accepted, except on connections from the same machine (if
//! the adapter provides the [`PeerAddr`]). Those must name this machine: `localhost` or a loopback address. A server
//! behind a proxy on the same machine therefore needs the list, or a proxy that does not pass on the client's `Host`.

mod auth_error;
mod authenticate;
mod authority;
mod cors;
mod hosts;
mod origin;
mod peer;
mod policy;
mod refusal;

pub use auth_error::AuthError;
pub use authenticate::{AuthFuture, AuthRequest, Authenticate, bearer};
pub use cors::Cors;
pub(crate) use cors::Visitor;
#[cfg(feature = "playground")]
pub(crate) use hosts::is_from_this_machine;
pub use peer::PeerAddr;
pub(crate) use policy::AccessPolicy;
pub(crate) use refusal::Refused;
