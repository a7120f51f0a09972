use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use super::count;
use super::nouns::similar;
use super::text::{Field, SearchText, exact, leading};
use super::verbs::synonyms;
use super::words::{is_asking, stem, words};

/// The maximum number of words of a query.
const MAX_QUERY_WORDS: usize = 32;

/// The BM25 parameter k1: the saturation of further occurrences of a word.
const SATURATION: f32 = 1.2;

/// The BM25 parameter b: the degree to which a long text reduces the weight of its words.
const LENGTH_WEIGHT: f32 = 0.4;

/// The weight of a synonym or of a similar noun, compared with the word itself.
const SYNONYM: f32 = 0.6;

/// The weight of a stem that begins with the stem of the query, or the other way round: `deploy` and `deployment`.
const RELATED: f32 = 0.6;

/// The minimum length of a stem that is the beginning of another one.
const MIN_RELATED: usize = 4;

/// The weight of the exact word, beside that of its stem.
const EXACT: f32 = 0.15;

/// An index of many tools, by their words.
///
/// A search reads only the tools that have a word of the query. The index is worth its memory if the same tools are searched
/// more than once; [`rank`](super::rank) does without one.
#[derive(Debug, Clone, Default)]
pub struct SearchIndex {
    headings: Postings,
    bodies: Postings,
    /// The increases of scores by names and by summaries, for each stem.
    increases: [HashMap<String, Vec<(usize, f32)>>; 2],
}

/// A field of all tools.
#[derive(Debug, Clone, Default)]
struct Postings {
    /// The tools that have a stem, with the number of its occurrences.
    stems: BTreeMap<String, Vec<(usize, f32)>>,
    lengths: Vec<f32>,
}

impl SearchIndex {
    /// Indexes tools. They have the indices 0, 1, 2 and so on.
    #[must_use]
    pub fn new(texts: impl IntoIterator<Item = SearchText>) -> Self {
        let mut index = Self::default();
        for (tool, text) in texts.into_iter().enumerate() {
            index.headings.add(tool, text.heading);
            index.bodies.add(tool, text.body);
            for (all, own) in index.increases.iter_mut().zip(text.increases) {
                for (stem, increase) in own {
                    all.entry(stem).or_default().push((tool, increase));
                }
            }
        }
        index
    }

    /// Returns the indices of the tools that match a query, best first. Equal ones keep their order.
    ///
    /// Only the tools of the index that `is_among` selects are searched, and `others`, whose indices follow those of the index.
    /// No other tool influences the order. Words beyond the first 32 of the query are left out.
    #[must_use]
    pub fn rank(&self, query: &str, is_among: impl Fn(usize) -> bool, others: &[&SearchText]) -> Vec<usize> {
        let first = self.headings.lengths.len();
        let among = (0..first).map(is_among).chain(others.iter().map(|_| true));
        let mut tools: Vec<Candidate> = among.map(Candidate::new).collect();
        let headings = others.iter().map(|text| &text.heading).collect();
        let bodies = others.iter().map(|text| &text.body).collect();
        let fields =
            [Searched::new(&self.headings, headings, &tools), Searched::new(&self.bodies, bodies, &tools)];
        for word in self.query_words(query, others) {
            fields.iter().for_each(|field| field.find(&word, &mut tools));
            for (stem, weight) in word {
                for (part, index) in self.increases.iter().enumerate() {
                    let own = |text: &SearchText| text.increases.get(part)?.get(&stem).copied();
                    let other = others.iter().enumerate();
                    let other = other.filter_map(|(tool, text)| Some((first + tool, own(text)?)));
                    for (tool, increase) in index.get(&stem).into_iter().flatten().copied().chain(other) {
                        let sum = tools.get_mut(tool).and_then(|tool| tool.increases.get_mut(part));
                        sum.into_iter().for_each(|sum| *sum += weight * increase);
                    }
                }
            }
            tools.iter_mut().for_each(Candidate::end_word);
        }
        let scores = tools.iter().map(|tool| tool.score()).enumerate();
        let mut scored: Vec<(usize, f32)> = scores.filter(|(_, score)| *score > 0.0).collect();
        scored.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        scored.into_iter().map(|(tool, _)| tool).collect()
    }

    /// Returns the words of a query: each as the stems that it may be found by, with their weights. A stem counts for one word
    /// only.
    fn query_words(&self, query: &str, others: &[&SearchText]) -> Vec<Vec<(String, f32)>> {
        let all: BTreeSet<String> = words(query).take(MAX_QUERY_WORDS).collect();
        let stems: BTreeMap<String, bool> = all.iter().map(|word| (stem(word), is_asking(word))).collect();
        let mut taken: BTreeSet<String> = stems.keys().cloned().collect();
        let with_others = stems.into_iter().map(|(word, is_asking)| {
            let verbs = synonyms(&word).iter().chain(similar(&word)).map(|stem| (stem.clone(), SYNONYM));
            let related = self.related(&word, others).into_iter().map(|stem| (stem, RELATED));
            let new: Vec<_> = verbs.chain(related).filter(|(stem, _)| taken.insert(stem.clone())).collect();
            let verb = (leading(&word), 1.0);
            let word = (!is_asking).then_some((word, 1.0));
            word.into_iter().chain([verb]).chain(new).collect()
        });
        let with_others: Vec<Vec<_>> = with_others.collect();
        with_others.into_iter().chain(all.iter().map(|word| vec![(exact(word), EXACT)])).collect()
    }

