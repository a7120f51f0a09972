//! x

mod error;
mod forks;
mod functions;
mod limits;
#[cfg(feature = "monty")]
mod monty;
mod outcome;
mod output;
mod python;
mod runner;
mod session;

pub use error::PythonError;
pub use limits::Code;
#[cfg(feature = "monty")]
pub use monty::{MontyPool, MontyPoolBuilder};
pub use outcome::CodeOutcome;
pub use output::Stream;
pub use python::Python;
pub use runner::CodeRunner;
pub use session::Session;
