//! Filters of a model's text while it is streamed.
//!
//! An [`OutputFilter`] sees the text and the reasoning of an answer before any other component. It passes or replaces
//! text, or ends the run. The client, the seals, the message that a host stores and the model's next request contain
//! the filtered text. Arguments and outputs of tools are not filtered.
//!
//! Two filters are part of this crate: [`Pii`] finds personal data and secrets by their form, and [`WordList`] finds
//! given words. Their result does not depend on the division of the text into deltas.
//!
//! # Held text
//!
//! A filter withholds text only until it has decided about it. Two bounds apply to undecided text: [`MAX_HELD_BYTES`]
//! and [`MAX_HELD_TIME`]. At a bound, the filter decides immediately: it passes the harmless prefix of a possible
//! match, and the rest is replaced by [`REDACTED`](crate::secret::REDACTED). A bound never releases a secret. The
//! downside is that clean text can be replaced too, if a model pauses for longer than the bound within a word that
//! resembles the start of a secret.
//!
//! | Possible match | Harmless prefix |
//! |---|---|
//! | e-mail address | the part before the `@` |
//! | payment card | the first 8 digits, which name its issuer |
//! | IBAN | the country and the check digits |
//! | API key, signed token | the prefix of its kind, such as `sk-` |
//! | listed word | its first half |
//!
//! ```
//! use omniassist_core::filter::{FilteredTurn, OutputFilter, Pii};
//! use omniassist_core::{EventBuf, LlmEvent};
//! use std::sync::Arc;
//!
//! let filters: Vec<Arc<dyn OutputFilter>> = vec![Arc::new(Pii::new())];
//! let (mut turn, mut events) = (FilteredTurn::new(filters), EventBuf::new());
//! for delta in ["Write to ad", "a@exam", "ple.org."] {
//!     turn.take(LlmEvent::TextDelta { block: 0, delta: delta.into() }, &mut events)?;
//! }
//! turn.end(&mut events)?;
//! let text: String = events.drain().map(|event| match event {
//!     LlmEvent::TextDelta { delta, .. } => delta.to_string(),
//!     _ => String::new(),
//! }).collect();
//! assert_eq!(text, "Write to [redacted].");
//! # Ok::<(), omniassist_core::filter::Stopped>(())
//! ```

mod detector;
mod held;
mod output_filter;
mod pii;
mod scan;
mod turn;
mod word_list;

pub use held::Stopped;
pub use output_filter::{MAX_HELD_BYTES, MAX_HELD_TIME, OutputFilter, Stage, TextFilter, TextKind, Verdict};
pub use pii::Pii;
pub use turn::FilteredTurn;
pub use word_list::WordList;
