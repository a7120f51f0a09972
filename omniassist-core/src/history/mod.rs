//! The part of a long conversation that a model is sent.
//!
//! A [`Window`] chooses it by an estimate of tokens. The client's copy, and what a host stores, stay whole. A window keeps
//!
//! - the last user message and everything after it, also if that alone is over the budget;
//! - of what is before, the newest exchanges: a user message and all that follows it up to the next one. An exchange is
//!   kept or left out as a whole, so no call loses its result;
//! - messages that the host [pins](Window::pin), in their place.
//!
//! # The budget
//!
//! The budget is for the input of a model call: the system prompt, the tools, the context and the messages. No tokenizer
//! is used. Four bytes of text count as a token, an item as four more, and an image as 1,000; any other file counts by its
//! size, and as 1,000 at least. The first usage that the provider reports corrects the estimate, by half to fourfold
//! ([`TokenRate`]), for the rest of the run and, where the client posts the rate back, for later runs.
//!
//! # Prompt caches
//!
//! A provider caches the beginning of a request. A window that moved with each message would never meet that cache, so it
//! moves in strides of an eighth to a quarter of the budget. The strides are counted from the beginning of the
//! conversation: a server without memory finds the same place again.
//!
//! ```
//! use omniassist_core::Message;
//! use omniassist_core::history::{TokenRate, Window, estimate};
//!
//! let messages: Vec<_> = (0..10_000)
//!     .map(|at| match at % 2 {
//!         0 => Message::user(format!("m{at}"), "Where is my order?"),
//!         _ => Message::assistant(format!("m{at}"), "It was handed to the carrier on Monday."),
//!     })
//!     .collect();
//! let view = Window::fit(2_000).view(&messages, 0, TokenRate::default());
//! let sent = view.transcript(&messages);
//! assert!((1_500..=2_000).contains(&estimate(&sent)));
//! assert_eq!(view.left_out() + sent.len(), 10_000);
//! ```

mod cut;
mod describe;
mod sent;
mod tokens;
mod view;
mod window;

pub use describe::describe;
pub(crate) use sent::Sent;
pub use tokens::{TokenRate, estimate, estimate_text};
pub use view::View;
pub use window::Window;
