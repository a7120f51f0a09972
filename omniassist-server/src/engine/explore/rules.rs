//! The rules that decide where an answer of the model cannot be used.

/// The words below which a task says too little.
const FEW_WORDS: usize = 2;

/// Returns a question to the user about a task that says nearly nothing.
pub(super) fn clarification(task: &str) -> Option<String> {
    let few = task.split_whitespace().count() < FEW_WORDS;
    few.then(|| format!("What do you want to know about \u{201c}{}\u{201d}?", task.trim()))
}

/// Returns the parts of a task that has several: its questions, or the items of its list.
pub(super) fn sub_questions(task: &str, most: usize) -> Vec<String> {
    let items: Vec<_> = task.lines().filter_map(list_item).collect();
    let questions = || task.split_inclusive('?').filter(|part| part.ends_with('?')).map(str::trim);
    let parts: Vec<&str> = if items.len() > 1 { items } else { questions().collect() };
    if parts.len() < 2 {
        return Vec::new();
    }
    parts.into_iter().filter(|part| part.len() > 1).take(most).map(str::to_owned).collect()
}

/// Returns the text of a line that is an item of a list.
fn list_item(line: &str) -> Option<&str> {
    let line = line.trim();
    let item = line.strip_prefix(['-', '*', '\u{2022}']).or_else(|| {
        let digits = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        (digits.len() < line.len()).then(|| digits.strip_prefix(['.', ')'])).flatten()
    })?;
    let item = item.trim();
    (!item.is_empty()).then_some(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_with_one_part_is_not_divided() {
        for task in ["", "Lamps", "Which lamp is brighter?", "- one item", "Buy 2 lamps. Then rest."] {
            assert_eq!(sub_questions(task, 4), Vec::<String>::new(), "{task}");
        }
    }

    #[test]
    fn questions_and_items_are_parts_up_to_the_most() {
        assert_eq!(sub_questions("Which one? And why? Bye.", 4), ["Which one?", "And why?"]);
        assert_eq!(sub_questions("Find:\n- price\n* colour\n3. size", 4), ["price", "colour", "size"]);
        assert_eq!(sub_questions("a1? b2? c3? d4? e5?", 4).len(), 4);
        assert_eq!(sub_questions("a1? b2? c3? d4?", 4).len(), 4);
    }

    #[test]
    fn one_word_is_too_little() {
        assert!(clarification("lamps").is_some() && clarification(" ").is_some());
        assert!(clarification("brighter lamps").is_none());
    }
}
