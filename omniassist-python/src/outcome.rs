use serde_json::Value;

/// The end of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeOutcome {
    pub(crate) end: Result<Value, String>,
    pub(crate) traceback: String,
}

impl CodeOutcome {
    /// Creates the end of a program that ran to its last line. The result is the value of its last expression.
    #[must_use]
    pub fn finished(result: Value) -> Self {
        Self { end: Ok(result), traceback: String::new() }
    }

    /// Creates the end of a program that failed or was stopped. The model reads the error, such as
    /// `ZeroDivisionError: division by zero`.
    #[must_use]
    pub fn failed(error: impl Into<String>) -> Self {
        Self { end: Err(error.into()), traceback: String::new() }
    }

    /// Sets the traceback, which the model reads at the end of `stderr`. Default: none.
    #[must_use]
    pub fn traceback(mut self, traceback: impl Into<String>) -> Self {
        self.traceback = traceback.into();
        self
    }
}
