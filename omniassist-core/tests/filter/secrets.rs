//! A generator of random secrets of every kind.

/// A generator of random numbers (xorshift).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn chars(&mut self, alphabet: &str, count: usize) -> String {
        (0..count).map(|_| char::from(alphabet.as_bytes()[self.below(alphabet.len())])).collect()
    }
}

const DIGITS: &str = "0123456789";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// A secret and the length of its harmless prefix.
pub(super) struct Secret {
    pub(super) text: String,
    pub(super) harmless: usize,
}

pub(super) fn secret(dice: &mut Dice) -> Secret {
    match dice.below(5) {
        0 => card(dice),
        1 => iban(dice),
        2 => mail(dice),
        3 => token(dice),
        _ => key(dice),
    }
}

fn card(dice: &mut Dice) -> Secret {
    let (prefix, length, groups): (&str, usize, &[usize]) = match dice.below(5) {
        0 => ("4", 16, &[4, 4, 4, 4]),
        1 => ("51", 16, &[4, 4, 4, 4]),
        2 => ("37", 15, &[4, 6, 5]),
        3 => ("2221", 16, &[4, 4, 4, 4]),
        _ => ("62", 19, &[4, 4, 4, 4, 3]),
    };
    let mut digits = format!("{prefix}{}", dice.chars(DIGITS, length - prefix.len() - 1));
    let sum: u32 = digits
        .chars()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let value = digit.to_digit(10).unwrap();
            if at % 2 == 0 { value * 2 / 10 + value * 2 % 10 } else { value }
        })
        .sum();
    digits.push_str(&((10 - sum % 10) % 10).to_string());
    let separator = dice.one_of(&["", " ", "-", "\u{a0}"]);
    let mut text = String::new();
    let mut rest = digits.as_str();
    for group in groups {
        if !text.is_empty() {
            text.push_str(separator);
        }
        text.push_str(&rest[..*group]);
        rest = &rest[*group..];
    }
    let harmless = text.char_indices().filter(|(_, char)| char.is_ascii_digit()).nth(8).unwrap().0;
    Secret { text, harmless }
}

fn iban(dice: &mut Dice) -> Secret {
    let (country, length) =
        [("DE", 22), ("NO", 15), ("GB", 22), ("FR", 27), ("MT", 31), ("CH", 21)][dice.below(6)];
    let account = dice.chars(if country == "GB" { &LETTERS[..26] } else { DIGITS }, length - 4);
    let number: String =
        format!("{account}{country}00").chars().map(|char| char.to_digit(36).unwrap().to_string()).collect();
    let remainder =
        number.bytes().fold(0, |remainder, digit| (remainder * 10 + u32::from(digit - b'0')) % 97);
    let whole = format!("{country}{:02}{account}", 98 - remainder);
    let text = match dice.below(3) {
        0 => whole,
        1 => whole
            .as_bytes()
            .chunks(4)
            .map(|group| std::str::from_utf8(group).unwrap())
            .collect::<Vec<_>>()
            .join(" "),
        _ => whole.to_lowercase(),
    };
    Secret { text, harmless: 4 }
}

fn mail(dice: &mut Dice) -> Secret {
    let first = dice.one_of(&["ada", "Grace.Hopper", "müller", "x", "no_reply+tag", "o'brien"]);
    let number = dice.below(1000);
    let domain = dice.one_of(&["example.org", "mail.example.co.uk", "a-b.io", "bücher.example", "1und1.de"]);
    let local = format!("{first}{number}");
    Secret { harmless: local.len(), text: format!("{local}@{domain}") }
}

fn key(dice: &mut Dice) -> Secret {
    let prefix = dice.one_of(&[
        "sk-",
        "sk-proj-",
        "AKIA",
        "AIza",
        "ghp_",
        "github_pat_",
        "xai-",
        "hf_",
        "nvapi-",
        "sk_live_",
    ]);
    let length = 16 + dice.below(60);
    let known = if prefix.starts_with("sk") { 3 } else { prefix.len() };
    Secret { text: format!("{prefix}{}", dice.chars(LETTERS, length)), harmless: known }
}

fn token(dice: &mut Dice) -> Secret {
    let (header, payload, proof) = (20 + dice.below(60), 10 + dice.below(60), 43);
    let part = |dice: &mut Dice, length| dice.chars(LETTERS, length);
    let text = format!("eyJ{}.eyJ{}.{}", part(dice, header), part(dice, payload), part(dice, proof));
    Secret { text, harmless: 3 }
}
