//! Words of names and sentences, as stems.

/// Stop words: words that do not distinguish tools, and the ends of contractions such as “don't”.
const IGNORED: [&str; 79] = [
    "a", "about", "also", "an", "and", "any", "as", "at", "be", "been", "but", "by", "can", "could", "d",
    "did", "do", "does", "don", "for", "from", "had", "has", "he", "her", "him", "his", "i", "if", "in",
    "into", "it", "its", "just", "ll", "m", "me", "no", "not", "now", "of", "on", "one", "or", "our",
    "please", "s", "she", "so", "some", "t", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "too", "tool", "two", "up", "us", "ve", "very", "want", "was",
    "we", "were", "will", "with", "would", "you", "your",
];

/// Words that ask for an action, but are no subject: they find tools by the verbs that they stand for only.
const ASKING: [&str; 20] = [
    "all", "any", "are", "every", "have", "how", "is", "like", "longer", "more", "my", "need", "new",
    "should", "what", "when", "where", "which", "who", "whom",
];

/// Short forms and irregular forms of words, with the words.
const FORMS: [(&str, &str); 27] = [
    ("admin", "administrator"),
    ("app", "application"),
    ("auth", "authentication"),
    ("bought", "buy"),
    ("built", "build"),
    ("children", "child"),
    ("config", "configuration"),
    ("db", "database"),
    ("doc", "document"),
    ("env", "environment"),
    ("given", "give"),
    ("info", "information"),
    ("left", "leave"),
    ("made", "make"),
    ("org", "organization"),
    ("organisation", "organization"),
    ("paid", "pay"),
    ("people", "person"),
    ("ran", "run"),
    ("ref", "reference"),
    ("repo", "repository"),
    ("sent", "send"),
    ("shown", "show"),
    ("sold", "sell"),
    ("taken", "take"),
    ("told", "tell"),
    ("written", "write"),
];

/// Returns `true` for a word that is searched for by its verbs and similar nouns, and not by itself.
pub(super) fn is_asking(word: &str) -> bool {
    ASKING.binary_search(&word).is_ok()
}

/// Returns the word that a short or irregular form stands for, in the same number.
fn base_form(word: String) -> String {
    let full = |short: &str| {
        let index = FORMS.binary_search_by_key(&short, |(short, _)| short).ok()?;
        FORMS.get(index).map(|(_, full)| *full)
    };
    let plural = |full: &str| match full.strip_suffix('y') {
        Some(start) => format!("{start}ies"),
        None => format!("{full}s"),
    };
    let found = full(&word).map(str::to_owned);
    found.or_else(|| word.strip_suffix('s').and_then(full).map(plural)).unwrap_or(word)
}

/// Returns the words of a text in lower case, in order. A name is split at `_`, `-` and changes of case, and short
/// forms are written out.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
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
    words.into_iter().filter(counts).map(base_form)
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
    use super::{ASKING, FORMS, IGNORED, stem, words};

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
        let stems = |text: &str| words(text).map(|word| stem(&word)).collect::<Vec<_>>();
        assert_eq!(stems("refund_order"), stems("refundOrder"));
        assert_eq!(stems("Refund the orders, please!"), stems("refund-order"));
        assert_eq!(stems("Größe ändern"), ["größe", "ändern"]);
        assert_eq!(
            words("list-repos of an org").collect::<Vec<_>>(),
            ["list", "repositories", "organization"]
        );
    }

    #[test]
    fn tables_are_sorted() {
        assert!(IGNORED.is_sorted() && ASKING.is_sorted() && FORMS.is_sorted());
    }
}
