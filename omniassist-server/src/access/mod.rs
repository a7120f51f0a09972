//! Who may use the assistant over HTTP.
//!
//! Every request to [`AssistantService`](crate::http::AssistantService) passes here before anything of its body is read.
//! What runs in process ([`Assistant::run`](crate::Assistant::run)) does not.
//!
//! # Whose request it is
//!
//! A [`Principal`](crate::Principal), and it comes from one of three places:
//!
//! - **The host's middleware** put it into the request's extensions. Nothing else is needed.
//! - **A hook**, [`AssistantBuilder::authenticate`](crate::AssistantBuilder::authenticate): a closure, or an
//!   [`Authenticate`] of the host's. What it says counts, whatever the extensions say.
//! - **Nobody**, and then the request is refused with 401, unless
//!   [`AssistantBuilder::allow_anonymous`](crate::AssistantBuilder::allow_anonymous) says that the assistant is for
//!   everybody. A middleware that puts in [`Principal::anonymous`](crate::Principal::anonymous) says so for a request.
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
//! # Which pages may use it
//!
//! Pages that the server itself serves, and what is no page. A browser says of each request where it comes from, in
//! `Sec-Fetch-Site`; where that is another site, or another origin of the same site, anything but `GET` and `HEAD` is
//! answered 403 `origin_not_allowed`. Without that header, `Origin` must name the host that was asked. A proxy that
//! changes `Host` is no hindrance to current browsers; for others, or over plain HTTP, list the origin of the pages.
//!
//! Pages of other origins are listed with [`allow_origin`](crate::AssistantBuilder::allow_origin), or with
//! [`cors`](crate::AssistantBuilder::cors) where they need cookies or headers of their own. Without it no
//! `Access-Control-…` header is sent, so that no page of another origin can read anything. A CORS layer of the host's
//! around the assistant does not replace the list.
//!
//! # Which host it is
//!
//! With [`allowed_hosts`](crate::AssistantBuilder::allowed_hosts), the server answers to those names only; another one
//! is answered 421 `host_not_allowed`. Without it, any name will do, but on a connection from the same machine (where
//! the adapter tells the [`PeerAddr`]), which must name this machine: `localhost` or a loopback address. A server behind
//! a proxy on the same machine therefore needs the list, or a proxy that does not pass the client's `Host` on.

mod auth_error;
mod authenticate;
mod authority;
mod cors;
mod hosts;
mod origin;
mod peer;
mod policy;
mod refusal;
mod uploads;

pub use auth_error::AuthError;
pub use authenticate::{AuthFuture, AuthRequest, Authenticate, bearer};
pub use cors::Cors;
pub(crate) use cors::Visitor;
pub use peer::PeerAddr;
pub(crate) use policy::AccessPolicy;
pub(crate) use refusal::Refused;
pub(crate) use uploads::{Upload, UploadsFull};
