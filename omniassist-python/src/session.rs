use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use omniassist_server::{ToolContext, ToolError};
use serde_json::{Map, Value};

use crate::forks::{self, Forks};
use crate::functions::CallFunctions;
use crate::output::Output;
use crate::{Code, CodeOutcome, Stream};

/// The host's side of one program: its limits, its output, and the functions that it may call.
pub struct Session {
    call: ToolContext,
    limits: Code,
    output: Mutex<Output>,
    functions: CallFunctions,
    forks: Option<Forks>,
}

impl Session {
    pub(crate) fn new(
        call: ToolContext,
        limits: Code,
        functions: CallFunctions,
        forks: Option<Forks>,
    ) -> Self {
        let output = Mutex::new(Output::new(limits.max_output()));
        Self { call, limits, output, functions, forks }
    }

    /// Returns the limits of the program.
    pub fn limits(&self) -> &Code {
        &self.limits
    }

    /// Adds text that the program wrote, and shows it to the user. Returns `false` if the program wrote more than it may: the
    /// runner stops it and returns [`stopped`](Self::stopped).
    #[must_use = "a program that wrote too much must be stopped"]
    pub fn write(&self, stream: Stream, text: &str) -> bool {
        let mut output = self.output();
        let fits = output.write(stream, text);
        output.show(&self.call);
        fits
    }

    /// Returns the outcome of a program that wrote too much.
    #[must_use]
    pub fn stopped(&self) -> CodeOutcome {
        CodeOutcome::failed(self.too_much())
    }

    /// Returns `true` if the program may call a function of this name.
    #[must_use]
    pub fn has_function(&self, name: &str) -> bool {
        self.forks.is_some() && forks::NAMES.contains(&name) || self.functions.has(name)
    }

    /// Calls a function for the program. Dropping the future cancels the call.
    ///
    /// # Errors
    ///
    /// Returns the text of the exception that the program gets if the call is not allowed, its arguments do not fit, or the
    /// function fails.
    pub async fn call(
        &self,
        name: &str,
        positional: Vec<Value>,
        named: Map<String, Value>,
    ) -> Result<Value, ToolError> {
        match &self.forks {
            Some(forks) if forks::NAMES.contains(&name) => forks.call(name, positional, named).await,
            _ => self.functions.call(&self.call, name, positional, named).await,
        }
    }

    /// Returns the output of the tool.
    pub(crate) fn end(&self, outcome: CodeOutcome) -> Value {
        self.output().end(outcome, &self.too_much())
    }

    fn too_much(&self) -> String {
        format!("OutputLimitError: the output has more than {} bytes", self.limits.max_output())
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("limits", &self.limits).finish_non_exhaustive()
    }
}
