use super::detector::{At, Candidate, Detector, Match};
use super::output_filter::{Stage, TextFilter, Verdict};
use crate::Text;

/// The consequence of a match.
#[derive(Debug, Clone)]
pub(super) enum Action {
    /// The match is replaced by this text.
    Replace(Text),
    /// The run ends with this message.
    Stop(Text),
}

/// Adds the setters of a filter's field `action`.
macro_rules! impl_action {
    ($filter:ident) => {
        impl $filter {
            /// Sets the replacement. Default: [`REDACTED`]. An empty one removes the match. Undecided text at a
            /// bound is always replaced by [`REDACTED`].
            pub fn replacement(mut self, replacement: impl Into<Text>) -> Self {
                self.action = Action::Replace(replacement.into());
                self
            }

            /// Ends the run at a match, with a message for the client. Default: the match is replaced.
            pub fn stop_run(mut self, message: impl Into<Text>) -> Self {
                self.action = Action::Stop(message.into());
                self
            }
        }
    };
}
pub(super) use impl_action;

/// The detectors of one block.
pub(super) struct Scan {
    detectors: Vec<Box<dyn Detector>>,
    action: Action,
    /// The offset of the withheld text in the block.
    base: usize,
    /// The offset in the block up to which the detectors have read.
    scanned: usize,
    /// The characters that extend the previous match.
    goes_on: Option<fn(char) -> bool>,
    /// A match within a candidate that began earlier. The candidate has precedence.
    found: Option<Match>,
}

impl Scan {
    pub(super) fn new(detectors: Vec<Box<dyn Detector>>, action: Action) -> Self {
        Self { detectors, action, base: 0, scanned: 0, goes_on: None, found: None }
    }

    /// Returns the number of leading bytes that extend the previous match, and `true` if that match has ended after
    /// them. Dots extend it if further characters of it follow.
    fn rest_of_match(held: &str, goes_on: fn(char) -> bool) -> (usize, bool) {
        let rest = held.trim_start_matches(goes_on);
        let taken = held.get(..held.len() - rest.len()).unwrap_or_default();
        (taken.trim_end_matches('.').len(), !rest.is_empty())
    }

    /// Records a match. The one that begins first counts.
    fn note(&mut self, found: Match) {
        if self.found.as_ref().is_none_or(|noted| found.range.start < noted.range.start) {
            self.found = Some(found);
        }
    }

    /// Returns the recorded match, unless a candidate begins before it.
    fn decided(&mut self) -> Option<Match> {
        let start = self.found.as_ref()?.range.start;
        let is_first = self.candidates().all(|candidate| candidate.start >= start);
        if is_first { self.found.take() } else { None }
    }

    fn candidates(&self) -> impl Iterator<Item = Candidate> {
        self.detectors.iter().filter_map(|detector| detector.candidate())
    }

    fn act(&mut self, found: &Match) -> Verdict {
        self.detectors.iter_mut().for_each(|detector| detector.reset());
        let range = found.range.start.saturating_sub(self.base)..found.range.end.saturating_sub(self.base);
        self.goes_on = Some(found.goes_on);
        self.base = found.range.end.max(self.base);
        self.scanned = self.base;
        match &self.action {
            Action::Replace(with) => Verdict::Replace { range, with: with.clone() },
            Action::Stop(message) => Verdict::Stop { at: range.start, message: message.clone() },
        }
    }

    /// Decides at a bound: the harmless prefix of all candidates passes.
    fn due(&mut self, held: &str) -> Verdict {
        let found = self.found.take();
        self.goes_on = found.as_ref().map(|found| found.goes_on);
        let harmless = self.candidates().filter_map(|candidate| candidate.harmless);
        let end = harmless.chain(found.map(|found| found.range.start)).min().unwrap_or(self.scanned);
        let bytes = end.saturating_sub(self.base).min(held.len());
        self.base = self.scanned;
        Verdict::Pass(bytes)
    }
}

impl TextFilter for Scan {
    fn check(&mut self, held: &str, stage: Stage) -> Verdict {
        if let Some(goes_on) = self.goes_on {
            let (bytes, ended) = Self::rest_of_match(held, goes_on);
            if bytes > 0 {
                self.base += bytes;
                self.scanned = self.base;
                return Verdict::Replace { range: 0..bytes, with: Text::new() };
            }
            if !ended && stage != Stage::End {
                // Dots, which extend the match if further characters of it follow.
                let bytes = if stage == Stage::Due { held.len() } else { 0 };
                self.base += bytes;
                self.scanned = self.base;
                return Verdict::Pass(bytes);
            }
            self.goes_on = None;
        }
        let unread = held.get(self.scanned - self.base..).unwrap_or_default();
        for char in unread.chars() {
            let next = At { at: self.scanned, char };
            self.scanned = next.end();
            for index in 0..self.detectors.len() {
                if let Some(found) = self.detectors.get_mut(index).and_then(|detector| detector.step(next)) {
                    self.note(found);
                }
            }
            if let Some(found) = self.decided() {
                return self.act(&found);
            }
        }
        match stage {
            Stage::Open => {
                let start = self.candidates().map(|candidate| candidate.start).min().unwrap_or(self.scanned);
                let bytes = start.saturating_sub(self.base);
                self.base += bytes;
                Verdict::Pass(bytes)
            }
            Stage::Due => self.due(held),
            Stage::End => {
                for index in 0..self.detectors.len() {
                    if let Some(found) = self.detectors.get_mut(index).and_then(|detector| detector.end()) {
                        self.note(found);
                    }
                }
                if let Some(found) = self.found.take() {
                    return self.act(&found);
                }
                self.base = self.scanned;
                Verdict::Pass(held.len())
            }
        }
    }
}