    /// Returns the stems in headings that begin with a stem, and those that it begins with.
    fn related(&self, stem: &str, others: &[&SearchText]) -> BTreeSet<String> {
        if stem.len() < MIN_RELATED {
            return BTreeSet::new();
        }
        let from = (Bound::Excluded(stem), Bound::Unbounded);
        let longer = self.headings.stems.range::<str, _>(from).map(|(stem, _)| stem);
        let longer = longer.take_while(|longer| longer.starts_with(stem));
        let other = others.iter().flat_map(|text| {
            let longer = text.heading.stems.range::<str, _>(from).map(|(stem, _)| stem);
            longer.take_while(|longer| longer.starts_with(stem))
        });
        let is_known = |shorter: &&str| {
            self.headings.stems.contains_key(*shorter)
                || others.iter().any(|text| text.heading.stems.contains_key(*shorter))
        };
        let ends = stem.char_indices().map(|(end, _)| end).filter(|end| *end >= MIN_RELATED);
        let shorter = ends.filter_map(|end| stem.get(..end)).filter(is_known).map(str::to_owned);
        longer.chain(other).cloned().chain(shorter).collect()
    }
}

impl Postings {
    fn add(&mut self, tool: usize, field: Field) {
        self.lengths.push(field.length);
        for (stem, occurrences) in field.stems {
            self.stems.entry(stem).or_default().push((tool, occurrences));
        }
    }
}

/// A field of the tools of a search.
struct Searched<'a> {
    postings: &'a Postings,
    others: Vec<&'a Field>,
    /// The number of tools.
    number: f32,
    mean_length: f32,
}

impl<'a> Searched<'a> {
    fn new(postings: &'a Postings, others: Vec<&'a Field>, tools: &[Candidate]) -> Self {
        let lengths = postings.lengths.iter().copied().chain(others.iter().map(|field| field.length));
        let among = || tools.iter().zip(lengths.clone()).filter(|(tool, _)| tool.is_among);
        let number = count(among().count());
        let mean_length = among().map(|(_, length)| length).sum::<f32>() / number.max(1.0);
        Self { postings, others, number, mean_length: mean_length.max(1.0) }
    }

    /// Scores the tools that have a word, by the best of its stems. The stems share their rarity: a synonym that few tools have
    /// is not worth more than the word.
    fn find(&self, word: &[(String, f32)], tools: &mut [Candidate]) {
        let first = self.postings.lengths.len();
        let mut having: BTreeMap<usize, f32> = BTreeMap::new();
        for (stem, weight) in word {
            let other = self.others.iter().enumerate();
            let other = other.filter_map(|(tool, field)| Some((first + tool, *field.stems.get(stem)?)));
            for (tool, occurrences) in
                self.postings.stems.get(stem).into_iter().flatten().copied().chain(other)
            {
                if tools.get(tool).is_some_and(|tool| tool.is_among) {
                    let length = self.length(tool) / self.mean_length;
                    let norm = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length);
                    let score = weight * occurrences * (SATURATION + 1.0) / (occurrences + norm);
                    let best = having.entry(tool).or_default();
                    *best = best.max(score);
                }
            }
        }
        let rarity = (1.0 + (self.number - count(having.len()) + 0.5) / (count(having.len()) + 0.5)).ln();
        for (tool, score) in having {
            tools.get_mut(tool).into_iter().for_each(|tool| tool.best = tool.best.max(rarity * score));
        }
    }

    fn length(&self, tool: usize) -> f32 {
        let lengths = &self.postings.lengths;
        let other = || tool.checked_sub(lengths.len()).and_then(|other| self.others.get(other));
        lengths.get(tool).copied().or_else(|| other().map(|field| field.length)).unwrap_or_default()
    }
}

/// A tool during a search.
struct Candidate {
    is_among: bool,
    /// The score of a word, which is that of its best stem in the better field.
    best: f32,
    /// The sum of the scores of the words.
    found: f32,
    /// The increases of the score by the words of the name, and by those of the summary.
    increases: [f32; 2],
}

impl Candidate {
    fn new(is_among: bool) -> Self {
        Self { is_among, best: 0.0, found: 0.0, increases: [0.0; 2] }
    }

    fn score(&self) -> f32 {
        self.found * (1.0 + self.increases.iter().copied().fold(0.0, f32::max))
    }

    fn end_word(&mut self) {
        self.found += std::mem::take(&mut self.best);
    }
}

#[cfg(test)]
mod tests {
    use super::{SearchIndex, SearchText};

    fn found(query: &str, names: &[&'static str]) -> Vec<&'static str> {
        let index = SearchIndex::new(names.iter().map(|name| SearchText::new(name, "")));
        index.rank(query, |_| true, &[]).into_iter().map(|tool| names[tool]).collect()
    }

    #[test]
    fn a_noun_finds_similar_ones() {
        assert_eq!(found("Which vouchers are valid?", &["list_users", "list_coupons"])[0], "list_coupons");
        assert_eq!(found("our env", &["get_environment", "get_user"]), ["get_environment"]);
        assert_eq!(found("the mail that Ann sent", &["send_email", "get_user"]), ["send_email"]);
    }

    #[test]
    fn a_synonym_of_a_verb_finds_tools_that_begin_with_it() {
        assert_eq!(found("add", &["create_invoice", "export_all_created"]), ["create_invoice"]);
        // The name of a source comes before the verb.
        assert_eq!(found("add", &["shop_create_invoice"]), ["shop_create_invoice"]);
    }

    #[test]
    fn a_question_word_is_no_subject() {
        assert_eq!(found("Who is it?", &["page_person_who_called", "get_order"])[0], "get_order");
    }
}
