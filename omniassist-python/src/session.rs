use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use omniassist_server::{ToolContext, ToolError};
use serde_json::{Map, Value};

use crate::forks::{self, Forks};
use crate::functions::CallFunctions;
use crate::output::Output;
use crate::suspended::Suspended;
use crate::{Code, CodeOutcome, PythonError, Stream};

/// The host's side of one program: its limits, its output, and the functions that it may call.
pub struct Session {
    call: ToolContext,
    limits: Code,
    output: Mutex<Output>,
    functions: CallFunctions,
    forks: Option<Forks>,
    /// Set for a program that waited for the user.
    suspended: Option<Suspended>,
}

impl Session {
    pub(crate) fn new(
        call: ToolContext,
        limits: Code,
        functions: CallFunctions,
        forks: Option<Forks>,
        suspended: Option<Suspended>,
    ) -> Self {
        let mut output = Output::new(limits.max_output());
        if let Some(suspended) = &suspended {
            output.write(Stream::Stdout, &suspended.stdout);
            output.write(Stream::Stderr, &suspended.stderr);
        }
        if let (Some(forks), Some(suspended)) = (&forks, &suspended) {
            forks.count_earlier(suspended.agents);
        }
        Self { call, limits, output: Mutex::new(output), functions, forks, suspended }
    }

    /// Returns the limits of the program.
    pub fn limits(&self) -> &Code {
        &self.limits
    }

    /// Adds text that the program wrote, and shows its end to the user, soon if not at once. Returns `false` if the program
    /// wrote more than it may: the runner stops it and returns [`stopped`](Self::stopped).
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

    /// Returns the state of a program that waited for the user, as the runner of this name and version gave it to
    /// [`call_waiting`](Self::call_waiting). `None` for a program that begins.
    ///
    /// # Errors
    ///
    /// Returns an error if another version has suspended the program, or with other limits
    /// ([`is_stale`](PythonError::is_stale)).
    pub fn resumed(&self, runner: &str) -> Result<Option<Vec<u8>>, PythonError> {
        let Some(suspended) = &self.suspended else { return Ok(None) };
        let dump = suspended.dump(&self.limits).filter(|_| suspended.runner == runner);
        dump.map(Some).ok_or_else(PythonError::stale)
    }

    /// Calls a function for the program. Dropping the future cancels the call. A function that the user must approve does not
    /// run: the error is [`is_approval_needed`](ToolError::is_approval_needed), and a runner that can suspend its program then
    /// uses [`call_waiting`](Self::call_waiting).
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

    /// Calls a function that the user must approve. `dump` is the state of the program during this call, for a runner of this
    /// name and version.
    ///
    /// If the error is [`is_waiting`](ToolError::is_waiting), the runner stops the program and returns
    /// [`PythonError::waiting`]. When the user has answered, the tool runs again: [`resumed`](Self::resumed) returns the state,
    /// and the runner makes the same call once more, which then has its end.
    ///
    /// # Errors
    ///
    /// Returns the text of the exception that the program gets if the user denies the call, the client cannot ask, the state
    /// is too large, the program has agents that it has not waited for, or the function fails.
    pub async fn call_waiting(
        &self,
        name: &str,
        positional: Vec<Value>,
        named: Map<String, Value>,
        runner: &str,
        dump: &[u8],
    ) -> Result<Value, ToolError> {
        let mut state = Suspended::new(&self.limits, runner, dump);
        if let Some(forks) = &self.forks {
            let text = "This call needs the user's approval. Wait for all agents before it. It was not run.";
            state.agents = forks.all_waited_for().ok_or_else(|| ToolError::new(text))?;
        }
        (state.stdout, state.stderr) = self.output().texts();
        state.calls = self.functions.calls();
        self.functions.call_waiting(&self.call, name, positional, named, &state).await
    }

    /// Shows the user text that was not shown when it was written.
    pub(crate) fn show_rest(&self) {
        self.output().show_rest(&self.call);
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
