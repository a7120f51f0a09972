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

mod auth;
mod auth_error;
mod settings;

pub use auth::{AuthFuture, AuthRequest, Authenticate, bearer};
pub use auth_error::AuthError;
pub(crate) use settings::Edge;
