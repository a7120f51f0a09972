use std::time::Duration;

/// The limits of one program.
///
/// ```
/// use std::time::Duration;
///
/// use omniassist_python::Code;
///
/// let limits = Code::new().time(Duration::from_millis(200)).memory(16 << 20).output(4 << 10);
/// # let _ = limits;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "limits do nothing until a `Python` has them"]
pub struct Code {
    time: Duration,
    memory: usize,
    output: usize,
}

impl Code {
    /// Creates the default limits.
    pub fn new() -> Self {
        Self { time: Duration::from_millis(500), memory: 64 << 20, output: 64 << 10 }
    }

    /// Sets the time for which the interpreter may work. It does not pass while the program waits for a function or an agent,
    /// which the [timeout](omniassist_server::Tool::timeout) of the tool includes. Default: 500 ms.
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets the bytes of memory that the values of the program may have. The interpreter itself needs some more. Default: 64
    /// MiB.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the bytes that the program may write, and those of its result in JSON, together. A program that writes more is
    /// stopped. The arguments of each function that it calls have this limit too. Default: 64 KiB.
    pub fn output(mut self, bytes: usize) -> Self {
        self.output = bytes;
        self
    }

    /// Returns the time for which the interpreter may work.
    #[must_use]
    pub fn max_time(&self) -> Duration {
        self.time
    }

    /// Returns the bytes of memory that the values of the program may have.
    #[must_use]
    pub fn max_memory(&self) -> usize {
        self.memory
    }

    /// Returns the bytes that the program may write.
    #[must_use]
    pub fn max_output(&self) -> usize {
        self.output
    }
}

impl Default for Code {
    fn default() -> Self {
        Self::new()
    }
}
