use std::collections::BTreeMap;

use super::words::stems;

/// The indexed words of a tool.
#[derive(Debug, Clone, Default)]
pub struct SearchText {
    /// The stems of the name, each once.
    pub(super) name: Vec<String>,
    /// The weight of each stem.
    pub(super) weights: BTreeMap<String, f32>,
    /// The sum of the weights.
    pub(super) length: f32,
}

impl SearchText {
    /// Reads a tool's name and description.
    #[must_use]
    pub fn new(name: &str, description: &str) -> Self {
        let mut name_stems: Vec<_> = stems(name).collect();
        name_stems.sort();
        name_stems.dedup();
        let text = Self { name: name_stems, ..Self::default() };
        text.with(name, 3.0).with(description, 1.0)
    }

    /// Adds a title or a tag, whose words count twice.
    #[must_use]
    pub fn label(self, label: &str) -> Self {
        self.with(label, 2.0)
    }

    /// Adds a text that counts like the description, such as an example of a request.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.with(text, 1.0)
    }

    fn with(mut self, text: &str, weight: f32) -> Self {
        for stem in stems(text) {
            *self.weights.entry(stem).or_default() += weight;
            self.length += weight;
        }
        self
    }
}
