//! The rules for changes of cost.

use super::baseline::{Baseline, Cost};

/// The tolerated share of additional instructions. At as many fewer, a new baseline is suggested.
const TOLERANCE: f64 = 0.05;

/// The tolerance for another compiler, library or processor. Their effects do not come from this repository, and are
/// smaller in practice.
const TOLERANCE_ELSEWHERE: f64 = 0.25;

/// The additional allocations for each event that the doubling of a buffer may cause, and the writes of a store, which are
/// more for each event on a slower machine. A larger number comes from the sources, since allocations do not depend on the
/// compiler.
const SPARE_ALLOCATIONS: f64 = 0.1;

/// The tolerated share for stages with many allocations, since the order of a hash table's keys differs between runs.
const SPARE_SHARE: f64 = 0.01;

/// The smallest difference with which a new figure replaces an old one, so that a new baseline shows only real changes.
const UNCHANGED: f64 = 0.01;

/// The results of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub(crate) failures: Vec<String>,
    pub(crate) notes: Vec<String>,
}

pub(crate) fn judge(baseline: &Baseline, measured: &Baseline) -> Judged {
    let mut judged = Judged::default();
    let same = baseline.with == measured.with;
    let tolerance = if same { TOLERANCE } else { TOLERANCE_ELSEWHERE };
    if !same {
        judged.notes.push(format!(
            "the baseline was made with {}; this is {}: up to {:.0} % more instructions pass",
            baseline.with,
            measured.with,
            100.0 * tolerance
        ));
    }
    for (name, now) in &measured.stages {
        match baseline.stages.get(name) {
            Some(before) => compare(name, *before, *now, tolerance, same, &mut judged),
            None => judged.failures.push(format!("{name} is not in the baseline")),
        }
    }
    let gone = baseline.stages.keys().filter(|name| !measured.stages.contains_key(*name));
    judged.failures.extend(gone.map(|name| format!("{name} is in the baseline and was not measured")));
    judged
}

fn compare(name: &str, before: Cost, now: Cost, tolerance: f64, same: bool, judged: &mut Judged) {
    let more = now.instructions / before.instructions - 1.0;
    let said = format!(
        "{name}: {:.1} instructions, {:.1} before ({:+.1} %)",
        now.instructions,
        before.instructions,
        100.0 * more
    );
    if now.instructions > before.instructions * (1.0 + tolerance) {
        judged.failures.push(said);
    } else if same && more < -tolerance {
        judged.notes.push(format!("{said}: lower; update the baseline with {}", super::ACCEPT));
    }
    let spare = SPARE_ALLOCATIONS + SPARE_SHARE * before.allocations;
    if now.allocations > before.allocations + spare {
        judged
            .failures
            .push(format!("{name}: {:.3} allocations, {:.3} before", now.allocations, before.allocations));
    }
}

/// Returns the new baseline, with the old figures of stages that have hardly changed.
pub(crate) fn accepted(old: &Baseline, mut new: Baseline) -> Baseline {
    if old.with == new.with {
        for (name, now) in &mut new.stages {
            if let Some(before) = old.stages.get(name)
                && (now.instructions / before.instructions - 1.0).abs() <= UNCHANGED
                && (now.allocations - before.allocations).abs() <= SPARE_ALLOCATIONS
            {
                *now = *before;
            }
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(with: &str, stages: &[(&str, f64, f64)]) -> Baseline {
        let cost = |&(name, instructions, allocations): &(&str, f64, f64)| {
            (name.to_owned(), Cost { instructions, allocations })
        };
        Baseline { with: with.to_owned(), stages: stages.iter().map(cost).collect() }
    }

    fn failures(before: &[(&str, f64, f64)], now: &[(&str, f64, f64)]) -> Vec<String> {
        judge(&baseline("here", before), &baseline("here", now)).failures
    }

    #[test]
    fn more_than_a_twentieth_fails_and_names_both_figures() {
        assert!(failures(&[("pipe", 1000.0, 0.0)], &[("pipe", 1050.0, 0.0)]).is_empty());
        let failed = failures(&[("pipe", 1000.0, 0.0)], &[("pipe", 1051.0, 0.0)]);
        assert_eq!(failed, ["pipe: 1051.0 instructions, 1000.0 before (+5.1 %)"]);
    }

    #[test]
    fn an_additional_allocation_fails() {
        assert!(failures(&[("pipe", 9000.0, 0.0)], &[("pipe", 9000.0, 0.1)]).is_empty());
        assert_eq!(failures(&[("pipe", 9000.0, 0.0)], &[("pipe", 9000.0, 0.101)]).len(), 1);
        let failed = failures(&[("pipe", 9000.0, 0.0)], &[("pipe", 9100.0, 1.0)]);
        assert_eq!(failed, ["pipe: 1.000 allocations, 0.000 before"]);
        assert!(failures(&[("conversation", 9.0, 20_000.0)], &[("conversation", 9.0, 20_010.0)]).is_empty());
        assert_eq!(failures(&[("conversation", 9.0, 20_000.0)], &[("conversation", 9.0, 21_000.0)]).len(), 1);
    }

    #[test]
    fn lower_costs_are_noted() {
        let (before, now) =
            (baseline("here", &[("pipe", 1000.0, 0.0)]), baseline("here", &[("pipe", 900.0, 0.0)]));
        let judged = judge(&before, &now);
        assert!(judged.failures.is_empty() && judged.notes.len() == 1, "{judged:?}");
    }

    #[test]
    fn another_compiler_may_add_instructions_but_no_allocations() {
        let before = baseline("here", &[("pipe", 1000.0, 0.0)]);
        let judged = judge(&before, &baseline("there", &[("pipe", 1200.0, 0.0)]));
        assert!(judged.failures.is_empty() && judged.notes.len() == 1, "{judged:?}");
        assert_eq!(judge(&before, &baseline("there", &[("pipe", 1251.0, 0.0)])).failures.len(), 1);
        assert_eq!(judge(&before, &baseline("there", &[("pipe", 1000.0, 1.0)])).failures.len(), 1);
    }

    #[test]
    fn new_and_missing_stages_fail() {
        assert_eq!(failures(&[("a", 1.0, 0.0)], &[("b", 1.0, 0.0)]).len(), 2);
    }

    #[test]
    fn a_new_baseline_keeps_unchanged_figures() {
        let old = baseline("here", &[("a", 1000.0, 0.0), ("b", 1000.0, 0.0)]);
        let new = baseline("here", &[("a", 1005.0, 0.0), ("b", 1100.0, 0.0), ("c", 1.0, 0.0)]);
        let expected = baseline("here", &[("a", 1000.0, 0.0), ("b", 1100.0, 0.0), ("c", 1.0, 0.0)]);
        assert_eq!(accepted(&old, new.clone()), expected);
        assert_eq!(accepted(&baseline("there", &[("a", 1000.0, 0.0)]), new.clone()), new);
    }
}
