use omniassist_core::filter::Pii;

use super::secrets::{Dice, Secret, secret};
use super::{characters, filtered};

/// Text before and after a secret.
const AROUND: [(&str, &str); 6] = [
    ("The value is ", " as you asked."),
    ("Ich fand „", "“ gestern."),
    ("{\"v\":\"", "\"}"),
    ("17 of 23: ", ", 4 left"),
    ("(", ")"),
    ("", ""),
];

fn example(number: u64) -> (Secret, String, &'static str, &'static str) {
    let mut dice = Dice::new(number);
    let secret = secret(&mut dice);
    let (before, behind) = AROUND[dice.below(AROUND.len())];
    let text = format!("{before}{}{behind}", secret.text);
    (secret, text, before, behind)
}

#[test]
fn secrets_cut_at_any_byte_do_not_leak() {
    let mut leaks = 0;
    for number in 0..10_000 {
        let (secret, text, before, behind) = example(number);
        let expected = format!("{before}[redacted]{behind}");
        let cuts = (before.len()..=before.len() + secret.text.len()).filter(|at| text.is_char_boundary(*at));
        // Every 32nd secret is also tested with one cut at a time.
        for at in cuts.filter(|_| number % 32 == 0) {
            let (head, tail) = text.split_at(at);
            leaks += usize::from(filtered(Pii::new(), [head, tail], false) != expected);
        }
        leaks += usize::from(filtered(Pii::new(), characters(&text), false) != expected);
    }
    assert_eq!(leaks, 0);
}

#[test]
fn a_pause_at_any_byte_of_a_secret_shows_at_most_its_harmless_prefix() {
    for number in 0..4_000 {
        let (secret, text, before, behind) = example(number);
        // Each character is one delta, and the time bound passes before the next one.
        let shown = filtered(Pii::new(), characters(&text), true);
        let harmless = &secret.text[..secret.harmless];
        // The space after a number is withheld with it.
        let allowed = shown.strip_prefix(before).and_then(|shown| shown.strip_suffix(behind.trim_start()));
        let allowed = allowed.unwrap_or_else(|| panic!("{text}: {shown}")).replace("[redacted]", "");
        // A dot after a domain or a token may belong to the following text.
        assert!(harmless.starts_with(allowed.trim_end_matches(['.', ' '])), "{text}: {shown}");
    }
}

#[test]
fn one_pause_within_a_secret_shows_at_most_its_harmless_prefix() {
    for number in 0..2_000 {
        let (secret, text, before, _) = example(number);
        let mut dice = Dice::new(number + 1);
        let at = before.len() + 1 + dice.below(secret.text.len() - 1);
        let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        let (head, tail) = text.split_at(at);
        let (mut turn, mut events) = (super::turn(Pii::new()), omniassist_core::EventBuf::new());
        turn.take(super::text(head), &mut events).unwrap();
        turn.due(&mut events).unwrap();
        turn.take(super::text(tail), &mut events).unwrap();
        turn.take(super::end(), &mut events).unwrap();
        let shown = super::written(&mut events);
        let rest = &secret.text[secret.harmless..];
        let longest = (6..=rest.len()).find(|length| {
            let part = rest.get(rest.len() - length..);
            part.is_some_and(|part| shown.contains(part))
        });
        assert_eq!(longest, None, "{text}: {shown}");
    }
}

#[test]
fn adjacent_secrets_are_all_replaced() {
    let text = "4111 1111 1111 1111 5500-0000-0000-0004 DE89 3704 0044 0532 0130 00 ada@example.org,bob@example.org \
                order 17 4242 4242 4242 4242 AT12 DE89370400440532013000.";
    let shown = filtered(Pii::new(), [text], false);
    assert_eq!(
        shown,
        "[redacted] [redacted] [redacted] [redacted],[redacted] order 17 [redacted] AT12 [redacted]."
    );
    assert_eq!(filtered(Pii::new(), characters(text), false), shown);
}

#[test]
fn each_kind_can_be_disabled() {
    let text = "sk-abcdefghijkl1234 4111111111111111 DE89370400440532013000 ada@example.org";
    let shown = |filter| filtered(filter, [text], false);
    assert_eq!(shown(Pii::keys_only()), "[redacted] 4111111111111111 DE89370400440532013000 ada@example.org");
    assert_eq!(shown(Pii::new().keys(false).replacement("#")), "sk-abcdefghijkl1234 # # #");
    assert_eq!(
        shown(Pii::new().cards(false).emails(false).replacement("")),
        " 4111111111111111  ada@example.org"
    );
    assert_eq!(shown(Pii::new().ibans(false)), "[redacted] [redacted] DE89370400440532013000 [redacted]");
}
