use std::collections::BTreeMap;

use super::words::{stem, words};

/// The increase of a score if the query covers the whole name, or the whole summary.
const COVERAGE: f32 = 1.6;

/// The increase of a score if the query has the first word of the name or of the summary, which is the verb of most tools.
const VERB: f32 = 0.4;

/// The indexed words of a tool.
#[derive(Debug, Clone, Default)]
pub struct SearchText {
    /// The name, the summary, the title and the tags.
    pub(super) heading: Field,
    /// The description and the examples.
    pub(super) body: Field,
    /// The increase of the tool's score for each stem of the name, and of the summary. The larger increase of both counts.
    pub(super) increases: [BTreeMap<String, f32>; 2],
}

/// Texts that are weighted alike. A word that is rare in one field may be in all tools in another one.
#[derive(Debug, Clone, Default)]
pub(super) struct Field {
    /// The number of occurrences of each stem. A heading also has its [exact] words, and the [leading] words of its parts.
    pub(super) stems: BTreeMap<String, f32>,
    /// Their sum.
    pub(super) length: f32,
}

impl SearchText {
    /// Reads a tool's name and description. The first sentence of the description is its summary.
    #[must_use]
    pub fn new(name: &str, description: &str) -> Self {
        let line = description.lines().next().unwrap_or_default();
        let summary = line.split(". ").next().unwrap_or_default();
        let mut text = Self::default();
        for part in [name, summary] {
            text.heading.add_heading(part);
        }
        text.increases = [increases(name), increases(summary)];
        text.body.add(description);
        text
    }

    /// Adds a title or a tag, which counts like the name.
    #[must_use]
    pub fn label(mut self, label: &str) -> Self {
        self.heading.add_heading(label);
        self
    }

    /// Adds a text that counts like the description, such as an example of a request.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.body.add(text);
        self
    }
}

fn increases(part: &str) -> BTreeMap<String, f32> {
    let mut stems: Vec<_> = words(part).map(|word| stem(&word)).collect();
    let first = stems.first().cloned();
    stems.sort();
    stems.dedup();
    let share = COVERAGE / super::count(stems.len()).max(1.0);
    let others = stems.into_iter().filter(|stem| Some(stem) != first.as_ref()).map(|stem| (stem, share));
    others.chain(first.as_ref().map(|verb| (leading(verb), share + VERB))).collect()
}

impl Field {
    fn add(&mut self, text: &str) {
        for word in words(text) {
            *self.stems.entry(stem(&word)).or_default() += 1.0;
            self.length += 1.0;
        }
    }

    fn add_heading(&mut self, text: &str) {
        self.add(text);
        // The name of a tool of a source begins with that of the source.
        let verbs = words(text).take(2).map(|word| leading(&stem(&word)));
        for form in words(text).map(|word| exact(&word)).chain(verbs) {
            *self.stems.entry(form).or_default() += 1.0;
        }
    }
}

/// Returns a word in the form that stands for the word itself in place of its stem. It tells the plural of a list from the
/// singular of an entry.
pub(super) fn exact(word: &str) -> String {
    format!("={word}")
}

/// Returns a stem in the form that stands for the first word of a name or of a summary, which is the verb of most tools.
pub(super) fn leading(stem: &str) -> String {
    format!("^{stem}")
}
