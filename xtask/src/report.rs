//! The steps of one command, each named as it begins, and the closing line.

use std::process::ExitCode;
use std::time::Instant;

/// Why a step failed, in one line.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// What has been run so far. A failed step does not stop those that do not need it.
#[derive(Debug, Default)]
pub(crate) struct Report {
    passed: u32,
    failed: Vec<String>,
    skipped: Vec<String>,
}

impl Report {
    /// Runs one step; gives its value if it went well.
    pub(crate) fn step<T>(&mut self, name: &str, run: impl FnOnce() -> Outcome<T>) -> Option<T> {
        println!("\n==> {name}");
        let began = Instant::now();
        let outcome = run();
        let took = began.elapsed().as_secs_f32();
        match outcome {
            Ok(value) => {
                println!("==> {name}: ok ({took:.1} s)");
                self.passed += 1;
                Some(value)
            }
            Err(why) => {
                println!("==> {name}: FAILED ({took:.1} s): {why}");
                self.failed.push(format!("{name}: {why}"));
                None
            }
        }
    }

    /// Notes a step that is not run, which is no failure.
    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        println!("\n==> {name}: {why}");
        self.skipped.push(format!("{name}: {why}"));
    }

    /// Prints what happened and gives the exit code: 0 only if something ran and nothing failed.
    pub(crate) fn close(&self) -> ExitCode {
        println!();
        for line in &self.skipped {
            println!("skipped: {line}");
        }
        for line in &self.failed {
            println!("FAILED:  {line}");
        }
        println!(
            "steps: {} passed, {} failed, {} skipped",
            self.passed,
            self.failed.len(),
            self.skipped.len()
        );
        if self.failed.is_empty() && self.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
