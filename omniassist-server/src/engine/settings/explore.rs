use std::time::Duration;

/// The most parts into which an agent divides its task.
const MAX_QUESTIONS: usize = 4;

/// The program of an agent that explores a question, in six steps.
///
/// 1. The model decides if the task is unclear. If so, the user is asked.
/// 2. The model decides if an answer of the user is needed before any work. If so, the user is asked.
/// 3. The model divides the task into 0 to 4 questions.
/// 4. An agent begins to work on each question, with the same program one level below.
/// 5. The agent works on the task with the tools of the assistant, while the agents below work.
/// 6. With their results, the model writes the answer. The root may ask the user a last question before.
///
/// Steps 1 to 3 and the last question are model calls with a JSON Schema. A rule decides if the answer does not fit it. All
/// model calls spend from the [limits](crate::AssistantBuilder::tree) of one tree.
#[derive(Debug, Clone, Copy)]
#[must_use = "a program does nothing until it is given to a session"]
pub struct Explore {
    pub(in crate::engine) depth: u32,
    pub(in crate::engine) sub_questions: usize,
    pub(in crate::engine) asks: bool,
    pub(in crate::engine) answer_timeout: Duration,
}

impl Explore {
    /// Returns the program with its default settings.
    pub const fn new() -> Self {
        Self { depth: 1, sub_questions: MAX_QUESTIONS, asks: true, answer_timeout: Duration::from_secs(600) }
    }

    /// Sets the levels of agents below the root. The limits of the tree apply as well. Default: 1.
    pub const fn depth(mut self, depth: u32) -> Self {
        self.depth = depth;
        self
    }

    /// Sets the most questions into which an agent divides its task, up to 4. With 0, the model is not asked. Default: 4.
    pub const fn sub_questions(mut self, most: usize) -> Self {
        self.sub_questions = if most < MAX_QUESTIONS { most } else { MAX_QUESTIONS };
        self
    }

    /// Lets agents ask the user what is unclear. Calls of tools can ask in any case. Default: `true`.
    pub const fn asks(mut self, asks: bool) -> Self {
        self.asks = asks;
        self
    }

    /// Sets the longest wait for an answer of the user. The agent then goes on without one. For a call of a tool, the wait is
    /// at most [`Limits::approval_lifetime`](crate::core::Limits::approval_lifetime). Default: 10 minutes.
    pub const fn answer_timeout(mut self, timeout: Duration) -> Self {
        self.answer_timeout = timeout;
        self
    }
}

impl Default for Explore {
    fn default() -> Self {
        Self::new()
    }
}
