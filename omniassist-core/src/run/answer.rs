use std::fmt;
use std::sync::Arc;

use crate::Text;

/// The check of the answer with which a run ends, such as that of a JSON Schema. It must return the same for the same answer.
///
/// An answer that fails is corrected once: the model reads the reason as a message of the user, and answers again. If that
/// answer fails too, or no further step is allowed, the run fails as an [`InvalidAnswer`]. An answer that was cut off or
/// filtered is not checked.
///
/// [`InvalidAnswer`]: crate::event::RunErrorCode::InvalidAnswer
#[derive(Clone)]
pub struct AnswerCheck(Arc<Check>);

type Check = dyn Fn(&str) -> Result<(), Text> + Send + Sync;

impl AnswerCheck {
    /// Creates a check. The error is the text that the model reads.
    pub fn new(check: impl Fn(&str) -> Result<(), Text> + Send + Sync + 'static) -> Self {
        Self(Arc::new(check))
    }

    /// Returns the fault of an answer, for the model.
    pub(super) fn fault(&self, answer: &str) -> Option<Text> {
        (self.0)(answer).err()
    }
}

impl fmt::Debug for AnswerCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerCheck").finish_non_exhaustive()
    }
}
