//! The failed tests in the output of `cargo test`.

use std::fmt;

/// The most lines of one test's output that are repeated.
const LINES: usize = 8;

/// The most test programs that run again. If more fail, the code is broken.
const AGAIN: usize = 3;

/// The failed tests of a run, with the first lines of their output.
///
/// The output of all tests is long, and the log of a CI run often shows only its end.
#[derive(Debug, Default)]
pub(crate) struct FailedTests {
    names: Vec<String>,
    output: Vec<String>,
    /// The test programs that failed, as arguments of `cargo test` without the package.
    targets: Vec<Vec<String>>,
    /// The number of lines of the current test that may still be repeated.
    left: usize,
}

impl FailedTests {
    /// Reads the next line of the output.
    fn read(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED")) {
            self.names.push(name.to_owned());
        } else if let Some(target) = line.strip_prefix("    `-p ").and_then(|line| line.strip_suffix('`')) {
            self.targets.push(target.split(' ').skip(1).map(str::to_owned).collect());
        } else if line.starts_with("---- ") && line.ends_with(" stdout ----") {
            self.left = LINES;
            self.output.push(line.to_owned());
        } else if line == "failures:" {
            self.left = 0;
        } else if self.left > 0 && !line.trim().is_empty() {
            self.left -= 1;
            self.output.push(line.to_owned());
        }
    }

    /// Returns the test programs that run again, as arguments of `cargo test`. There are none if many failed.
    pub(crate) fn again(&self) -> &[Vec<String>] {
        if self.targets.len() <= AGAIN { &self.targets } else { &[] }
    }
}

impl<'o> FromIterator<&'o str> for FailedTests {
    /// Reads the lines of the output and the errors.
    fn from_iter<L: IntoIterator<Item = &'o str>>(lines: L) -> Self {
        let mut failed = Self::default();
        lines.into_iter().for_each(|line| failed.read(line));
        failed
    }
}

impl fmt::Display for FailedTests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.names.is_empty() {
            return f.write_str("no test failed; the build or a test program did");
        }
        write!(f, "{} failed: {}", self.names.len(), self.names.join(", "))?;
        self.output.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str) -> String {
        output.lines().collect::<FailedTests>().to_string()
    }

    #[test]
    fn failed_tests_are_named_with_the_start_of_their_output() {
        let lines: String = (1..=LINES + 1).map(|line| format!("line {line}\n")).collect();
        let text = read(&format!(
            "test a::b ... ok\ntest a::c ... FAILED\n\nfailures:\n\n---- a::c stdout ----\n\n{lines}\n\
             failures:\n    a::c\n\ntest result: FAILED. 1 passed; 1 failed\n"
        ));
        assert!(text.starts_with("1 failed: a::c\n    ---- a::c stdout ----\n    line 1\n"), "{text}");
        assert!(text.ends_with("    line 8"), "{text}");
    }

    #[test]
    fn few_failed_programs_run_again() {
        let failed = |number: usize| {
            let lines: Vec<_> =
                (0..number).map(|test| format!("    `-p omniassist-core --test t{test}`")).collect();
            lines.iter().map(String::as_str).collect::<FailedTests>().again().to_vec()
        };
        assert_eq!(failed(1), [["--test", "t0"]]);
        assert_eq!([0, AGAIN, AGAIN + 1].map(|number| failed(number).len()), [0, AGAIN, 0]);
    }

    #[test]
    fn a_failed_build_is_not_a_failed_test() {
        assert_eq!(read("test a ... ok\n"), "no test failed; the build or a test program did");
    }
}
