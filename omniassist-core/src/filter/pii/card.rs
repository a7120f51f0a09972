use crate::filter::detector::{At, Candidate, Detector, Match};

/// The number of digits of the longest card number.
const MAX_DIGITS: usize = 19;

/// The number of digits that identify the issuer (ISO/IEC 7812-1). They may be shown (PCI DSS 4.0, 3.4.1).
const ISSUER_DIGITS: usize = 8;

/// Finds the numbers of payment cards.
#[derive(Debug, Default)]
pub(super) struct Cards {
    digits: Vec<Digit>,
    /// `true` after a separator.
    separated: bool,
    /// `true` within a group of digits that cannot begin a card number.
    in_other: bool,
}

#[derive(Debug, Clone, Copy)]
struct Digit {
    at: usize,
    value: u8,
    begins_group: bool,
}

/// Returns `true` for the usual separators between groups of digits.
pub(super) fn is_separator(char: char) -> bool {
    matches!(char, ' ' | '-' | '.' | '\u{a0}' | '\u{2009}' | '\u{2011}' | '\u{202f}')
}

impl Detector for Cards {
    fn step(&mut self, next: At) -> Option<Match> {
        let Some(value) = next.char.to_digit(10) else {
            self.in_other = false;
            if is_separator(next.char) && !self.digits.is_empty() && !self.separated {
                self.separated = true;
                return None;
            }
            return self.end();
        };
        if self.in_other {
            return None;
        }
        let begins_group = self.digits.is_empty() || std::mem::take(&mut self.separated);
        self.digits.push(Digit { at: next.at, value: u8::try_from(value).unwrap_or(0), begins_group });
        if self.digits.len() > MAX_DIGITS {
            if let Some(found) = self.first() {
                return Some(found);
            }
            self.drop_group();
        }
        while !self.digits.is_empty() && !self.may_begin() {
            self.drop_group();
        }
        None
    }

    fn end(&mut self) -> Option<Match> {
        self.separated = false;
        while !self.digits.is_empty() {
            if let Some(found) = self.first() {
                return Some(found);
            }
            self.drop_group();
        }
        self.in_other = false;
        None
    }

    fn candidate(&self) -> Option<Candidate> {
        let start = self.digits.first()?.at;
        Some(Candidate { start, harmless: self.digits.get(ISSUER_DIGITS).map(|digit| digit.at) })
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}

impl Cards {
    /// Removes the first group.
    fn drop_group(&mut self) {
        let group = self.digits.iter().skip(1).take_while(|digit| !digit.begins_group).count() + 1;
        self.digits.drain(..group.min(self.digits.len()));
        self.in_other = self.digits.is_empty() && !self.separated;
    }

    /// Returns `true` if a card number can have these first digits.
    fn may_begin(&self) -> bool {
        let value = |index: usize| self.digits.get(index).map(|digit| digit.value);
        match (value(0), value(1)) {
            (Some(4 | 6), _) | (Some(2 | 3 | 5), None) => true,
            (Some(2), Some(second)) => (2..=7).contains(&second),
            (Some(3), Some(second)) => second == 0 || second >= 4,
            (Some(5), Some(_)) => true,
            _ => false,
        }
    }

    /// Returns the longest card number that begins with the first group and ends with a complete one.
    fn first(&self) -> Option<Match> {
        (13..=self.digits.len().min(MAX_DIGITS)).rev().find_map(|length| {
            let ends_group = self.digits.get(length).is_none_or(|next| next.begins_group);
            let digits = self.digits.get(..length)?;
            let (first, last) = (digits.first()?, digits.last()?);
            let range = first.at..last.at + 1;
            let fits = ends_group && has_groups(digits) && has_length(digits) && has_check_digit(digits);
            fits.then_some(Match { range, goes_on: |_| false })
        })
    }
}

/// Returns `true` if the groups have the usual lengths. Lists of small numbers are not cards.
fn has_groups(digits: &[Digit]) -> bool {
    let starts = digits.iter().enumerate().filter(|(_, digit)| digit.begins_group).map(|(index, _)| index);
    starts.clone().zip(starts.skip(1)).all(|(start, next)| next - start >= 3)
}

/// Returns `true` if cards of this issuer have this number of digits.
fn has_length(digits: &[Digit]) -> bool {
    let prefix = digits.iter().take(2).fold(0, |prefix, digit| prefix * 10 + digit.value);
    let length = digits.len();
    match prefix {
        40..=49 => matches!(length, 13 | 16 | 19),
        34 | 37 => length == 15,
        22..=27 | 51..=55 => length == 16,
        30 | 36 | 38 | 39 => matches!(length, 14 | 16),
        35 => length >= 16,
        _ => true,
    }
}

/// Checks the check digit (Luhn).
fn has_check_digit(digits: &[Digit]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .zip([false, true].into_iter().cycle())
        .map(|(digit, doubled)| match (u32::from(digit.value), doubled) {
            (value, false) => value,
            (value, true) if value > 4 => value * 2 - 9,
            (value, true) => value * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}
