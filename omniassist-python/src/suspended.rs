use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::Code;

/// A program that waits for the user, as its call keeps it. The call is kept encrypted, or with its run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Suspended {
    /// The runner that can go on with it, and its version.
    pub(crate) runner: String,
    time: u128,
    memory: usize,
    dump: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The functions that it has called.
    pub(crate) calls: u32,
    /// The agents that it has started.
    pub(crate) agents: u64,
}

impl Suspended {
    pub(crate) fn new(limits: &Code, runner: &str, dump: &[u8]) -> Self {
        Self {
            runner: runner.to_owned(),
            time: limits.max_time().as_millis(),
            memory: limits.max_memory(),
            dump: STANDARD_NO_PAD.encode(dump),
            stdout: String::new(),
            stderr: String::new(),
            calls: 0,
            agents: 0,
        }
    }

    /// Returns the state of the interpreter. `None` if it was written with other limits, or is none.
    pub(crate) fn dump(&self, limits: &Code) -> Option<Vec<u8>> {
        let is_same = self.time == limits.max_time().as_millis() && self.memory == limits.max_memory();
        is_same.then(|| STANDARD_NO_PAD.decode(&self.dump).ok()).flatten()
    }
}
