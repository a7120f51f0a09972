//! The stored messages: each question has one whole answer, in the order of the questions.

use serde_json::Value;

use crate::shape::Shape;

pub(crate) fn check(shape: Shape, messages: &[Value], found: &mut Vec<String>) {
    let told: Vec<(&str, &str)> = messages
        .iter()
        .map(|message| {
            let is_user = message["role"] == "user";
            (message["role"].as_str().unwrap(), if is_user { message["id"].as_str().unwrap() } else { "" })
        })
        .collect();
    let ids: Vec<String> = (1..=shape.questions()).map(|number| format!("m{number}")).collect();
    let wanted: Vec<(&str, &str)> = ids.iter().flat_map(|id| [("user", &**id), ("assistant", "")]).collect();
    if told != wanted {
        found.push(format!("the messages are {told:?}"));
        return;
    }
    let mut turns = Vec::new();
    for (at, answer) in messages.iter().skip(1).step_by(2).enumerate() {
        let texts = answer["parts"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str());
        let texts: Vec<&str> = texts.collect();
        let of_turns: Vec<String> = texts.iter().map(|text| turn(text)).collect();
        let whole = of_turns
            .iter()
            .zip(shape.texts(at + 1))
            .map(|(turn, words)| (0..words).map(|word| format!("{turn}.{word} ")).collect::<String>());
        if texts.len() != shape.texts(at + 1).len() || !whole.eq(texts.iter().copied()) {
            found.push(format!("answer {} is not whole, with {} texts of {of_turns:?}", at + 1, texts.len()));
        }
        turns.extend(of_turns);
    }
    turns.sort_unstable();
    if turns.windows(2).any(|pair| pair[0] == pair[1]) {
        found.push(format!("two answers are of one turn: {turns:?}"));
    }
}

/// Returns the turn that wrote a text.
fn turn(text: &str) -> String {
    text.split(['.', ' ']).take(2).collect::<Vec<_>>().join(".")
}
