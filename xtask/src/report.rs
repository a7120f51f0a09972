//! The report of one command: its steps and a summary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// The result of a step; the error is one line.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// The tests of a step that failed in its first run and passed in the second one, a line each.
pub(crate) type Repeated = Vec<String>;

type Work<'a> = Box<dyn FnOnce(&Path) -> Outcome<Repeated> + Send + 'a>;

/// A step with tests that runs beside others.
pub(crate) struct BesideStep<'a> {
    name: String,
    log: PathBuf,
    work: Work<'a>,
}

impl<'a> BesideStep<'a> {
    /// Returns a step whose work writes its output to a file, which it gets.
    pub(crate) fn new(
        name: String,
        log: PathBuf,
        work: impl FnOnce(&Path) -> Outcome<Repeated> + Send + 'a,
    ) -> Self {
        Self { name, log, work: Box::new(work) }
    }
}

/// The steps so far. A failed step does not stop independent steps.
#[derive(Debug, Default)]
pub(crate) struct Report {
    passed: u32,
    repeated: Vec<String>,
    failed: Vec<String>,
    skipped: Vec<String>,
}

impl Report {
    /// Runs one step. Returns its value if it succeeds.
    pub(crate) fn step<T>(&mut self, name: &str, run: impl FnOnce() -> Outcome<T>) -> Option<T> {
        println!("\n==> {name}");
        let began = Instant::now();
        let outcome = run();
        self.note(name, outcome, began.elapsed())
    }

    /// Runs a step with tests. The summary lists those that passed in the second run only.
    pub(crate) fn tests(&mut self, name: &str, run: impl FnOnce() -> Outcome<Repeated>) {
        let repeated = self.step(name, run).unwrap_or_default();
        self.repeat(name, &repeated);
    }

    /// Runs steps with tests at the same time. Each writes its output to its file. The files are printed in the given order
    /// after the steps have ended.
    pub(crate) fn beside(&mut self, steps: Vec<BesideStep<'_>>) {
        if steps.is_empty() {
            return;
        }
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        println!("\n==> at the same time: {}", names.join("; "));
        thread::scope(|scope| {
            let timed = |work: Work<'_>, log: PathBuf| {
                let began = Instant::now();
                (work(&log), began.elapsed(), log)
            };
            let running: Vec<_> = steps
                .into_iter()
                .map(|BesideStep { name, log, work }| (name, scope.spawn(move || timed(work, log))))
                .collect();
            for (name, step) in running {
                println!("\n==> {name}");
                let Ok((outcome, took, log)) = step.join() else {
                    self.note::<()>(&name, Err("the step panicked".to_owned()), Duration::ZERO);
                    continue;
                };
                match fs::read(&log) {
                    Ok(said) => println!("{}", String::from_utf8_lossy(&said)),
                    Err(error) => println!("{}: {error}", log.display()),
                }
                let repeated = self.note(&name, outcome, took).unwrap_or_default();
                self.repeat(&name, &repeated);
            }
        });
    }

    fn repeat(&mut self, name: &str, tests: &[String]) {
        self.repeated.extend(tests.iter().map(|test| format!("{name}: {test}")));
    }

    fn note<T>(&mut self, name: &str, outcome: Outcome<T>, took: Duration) -> Option<T> {
        let took = took.as_secs_f32();
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

    /// Records a step that is skipped, which is not a failure.
    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        println!("\n==> {name}: {why}");
        self.skipped.push(format!("{name}: {why}"));
    }

    /// Prints the summary. Returns the exit code 0 if at least one step passed and none failed.
    pub(crate) fn close(&self) -> ExitCode {
        println!();
        for line in &self.skipped {
            println!("skipped: {line}");
        }
        for line in &self.repeated {
            println!("passed in the second run only: {line}");
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
