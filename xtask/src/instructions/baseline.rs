use std::collections::BTreeMap;
use std::fmt;

use crate::report::Outcome;

const HEAD: &str =
    "# Instructions and allocations for each event of a stage; benches/README.md explains them.
# `cargo xtask instructions --accept` writes this file.";

/// The cost of one more event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    pub(crate) instructions: f64,
    pub(crate) allocations: f64,
}

/// The cost of every stage, and the tools of the measurement.
///
/// The file has a line that begins with `with`, and a line for each stage, sorted by name, so that a diff shows only
/// the changed stages.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Baseline {
    pub(crate) with: String,
    pub(crate) stages: BTreeMap<String, Cost>,
}

impl Baseline {
    /// Reads the output of the benches.
    pub(crate) fn of(with: String, counts: &str) -> Outcome<Self> {
        let stages = counts.lines().map(stage).collect::<Outcome<BTreeMap<_, _>>>()?;
        if stages.is_empty() {
            return Err("no stage was measured".to_owned());
        }
        Ok(Self { with, stages })
    }

    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let with = lines
            .next()
            .and_then(|line| line.strip_prefix("with "))
            .ok_or("the first line does not begin with `with`")?;
        let stages = lines.map(stage).collect::<Outcome<BTreeMap<_, _>>>()?;
        Ok(Self { with: with.to_owned(), stages })
    }
}

/// Reads `name instructions allocations`.
fn stage(line: &str) -> Outcome<(String, Cost)> {
    let mut words = line.split_whitespace();
    let number = |word: Option<&str>| {
        word.and_then(|word| word.parse::<f64>().ok()).filter(|number| number.is_finite())
    };
    let read = (words.next(), number(words.next()), number(words.next()), words.next());
    let (Some(name), Some(instructions), Some(allocations), None) = read else {
        return Err(format!("`{line}` is not a stage with two numbers"));
    };
    Ok((name.to_owned(), Cost { instructions, allocations }))
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}\nwith {}", self.with)?;
        for (name, cost) in &self.stages {
            writeln!(f, "{name:<20} {:>12.1} {:>12.3}", cost.instructions, cost.allocations)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_baseline_is_read() {
        let counts = "pipe 4900.5 0.000\nencode 751.0 1.250\n";
        let baseline = Baseline::of("rustc 1.95".to_owned(), counts).unwrap();
        let text = baseline.to_string();
        assert_eq!(Baseline::parse(&text).unwrap(), baseline);
        assert!(text.find("encode").unwrap() < text.find("pipe").unwrap(), "{text}");
    }

    #[test]
    fn malformed_baselines_are_refused() {
        assert!(Baseline::of(String::new(), "").is_err());
        for text in [
            "",
            "pipe 1 2",
            "with x\npipe",
            "with x\npipe 1",
            "with x\npipe 1 2 3",
            "with x\npipe a 2",
            "with x\npipe inf 0",
        ] {
            assert!(Baseline::parse(text).is_err(), "{text}");
        }
    }
}
