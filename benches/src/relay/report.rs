//! The lines of the table.

use std::fmt;

/// A figure, and the bound of its difference from the same figure without a store.
pub(super) struct Line {
    figure: String,
    without: Option<f64>,
    with: f64,
    bound: Option<f64>,
    unit: &'static str,
}

impl Line {
    /// Creates a figure that has a counterpart without a store.
    pub(super) fn compared(figure: impl Into<String>, without: f64, with: f64, unit: &'static str) -> Self {
        Self { figure: figure.into(), without: Some(without), with, bound: None, unit }
    }

    /// Creates a figure of a store alone.
    pub(super) fn alone(figure: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { figure: figure.into(), without: None, with: value, bound: None, unit }
    }

    /// Sets the largest difference, or the largest value of a figure without a counterpart.
    pub(super) fn at_most(mut self, bound: f64) -> Self {
        self.bound = Some(bound);
        self
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { figure, without, with, bound, unit } = self;
        let compared = with - without.unwrap_or(0.0);
        write!(f, "| {figure} | ")?;
        match without {
            Some(without) => write!(f, "{without:.2} {unit} | {with:.2} {unit} | {compared:+.2} {unit} | ")?,
            None => write!(f, "| {with:.2} {unit} | | ")?,
        }
        match bound {
            Some(bound) => {
                let met = if compared <= *bound { "met" } else { "**missed**" };
                write!(f, "≤ {bound:.2} {unit} | {met} |")
            }
            None => write!(f, "| |"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_compared_with_its_bound() {
        let line = |with| Line::compared("CPU", 2.0, with, "µs").at_most(1.0).to_string();
        assert_eq!(line(3.0), "| CPU | 2.00 µs | 3.00 µs | +1.00 µs | ≤ 1.00 µs | met |");
        assert!(line(3.01).ends_with("**missed** |"));
        assert!(Line::alone("rows", 13.0, "").at_most(12.0).to_string().ends_with("**missed** |"));
    }
}
