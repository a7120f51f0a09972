use omniassist_core::filter::WordList;

use super::{characters, filtered};

fn names() -> WordList {
    WordList::new(["Bluebird", "Project  Falcon", "Ünal", "x"]).replacement("***")
}

#[test]
fn whole_words_match_in_any_case_and_any_division_into_deltas() {
    let text = "BLUEBIRD, bluebirds and blue birds; (Bluebird) x-ray. ÜNAL unal xx bluebird";
    let expected = "***, bluebirds and blue birds; (***) ***-ray. *** unal xx ***";
    assert_eq!(filtered(names(), [text], false), expected);
    assert_eq!(filtered(names(), characters(text), false), expected);
    for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
        let (head, tail) = text.split_at(at);
        assert_eq!(filtered(names(), [head, tail], false), expected, "{head}|{tail}");
    }
}

#[test]
fn a_phrase_matches_any_white_space_of_the_same_length() {
    let list = || WordList::new(["project falcon"]);
    assert_eq!(filtered(list(), ["Project\nFalc", "on takes off"], false), "[redacted] takes off");
    assert_eq!(
        filtered(list(), ["project falcons, project  falcon"], false),
        "project falcons, project  falcon"
    );
}

#[test]
fn words_can_match_within_other_words() {
    let list = || WordList::new(["密码", "bird"]).anywhere(true).replacement("");
    assert_eq!(filtered(list(), characters("我的密码是bluebirds"), false), "我的是blues");
}

#[test]
fn the_longest_of_several_words_at_one_place_matches() {
    let list =
        || WordList::new(["Falcon", "Falcon Heavy", "Falcon Heavy Two", "Heavier Things"]).replacement("***");
    let text = "Falcon, Falcon Heavy and falcon heavy two; Falcon heavier things, Falcon Heavyweight, Falcon Heavy T";
    let expected = "***, *** and ***; *** ***, *** Heavyweight, *** T";
    assert_eq!(filtered(list(), [text], false), expected);
    assert_eq!(filtered(list(), characters(text), false), expected);
    let list = || WordList::new(["东京", "东京都"]).anywhere(true).replacement("");
    assert_eq!(filtered(list(), ["在东京都和东京"], false), "在和");
    assert_eq!(filtered(list(), characters("在东京都和东京"), false), "在和");
    // A pause shows no part of a word that matches, and no text after it is lost.
    let list = || WordList::new(["blue", "blue bird"]);
    assert_eq!(filtered(list(), ["a blue ", "sky"], true), "a [redacted]sky");
}

#[test]
fn a_pause_within_a_word_shows_at_most_its_first_half() {
    for at in 1.."bluebird".len() {
        let shown = filtered(names(), ["blue bluebird"[..5 + at].as_ref(), &"bluebird"[at..], " ok"], true);
        let word = shown.strip_prefix("blue ").and_then(|shown| shown.strip_suffix(" ok")).unwrap();
        let word = word.replace("[redacted]", "").replace("***", "");
        assert!("blue".starts_with(&word), "{shown}");
    }
}
