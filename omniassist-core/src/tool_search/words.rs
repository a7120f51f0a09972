//! Words of names and sentences, as stems.

/// Stop words: words that do not distinguish tools.
const IGNORED: [&str; 43] = [
    "a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could", "do", "for", "from", "have",
    "her", "his", "i", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "please",
    "that", "the", "their", "this", "to", "tool", "want", "was", "we", "with", "would", "you", "your",
];

/// Returns the stems of the words of a text, in order. A name is split at `_`, `-` and changes of case.
pub(super) fn stems(text: &str) -> impl Iterator<Item = String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_lower = false;
    for char in text.chars() {
        if !char.is_alphanumeric() || (char.is_uppercase() && after_lower) {
            words.push(std::mem::take(&mut word));
        }
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        }
        after_lower = char.is_lowercase();
    }
    words.push(word);
    let counts = |word: &String| !word.is_empty() && IGNORED.binary_search(&word.as_str()).is_err();
    words.into_iter().filter(counts).map(|word| stem(&word))
}

/// Cuts the endings of an English word. Different forms of a word get the same stem, which need not be a word.
pub(super) fn stem(word: &str) -> String {
    let is_stem = |rest: &&str| rest.len() >= 3 && rest.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let cut = |ending: &str| word.strip_suffix(ending).filter(is_stem);
    let singular = || cut("s").filter(|rest| !rest.ends_with(['s', 'u', 'i']));
    let stem = cut("ing").or_else(|| cut("ied")).or_else(|| cut("ed")).or_else(singular).unwrap_or(word);
    let stem = stem.strip_suffix('e').filter(is_stem).unwrap_or(stem);
    let stem = stem.strip_suffix(['y', 'i']).filter(is_stem).unwrap_or(stem);
    let mut last = stem.chars().rev();
    match (last.next(), last.next()) {
        (Some(one), Some(other)) if one == other && one.is_ascii_alphabetic() && stem.len() > 3 => {
            stem.get(..stem.len() - 1).unwrap_or(stem).to_owned()
        }
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{IGNORED, stem, stems};

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["create", "creates", "created", "creating"][..],
            &["cancel", "cancels", "cancelled", "cancelling"],
            &["company", "companies"],
            &["copy", "copies", "copied", "copying"],
            &["invoice", "invoices", "invoiced"],
            &["address", "addresses"],
            &["ship", "shipping", "shipped"],
            &["add", "adds", "adding", "added"],
            &["day", "days"],
        ] {
            for form in forms {
                assert_eq!(stem(form), stem(forms[0]), "{form}");
            }
        }
        assert_ne!(stem("status"), stem("state"));
        assert_ne!(stem("string"), stem("strong"));
    }

    #[test]
    fn names_are_split_into_words() {
        let words = |text: &str| stems(text).collect::<Vec<_>>();
        assert_eq!(words("refund_order"), words("refundOrder"));
        assert_eq!(words("Refund the orders, please!"), words("refund-order"));
        assert_eq!(words("Größe ändern"), ["größe", "ändern"]);
    }

    #[test]
    fn ignored_words_are_sorted() {
        assert!(IGNORED.is_sorted());
    }
}
