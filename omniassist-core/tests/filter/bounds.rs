use omniassist_core::EventBuf;
use omniassist_core::filter::{MAX_HELD_BYTES, OutputFilter, Pii, Stage, TextFilter, TextKind, Verdict};

use super::secrets::{Dice, secret};
use super::{end, text, turn, written};

/// A filter that never decides about a text.
struct Undecided;

impl OutputFilter for Undecided {
    fn begin(&self, _kind: TextKind) -> Option<Box<dyn TextFilter>> {
        Some(Box::new(Self))
    }
}

impl TextFilter for Undecided {
    fn check(&mut self, _held: &str, _stage: Stage) -> Verdict {
        Verdict::Pass(0)
    }
}

#[test]
fn undecided_text_is_replaced_at_the_bound() {
    let (mut turn, mut events) = (turn(Undecided), EventBuf::new());
    turn.take(text(&"a".repeat(MAX_HELD_BYTES)), &mut events).unwrap();
    assert_eq!((turn.held().1, events.len()), (MAX_HELD_BYTES, 0));
    turn.take(text("b"), &mut events).unwrap();
    assert_eq!((turn.held().1, written(&mut events).as_str()), (0, "[redacted]"));
    // One text is replaced only once.
    turn.take(text("c"), &mut events).unwrap();
    turn.due(&mut events).unwrap();
    turn.take(text("d"), &mut events).unwrap();
    turn.take(end(), &mut events).unwrap();
    assert_eq!(written(&mut events), "");
}

#[test]
fn the_filter_of_personal_data_never_exceeds_the_bound() {
    const PARTS: [&str; 12] =
        ["eyJ", ".", "@", "4", " ", "sk-", "a", "DE89", "é", "-", "0123456789", "github_pat_"];
    for seed in 0..3_000 {
        let mut dice = Dice::new(seed);
        let (mut turn, mut events) = (turn(Pii::new()), EventBuf::new());
        for _ in 0..120 {
            let piece = if dice.below(40) == 0 {
                secret(&mut dice).text
            } else {
                PARTS[dice.below(PARTS.len())].repeat(1 + dice.below(6))
            };
            turn.take(text(&piece), &mut events).unwrap();
            assert!(turn.held().1 <= MAX_HELD_BYTES);
        }
        turn.take(end(), &mut events).unwrap();
        assert_eq!(turn.held().1, 0);
    }
}

#[test]
fn invalid_offsets_are_moved_to_a_character_boundary() {
    struct Odd(bool);
    impl OutputFilter for Odd {
        fn begin(&self, _kind: TextKind) -> Option<Box<dyn TextFilter>> {
            Some(Box::new(Self(false)))
        }
    }
    impl TextFilter for Odd {
        fn check(&mut self, held: &str, _stage: Stage) -> Verdict {
            if std::mem::replace(&mut self.0, true) {
                return Verdict::Pass(held.len() + 5);
            }
            Verdict::Replace { range: 2..4, with: "-".into() }
        }
    }
    let (mut turn, mut events) = (turn(Odd(false)), EventBuf::new());
    turn.take(text("äöü"), &mut events).unwrap();
    turn.take(end(), &mut events).unwrap();
    assert_eq!(written(&mut events), "ä-ü");
}

#[test]
fn an_empty_range_does_not_loop_forever() {
    struct Empty;
    impl OutputFilter for Empty {
        fn begin(&self, _kind: TextKind) -> Option<Box<dyn TextFilter>> {
            Some(Box::new(Self))
        }
    }
    impl TextFilter for Empty {
        fn check(&mut self, _held: &str, _stage: Stage) -> Verdict {
            Verdict::Replace { range: 0..0, with: "x".into() }
        }
    }
    let (mut turn, mut events) = (turn(Empty), EventBuf::new());
    turn.take(text("abc"), &mut events).unwrap();
    turn.take(end(), &mut events).unwrap();
    assert!(!written(&mut events).contains("abc"));
}
