use super::card::is_separator;
use crate::filter::detector::{At, Candidate, Detector, Match};

/// The length of an IBAN in each country of the registry (SWIFT, release 99).
const LENGTHS: &str = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18\
    FO18FR27GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24\
    ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28\
    TL23TN24TR26UA29VA24VG24XK20YE30";

/// The country and the check digits.
const HEAD: usize = 4;

/// Finds IBANs.
#[derive(Debug, Default)]
pub(super) struct Ibans {
    /// The candidate, including separators.
    chars: Vec<At>,
    /// Its letters and digits, in upper case.
    code: String,
    length: usize,
    /// `true` after a letter or a digit that belongs to no candidate.
    in_word: bool,
}

impl Detector for Ibans {
    fn step(&mut self, next: At) -> Option<Match> {
        if self.chars.is_empty() {
            self.begin(next);
            return None;
        }
        if !self.fits(next.char) {
            return self.retry(next);
        }
        self.chars.push(next);
        if is_separator(next.char) {
            return None;
        }
        self.code.push(next.char.to_ascii_uppercase());
        if self.code.len() == 2 {
            match length(&self.code) {
                Some(length) => self.length = length,
                None => return self.retry_without(),
            }
        }
        if self.code.len() > HEAD && self.code.len() == self.length {
            if is_valid(&self.code) {
                let start = self.chars.first().map_or(next.at, |first| first.at);
                return Some(Match { range: start..next.end(), goes_on: |_| false });
            }
            return self.retry_without();
        }
        None
    }

    fn candidate(&self) -> Option<Candidate> {
        let start = self.chars.first()?.at;
        Some(Candidate { start, harmless: self.chars.get(HEAD).map(|at| at.at) })
    }

    fn reset(&mut self) {
        *self = Self { in_word: true, ..Self::default() };
    }
}

impl Ibans {
    fn begin(&mut self, next: At) {
        if !self.in_word && next.char.is_ascii_alphabetic() {
            self.chars.push(next);
            self.code.push(next.char.to_ascii_uppercase());
        }
        self.in_word = self.chars.is_empty() && next.char.is_alphanumeric();
    }

    fn fits(&self, char: char) -> bool {
        match self.code.len() {
            0 | 1 => char.is_ascii_alphabetic(),
            2 | 3 => char.is_ascii_digit(),
            _ => {
                let follows = self.chars.last().is_some_and(|last| !is_separator(last.char));
                char.is_ascii_alphanumeric() || is_separator(char) && follows
            }
        }
    }

    fn retry(&mut self, next: At) -> Option<Match> {
        self.chars.push(next);
        self.retry_without()
    }

    /// Discards the candidate. Another one may begin within it.
    fn retry_without(&mut self) -> Option<Match> {
        let chars = std::mem::take(&mut self.chars);
        *self = Self { in_word: true, ..Self::default() };
        // The first word of the candidate begins no other one.
        let rest = chars.iter().skip_while(|at| at.char.is_alphanumeric());
        rest.copied().find_map(|at| self.step(at))
    }
}

fn length(country: &str) -> Option<usize> {
    let at = LENGTHS.as_bytes().chunks_exact(HEAD).position(|entry| entry.starts_with(country.as_bytes()))?;
    LENGTHS.get(at * HEAD + 2..(at + 1) * HEAD)?.parse().ok()
}

/// Checks the check digits (ISO 7064, MOD 97-10).
fn is_valid(code: &str) -> bool {
    let (head, rest) = code.split_at_checked(HEAD).unwrap_or_default();
    let remainder = rest.chars().chain(head.chars()).fold(0, |remainder, char| {
        let value = char.to_digit(36).unwrap_or(0);
        (remainder * if value < 10 { 10 } else { 100 } + value) % 97
    });
    remainder == 1
}
