use std::ops::Range;
use std::time::Duration;

use crate::Text;

/// Bytes of undecided text that a filter may withhold.
pub const MAX_HELD_BYTES: usize = 256;

/// The time for which text may be withheld.
pub const MAX_HELD_TIME: Duration = Duration::from_millis(200);

/// The kind of a block of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextKind {
    /// The answer.
    Answer,
    /// Reasoning, where the model shows it.
    Reasoning,
}

/// A filter of the text that a model writes.
///
/// The [module](super) describes what a filter sees and when. A filter that panics fails the run, and nothing that it
/// withheld is sent.
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
///         // An end of the text that may become the name stays, unless a bound is reached.
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

/// A filter at work on one block of text.
pub trait TextFilter: Send {
    /// Decides about the text of the block that has neither left nor been replaced.
    ///
    /// The next call gets the text behind the decided part, and what the model has written since. After a
    /// [`Replace`](Verdict::Replace) it follows at once.
    fn check(&mut self, held: &str, stage: Stage) -> Verdict;
}

/// The stage of a block of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// More text may follow.
    Open,
    /// More text may follow, and a bound is reached. Text that does not pass now is replaced by
    /// [`REDACTED`](crate::secret::REDACTED); the next call gets the text behind it.
    Due,
    /// The block is complete. Text that does not pass now is replaced, as for [`Due`](Self::Due).
    End,
}

/// The decision of a filter. All numbers are bytes of the checked text; a place within a character counts as its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// So many bytes leave. The rest is undecided.
    Pass(usize),
    /// The text before the range leaves, and other text takes the place of the range. Without other text, the range is
    /// cut out.
    Replace {
        /// The place of the match.
        range: Range<usize>,
        /// The text in its place.
        with: Text,
    },
    /// The run ends. The text before this place leaves.
    Stop {
        /// The end of the text that leaves.
        at: usize,
        /// The sentence that the client gets.
        message: Text,
    },
}
