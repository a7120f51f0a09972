//! The failed tests in the output of `cargo test`.

use std::fmt;

/// The most lines of one test's output that are repeated.
const LINES: usize = 8;

/// The failed tests of a run, with the first lines of their output.
///
/// The output of all tests is long, and the log of a CI run often shows only its end.
#[derive(Debug, Default)]
pub(crate) struct FailedTests {
    names: Vec<String>,
    output: Vec<String>,
    /// The number of lines of the current test that may still be repeated.
    left: usize,
}

impl FailedTests {
    /// Reads the next line of the output.
    pub(crate) fn read(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED")) {
            self.names.push(name.to_owned());
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
        let mut failed = FailedTests::default();
        output.lines().for_each(|line| failed.read(line));
        failed.to_string()
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
    fn a_failed_build_is_not_a_failed_test() {
        assert_eq!(read("test a ... ok\n"), "no test failed; the build or a test program did");
    }
}
