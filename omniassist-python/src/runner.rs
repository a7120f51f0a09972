use std::pin::Pin;

use crate::{CodeOutcome, PythonError, Session};

/// A way to run programs outside the host's process. [`MontyPool`](crate::MontyPool) is one; a host can bring another, such
/// as containers.
///
/// # Requirements
///
/// - The program cannot reach files, networks, environment or processes of the host.
/// - The runner holds [`Code::max_time`](crate::Code::max_time) and [`Code::max_memory`](crate::Code::max_memory).
/// - It gives the text that the program writes to [`Session::write`] early, and stops a program that wrote too much.
/// - Dropping the future stops the program at once.
///
/// ```
/// use omniassist_python::{CodeOutcome, CodeRunner, Python, PythonError, Session, Stream};
///
/// /// A runner that only repeats its program.
/// struct Echo;
///
/// impl CodeRunner for Echo {
///     async fn run(&self, code: &str, session: &Session) -> Result<CodeOutcome, PythonError> {
///         if !session.write(Stream::Stdout, code) {
///             return Ok(session.stopped());
///         }
///         Ok(CodeOutcome::finished(code.len().into()))
///     }
/// }
///
/// let tool = Python::pool(Echo).tool("python")?;
/// # let _ = tool;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot run programs",
    label = "not a `CodeRunner`",
    note = "give a started pool: `MontyPool::at(path).start().await?`"
)]
pub trait CodeRunner: Send + Sync + 'static {
    /// Runs a program to its end.
    ///
    /// # Errors
    ///
    /// Returns an error if the runner cannot run programs at present. The error of a program is an outcome.
    fn run(
        &self,
        code: &str,
        session: &Session,
    ) -> impl Future<Output = Result<CodeOutcome, PythonError>> + Send;
}

/// A [`CodeRunner`] behind a pointer.
pub(crate) trait DynRunner: Send + Sync {
    fn run_boxed<'a>(
        &'a self,
        code: &'a str,
        session: &'a Session,
    ) -> Pin<Box<dyn Future<Output = Result<CodeOutcome, PythonError>> + Send + 'a>>;
}

impl<R: CodeRunner> DynRunner for R {
    fn run_boxed<'a>(
        &'a self,
        code: &'a str,
        session: &'a Session,
    ) -> Pin<Box<dyn Future<Output = Result<CodeOutcome, PythonError>> + Send + 'a>> {
        Box::pin(self.run(code, session))
    }
}
