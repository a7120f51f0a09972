use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use omniassist_server::core::{JsonText, Text};
use omniassist_server::tool::StateMap;
use omniassist_server::{Error, Tool, ToolContext, ToolError};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::forks::{self, Forks};
use crate::functions::Functions;
use crate::runner::DynRunner;
use crate::suspended::Suspended;
use crate::{Code, CodeRunner, Session};

const DESCRIPTION: &str = "Runs a Python program in a sandbox and returns what it printed and the value of its last expression. \
     Use it to calculate, and to combine many values. It has a part of Python's standard library (math, datetime, re, json), \
     no packages, and no files or network. \
     Do not name variables like built-in functions. Each call starts anew.";

/// The longest time between the writing of a text and its progress.
const SOON: Duration = Duration::from_millis(500);

/// A tool that runs programs of a model.
///
/// The model gives `{code}` and reads `{stdout, stderr, result, error}`. The result is the value of the last expression, the
/// error is one line, and its traceback is the end of `stderr`.
///
/// While the program runs, the user sees `{stdout, stderr}` as progress, with the last 4 KiB of each. Text is shown at most
/// 500 ms after it was written. Not each line is sent, so that a program costs few bytes more than its text.
#[must_use = "it does nothing until `tool` makes a tool of it"]
pub struct Python {
    runner: Arc<dyn DynRunner>,
    limits: Code,
    functions: Vec<Tool>,
    state: StateMap,
    agent: Option<Text>,
}

impl Python {
    /// Creates it over a runner, such as a [`MontyPool`](crate::MontyPool).
    pub fn pool(runner: impl CodeRunner) -> Self {
        let runner = Arc::new(runner);
        Self { runner, limits: Code::new(), functions: Vec::new(), state: StateMap::new(), agent: None }
    }

    /// Sets the limits of each program. Default: those of [`Code::new`].
    pub fn limits(mut self, limits: Code) -> Self {
        self.limits = limits;
        self
    }

    /// Adds tools that programs call as functions, with keyword arguments. A function with one parameter takes it by position
    /// too. An argument that JSON has no form for, such as bytes or a date, is an exception. Default: none.
    ///
    /// Each call passes the checks of the tool: its schema, [visibility](Tool::visible_to), [rate limits](Tool::rate_limit),
    /// timeout and output cap. It passes the hooks of the assistant, and has records in its audit log. Progress, data and
    /// agents of a function are left out.
    ///
    /// A call that the user must approve suspends the program: its state is kept with the call of the tool, at most 32 KiB with
    /// the output so far. When the user has answered, the program goes on at any server, and what it did before is not
    /// repeated. A denied call is an exception of the program. So is a call whose client cannot ask, or whose program is too
    /// large or has agents that it has not waited for.
    pub fn functions(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.functions.extend(tools);
        self
    }

    /// Sets the values that functions take as [`State`](omniassist_server::State). Default: none.
    pub fn state(mut self, state: StateMap) -> Self {
        self.state = state;
        self
    }

    /// Gives programs the functions `fork(task)`, which starts this agent and returns an id, and `wait(id)`, which returns its
    /// report. Agents of one program work at the same time. Each is a child of the run, as one of
    /// [`Agents::ask`](omniassist_server::Agents::ask) is, and those that are not waited for stop with the program.
    ///
    /// The time of the tool includes that of the agents, so set its [timeout](Tool::timeout). Default: no such functions.
    pub fn fork(mut self, agent: impl Into<Text>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Creates the tool.
    ///
    /// # Errors
    ///
    /// Returns an error that names the function if one is a tool of the client or would be refused as a tool of an assistant.
    /// The same holds for a name that is no name in Python, that another function has, or that Python has itself, such as
    /// `open`.
    pub fn tool(self, name: impl Into<Text>) -> Result<Tool, Error> {
        let Self { runner, limits, functions, state, agent } = self;
        let reserved: &[&str] = if agent.is_some() { &forks::NAMES } else { &[] };
        let mut description = DESCRIPTION.to_owned();
        if !functions.is_empty() || agent.is_some() {
            description.push_str(" It can call these functions, without import and without await:");
        }
        let functions = Functions::new(functions, state, reserved)?;
        functions.describe(&mut description);
        if agent.is_some() {
            description.push_str(forks::DESCRIPTION);
        }
        let program = Arc::new(Program { runner, limits, functions, agent });
        let schema = json!({
            "type": "object",
            "properties": { "code": { "type": "string", "description": "The program." } },
            "required": ["code"],
            "additionalProperties": false,
        });
        Ok(Tool::from_fn_with_schema(name, description, schema, move |arguments: Value, call| {
            let program = Arc::clone(&program);
            async move { program.run(&arguments, call).await }
        }))
    }
}

impl fmt::Debug for Python {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Python")
            .field("limits", &self.limits)
            .field("functions", &self.functions)
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

struct Program {
    runner: Arc<dyn DynRunner>,
    limits: Code,
    functions: Functions,
    agent: Option<Text>,
}

impl Program {
    async fn run(&self, arguments: &Value, call: ToolContext) -> Result<Value, ToolError> {
        let code = arguments.get("code").and_then(Value::as_str).unwrap_or_default();
        let forks = self.agent.clone().map(|agent| Forks::new(agent, &call)).transpose()?;
        let suspended: Option<Suspended> = call.resumed_state().map(JsonText::to).transpose()?;
        let calls = suspended.as_ref().map_or(0, |suspended| suspended.calls);
        let (functions, mut cancelled) = (self.functions.of_call(&call, calls), pin!(call.cancelled()));
        let session = Session::new(call, self.limits.clone(), functions, forks, suspended);
        let mut end = self.runner.run_boxed(code, &session);
        let outcome = loop {
            tokio::select! {
                outcome = &mut end => break outcome,
                () = &mut cancelled => return Err(ToolError::new("The program was stopped.")),
                () = sleep(SOON) => session.show_rest(),
            }
        };
        match outcome {
            Ok(outcome) => Ok(session.end(outcome)),
            Err(error) if error.is_busy() => {
                let text = "Too many programs run now, so this one did not start. Try again later.";
                Err(ToolError::new(text).with_source(error))
            }
            Err(error) if error.is_stale() => {
                let text =
                    "The program cannot go on, because the server was changed while it waited. Run it again.";
                Err(ToolError::new(text).with_source(error))
            }
            Err(error) => Err(ToolError::internal(error)),
        }
    }
}
