//! A tool with which a model of an [OmniAssist](omniassist_server) assistant runs Python programs.
//!
//! A model that calculates, or combines many values, needs one program where it would need many calls of tools. [`Python`] is
//! the tool. [`MontyPool`] runs the programs in worker processes of a sandboxed interpreter, never in the host's process.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use omniassist_python::{Code, MontyPool, Python};
//! use omniassist_server::{Agent, Assistant, Tool, ToolError};
//! # use omniassist_server::testing::ScriptedProvider;
//!
//! async fn open_orders() -> Result<u32, ToolError> {
//!     Ok(3)
//! }
//!
//! # async fn build() -> Result<(), Box<dyn std::error::Error>> {
//! // pip install --target /opt/monty pydantic-monty-runtime==0.0.23
//! let pool = MontyPool::at("/opt/monty/bin/monty").workers(2).start().await?;
//! let python = Python::pool(pool)
//!     .limits(Code::new().time(Duration::from_millis(500)).memory(64 << 20).output(64 << 10))
//!     .functions([Tool::new("open_orders", "Counts the open orders", open_orders)])
//!     .fork("researcher")
//!     .tool("python")?;
//! let assistant = Assistant::builder(ScriptedProvider::new())
//!     .agent(Agent::new("researcher", "Researches a question."))
//!     .tool(python.timeout(Duration::from_secs(120)))
//!     .build()?;
//! # let _ = assistant;
//! # Ok(())
//! # }
//! ```
//!
//! # The runtime
//!
//! The interpreter is the program `monty` of the PyPI package `pydantic-monty-runtime`, version 0.0.23. It is no part of this
//! crate: install it with `pip`, and give its path to [`MontyPool::at`]. A missing runtime, and one of another version, is an
//! error of [`start`](MontyPoolBuilder::start) that names the command.
//!
//! Programs have a part of Python and of its standard library: `math`, `datetime`, `re`, `json`, `collections` and some more.
//! There are no packages, no files, no environment and no network. In version 0.0.23, a variable of a comprehension cannot have
//! the name of a built-in function (`for id in ids`). The description of the tool says so to the model.
//!
//! # Limits
//!
//! | Limit | Held by | The model reads |
//! |---|---|---|
//! | [`Code::time`] | the worker; 200 ms later the pool, which kills it; on Linux the kernel | `TimeoutError` |
//! | [`Code::memory`] | the worker's allocator; on Linux the kernel | `MemoryError` |
//! | [`Code::output`] | this crate, which kills the worker | `OutputLimitError` |
//! | 1,000 calls of functions and look-ups of unknown names | the pool | `RuntimeError` |
//! | 1,000 levels of recursion | the worker | `RecursionError` |
//! | what the kernel ends | the kernel | `SystemError` with the signal, or `MemoryError` |
//! | the tool's [timeout](omniassist_server::Tool::timeout) | the server, which drops the call | the error of a tool |
//!
//! Between two messages of a worker, its text and its result are in the memory of the host too, at most
//! [`Code::memory`] for each worker.
//!
//! # Cancel safety
//!
//! A call that is cancelled, or whose future is dropped, kills its worker and stops the agents that it started. The pool
//! starts another worker for the next program.
//!
//! # Costs
//!
//! A program takes about 0.3 ms, and an idle worker 10 MB of memory. The runtime is a program of 26 MB. The feature `monty`,
//! which is on by default, adds 55 crates that no adapter has. Without it, this crate has no interpreter and no pool.
//!
//! `monty-pool` 0.0.23 needs Rust 1.95, and so does this crate. The pool and the runtime must have the same version.
//!
//! Hosts that need all of CPython bring containers as a [`CodeRunner`].

mod error;
mod forks;
mod functions;
mod limits;
#[cfg(feature = "monty")]
mod monty;
mod outcome;
mod output;
mod python;
mod reserved;
mod runner;
mod session;
mod suspended;

pub use error::PythonError;
pub use limits::Code;
#[cfg(feature = "monty")]
pub use monty::{MontyPool, MontyPoolBuilder};
pub use outcome::CodeOutcome;
pub use output::Stream;
pub use python::Python;
pub use runner::CodeRunner;
pub use session::Session;
