use omniassist_core::filter::{Pii, WordList};

use super::secrets::Dice;
use super::{characters, filtered};

const CLEAN: &[&str] = &[
    "On 2026-11-23 at 05:48 we sold 1,234,567 units for 4 EUR each; call +44 20 7946 0958 or 0800 123 456.",
    "Order 4000123 of 2025-12-31 was shipped with 17 parcels, tracking 1Z999AA10123456784, at 51.5074 N.",
    "Use `react@18.2.0` or `@scope/pkg`, log in as root@localhost and read a@b, please.",
    "let id = \"550e8400-e29b-41d4-a716-446655440000\"; // 64 hex: deadbeef4111aaaa",
    "It is at AT12 or in DE89; no IBAN. Task-force, risk-free, desk-top, ask-me-anything and pk-fire.",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; 4111 1111 1111 1112 fails the check digit.",
    "我们在 2026 年卖出了 4000 件。Спасибо, Ada! Grüße an Jürgen… naïve café 🙂 e.g. this... and so on.",
    "GB34BUKB20201555555555 has wrong check digits; so has DE00 3704 0044 0532 0130 00. eyJust so. sk-learn rocks, hf_hub_download too.",
];

#[test]
fn clean_text_is_unchanged_for_any_division_into_deltas() {
    for text in CLEAN {
        assert_eq!(filtered(Pii::new(), [*text], false), *text);
        assert_eq!(filtered(Pii::new(), characters(text), false), *text);
        for seed in 0..200 {
            let mut dice = Dice::new(seed);
            let (mut pieces, mut rest) = (Vec::new(), *text);
            while !rest.is_empty() {
                let at = rest.char_indices().map(|(at, _)| at).nth(1 + dice.below(9)).unwrap_or(rest.len());
                let (piece, tail) = rest.split_at(at);
                pieces.push(piece);
                rest = tail;
            }
            assert_eq!(filtered(Pii::new(), pieces, false), *text);
        }
    }
}

#[test]
fn clean_text_is_unchanged_with_a_pause_after_each_word() {
    let text = "Dear Ada, thanks for your order of 4 chairs on 2026-11-23; it is on its way to Berlin.";
    assert_eq!(filtered(Pii::new(), text.split_inclusive(' '), true), text);
    assert_eq!(filtered(WordList::new(["chairman"]), text.split_inclusive(' '), true), text);
}
