//! Windows that limit the part of a long conversation sent to a model.
//!
//! A [`Window`] selects that part by an estimate of tokens. The client's copy and the host's stored copy are unchanged.
//! A window keeps
//!
//! - the last user message and all messages after it, even if they exceed the budget alone;
//! - the newest exchanges before it. An exchange is a user message with all messages up to the next one. It is kept or
//!   removed as a whole, so no call loses its result;
//! - messages that the host [pins](Window::pin), in their position.
//!
//! # The budget
//!
//! The budget limits the input of a model call: the system prompt, the tools, the context and the messages. No
//! tokenizer is used. Four bytes of text count as a token, an item as four more, and an image as 1,000. Any other file
//! counts by its size, and as at least 1,000. The first usage that the provider reports corrects the estimate by a
//! factor of 0.5 to 4 ([`TokenRate`]). The correction applies to the rest of the run, and to later runs if the client
//! posts the rate back.
//!
//! # Prompt caches
//!
//! A provider caches the beginning of a request. A window that moved with each message would never match that cache, so
//! it moves in strides of an eighth to a quarter of the budget. The strides are counted from the beginning of the
//! conversation, so a stateless server finds the same position again.
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
mod statements;
mod tokens;
mod view;
mod window;

pub use describe::describe;
pub(crate) use sent::Sent;
pub use statements::statements;
pub use tokens::{TokenRate, estimate, estimate_text};
pub use view::View;
pub use window::Window;
