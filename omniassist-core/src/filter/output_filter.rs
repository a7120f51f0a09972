use std::ops::Range;
use std::time::Duration;

use crate::Text;

/// The number of bytes of undecided text that a filter may withhold.
pub const MAX_HELD_BYTES: usize = 256;

/// The maximum time for which text is withheld.
pub const MAX_HELD_TIME: Duration = Duration::from_millis(200);

/// The kind of a block of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextKind {
    /// The answer.
    Answer,
    /// Reasoning, if the provider sends it.
    Reasoning,
}

/// A filter of a model's text.
///
/// The [module](super) describes the filtered text and its timing. A filter that panics fails the run, and its withheld
/// text is not sent.
///
/// ```
/// use omniassist_core::filter::{OutputFilter, Stage, TextFilter, TextKind, Verdict};
///
/// /// Ends a run that mentions the name of a project.
/// struct Secrecy;
///
/// impl OutputFilter for Secrecy {
///     fn begin(&self, kind: TextKind) -> Option<Box<dyn TextFilter>> {
///         (kind == TextKind::Answer).then(|| Box::new(Self) as Box<dyn TextFilter>)
///     }
/// }
///
/// impl TextFilter for Secrecy {
///     fn check(&mut self, held: &str, stage: Stage) -> Verdict {
///         const NAME: &str = "Bluebird";
///         if let Some(at) = held.find(NAME) {
///             return Verdict::Stop { at, message: "This topic is confidential.".into() };
///         }
///         // Withholds the end of the text if it may become the name, unless a bound is reached.
///         let open = (1..NAME.len()).rev().find(|length| held.ends_with(&NAME[..*length])).unwrap_or(0);
///         Verdict::Pass(if stage == Stage::Open { held.len() - open } else { held.len() })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a filter of the model's text",
    note = "implement `OutputFilter`, or use `Pii` or `WordList`"
)]
pub trait OutputFilter: Send + Sync + 'static {
    /// Begins a block of text. Returns `None` if the block needs no filter.
    fn begin(&self, kind: TextKind) -> Option<Box<dyn TextFilter>>;
}

/// A filter of one block of text.
pub trait TextFilter: Send {
    /// Decides about the undecided text of the block.
    ///
    /// The next call receives the text after the decided part, including later deltas. After a
    /// [`Replace`](Verdict::Replace), the next call follows immediately.
    fn check(&mut self, held: &str, stage: Stage) -> Verdict;
}

/// The stage of a block of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// More text may follow.
    Open,
    /// More text may follow, and a bound is reached. Text that does not pass now is replaced by
    /// [`REDACTED`](crate::secret::REDACTED), and the next call receives the text after it.
    Due,
    /// The block is complete. Text that does not pass now is replaced, as for [`Due`](Self::Due).
    End,
}

/// The decision of a filter. All offsets are bytes of the checked text. An offset within a character counts as its
/// start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// This number of bytes passes. The rest is undecided.
    Pass(usize),
    /// The text before the range passes, and the range is replaced. With an empty replacement, the range is removed.
    Replace {
        /// The range of the match.
        range: Range<usize>,
        /// The replacement.
        with: Text,
    },
    /// The run ends. The text before this offset passes.
    Stop {
        /// The end of the text that passes.
        at: usize,
        /// The message for the client.
        message: Text,
    },
}
