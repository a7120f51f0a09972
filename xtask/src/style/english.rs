//! The English of documentation: the first words of lines in doc comments, and the length of sentences.

use std::path::Path;

/// Words with which a line of a doc comment must not begin. Such a line does not begin with a subject or a verb.
const BARRED: [&str; 8] = ["Whether", "Who", "Whose", "What", "Of", "When", "Why", "How"];

/// The limit of words in a sentence.
const MOST_WORDS: usize = 40;

/// Checks the doc comments of a Rust file.
pub(super) fn source_findings(_path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut comment: Vec<(usize, &str)> = Vec::new();
    // A line without a doc comment ends the comment before it. An empty line is added at the end of the file.
    for (at, line) in text.lines().chain([""]).enumerate() {
        let line = line.trim_start();
        match line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
            Some(said) if !said.starts_with('/') => comment.push((at + 1, said.trim())),
            _ if comment.is_empty() => {}
            _ => {
                found.extend(barred(&comment));
                found.extend(long_sentences(&comment));
                comment.clear();
            }
        }
    }
    found
}

/// Checks the sentences of a Markdown file.
pub(super) fn document_findings(_path: &Path, text: &str) -> Vec<String> {
    // An indented line is code, or continues a list item.
    let is_code = |line: &str| line.starts_with("    ");
    let plain = |line| if is_code(line) { "" } else { line.trim() };
    let lines: Vec<_> = text.lines().enumerate().map(|(at, line)| (at + 1, plain(line))).collect();
    long_sentences(&lines)
}

fn barred(comment: &[(usize, &str)]) -> Vec<String> {
    let mut in_code = false;
    let mut found = Vec::new();
    for (at, line) in comment {
        in_code ^= line.starts_with("```");
        let word = line.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        if !in_code && BARRED.contains(&word) {
            found.push(format!(":{at}: a doc line begins with \"{word}\""));
        }
    }
    found
}

/// Finds sentences over the limit. List items, table rows and headings are separate sentences.
fn long_sentences(lines: &[(usize, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    let (mut words, mut first) = (0, 0);
    let mut in_code = false;
    for (at, line) in lines.iter().copied().chain([(0, "")]) {
        let is_fence = line.starts_with("```");
        in_code ^= is_fence;
        let stands_alone = line.is_empty()
            || is_fence
            || line.starts_with(['#', '|', '-', '*', '>', '<', '['])
            || line.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        if stands_alone {
            words = 0;
        }
        if in_code || is_fence || line.starts_with('|') {
            continue;
        }
        // Each piece of code between backticks counts as one word.
        let plain = without_code(line);
        for word in plain.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)) {
            if words == 0 {
                first = at;
            }
            words += 1;
            if words == MOST_WORDS + 1 {
                found.push(format!(":{first}: a sentence has more than {MOST_WORDS} words"));
            }
            if word.trim_end_matches([')', '"', '*', '_']).ends_with(['.', '!', '?']) {
                words = 0;
            }
        }
    }
    found
}

/// Replaces each piece of code between backticks with one word.
fn without_code(line: &str) -> String {
    line.split('`').enumerate().map(|(at, piece)| if at % 2 == 0 { piece } else { "code" }).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{document_findings, source_findings};

    fn sources(text: &str) -> Vec<String> {
        source_findings(Path::new("a.rs"), text)
    }

    #[test]
    fn barred_beginnings_are_found() {
        assert_eq!(sources("/// Whether it is open.\nfn f() {}").len(), 1);
        assert_eq!(sources("    //! What it holds.").len(), 1);
        assert_eq!(sources("/// Returns it.\n///\n/// When it fails, an error.").len(), 1);
        assert!(sources("/// Returns `true` if it is open. Whatever.\n// What\nfn f() {}").is_empty());
        assert!(sources("/// ```\n/// When\n/// ```").is_empty());
    }

    #[test]
    fn sentences_have_at_most_forty_words() {
        let sentence = |words: usize| format!("/// {}.\n", vec!["word"; words].join(" "));
        assert!(sources(&sentence(40)).is_empty());
        assert_eq!(sources(&sentence(41)).len(), 1);
        assert!(sources(&sentence(40).repeat(2)).is_empty());
        let wrapped = format!("/// {}\n/// word", vec!["word"; 40].join(" "));
        assert_eq!(sources(&wrapped).len(), 1);
        assert!(sources(&wrapped.replace("/// word", "/// - word")).is_empty());
        assert_eq!(document_findings(Path::new("a.md"), &vec!["word"; 41].join(" ")).len(), 1);
        assert!(document_findings(Path::new("a.md"), &vec!["`a b`"; 40].join(" ")).is_empty());
    }
}
