//! The moments of a child's life, which it writes to its output as they come, by the clock that all processes share.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::child::say;

/// The time between two beats of a child.
pub(crate) const BEAT: Duration = Duration::from_millis(5);

/// The points between which text is committed: a write of text, and the end of a run.
const COMMITS: [(&str, &str); 2] =
    [("flusher.gathered", "flusher.appended"), ("task.settle.cut", "task.settle.written")];

/// Returns the time since the start of the machine.
pub(crate) fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}

/// Writes that something happens now.
pub(crate) fn happens(name: &str) {
    say(&format!("@at {} {name}", now().as_nanos()));
}

/// Writes the points of commits, and the death.
pub(crate) fn at_point(name: &'static str, is_death: bool) {
    if COMMITS.iter().any(|(begin, end)| name == *begin || name == *end) {
        happens(name);
    }
    if is_death {
        happens("death");
    }
}

/// The moments of one child.
#[derive(Debug)]
pub(crate) struct Moments {
    /// The deltas that the engine was handed.
    pub(crate) deltas: Vec<(Duration, String)>,
    /// The longest commit of text, or the one that the death cut, if it took longer.
    pub(crate) commit: Duration,
    /// The longest time by which a timer fired late.
    pub(crate) late: Duration,
}

impl Moments {
    /// Reads the output of a child that died at a time.
    pub(crate) fn read<'l>(lines: impl Iterator<Item = &'l str>, death: Duration) -> Self {
        let mut all: Vec<(Duration, &str)> = lines.filter_map(moment).collect();
        // Threads write in another order than they look at the clock.
        all.sort_by_key(|(at, _)| *at);
        let of = |name: &'static str| all.iter().filter(move |(_, found)| *found == name).map(|(at, _)| *at);
        let commits = COMMITS.iter().flat_map(|(begin, end)| {
            of(begin).map(move |began| of(end).find(|at| *at >= began).unwrap_or(death).saturating_sub(began))
        });
        let beats: Vec<Duration> = of("beat").chain([death]).collect();
        let late = beats.windows(2).map(|pair| pair[1].saturating_sub(pair[0]).saturating_sub(BEAT));
        let deltas = all.iter().filter_map(|(at, name)| Some((*at, name.strip_prefix("delta ")?.to_owned())));
        Self {
            deltas: deltas.collect(),
            commit: commits.max().unwrap_or_default(),
            late: late.max().unwrap_or_default(),
        }
    }
}

fn moment(line: &str) -> Option<(Duration, &str)> {
    let (time, name) = line.strip_prefix("@at ")?.split_once(' ')?;
    Some((Duration::from_nanos(time.parse().ok()?), name))
}

/// Returns the time of the death that a child wrote.
pub(crate) fn death<'l>(mut lines: impl Iterator<Item = &'l str>) -> Option<Duration> {
    lines.find_map(|line| moment(line).filter(|(_, name)| *name == "death").map(|(at, _)| at))
}
