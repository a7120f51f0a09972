use std::collections::BTreeSet;

use super::SearchText;
use super::verbs::synonyms;
use super::words::stems;

/// The maximum number of words of a query.
const MAX_QUERY_WORDS: usize = 32;

/// The BM25 parameter k1: the saturation of further occurrences of a word.
const SATURATION: f32 = 1.2;

/// The BM25 parameter b: the degree to which a long text reduces the weight of its words.
const LENGTH_WEIGHT: f32 = 0.4;

/// The weight of a synonym, compared with the word itself.
const SYNONYM: f32 = 0.4;

/// The weight of a name that the query covers, compared with the other words.
const COVERAGE: f32 = 0.8;

/// A word to search for in place of a word of the query.
struct Term {
    stem: String,
    weight: f32,
    rarity: f32,
}

/// Returns the indices of the tools that match a query, best first. Equal ones keep their order.
///
/// Only these tools influence each other's rank. Words beyond the first 32 of the query are left out.
#[must_use]
pub fn rank(query: &str, tools: &[&SearchText]) -> Vec<usize> {
    let length = tools.iter().map(|tool| tool.length).sum::<f32>() / count(tools.len()).max(1.0);
    let mut words: Vec<_> = stems(query).take(MAX_QUERY_WORDS).collect();
    words.sort();
    words.dedup();
    // A word that is a synonym of several words of the query counts once.
    let mut taken: BTreeSet<String> = words.iter().cloned().collect();
    let words: Vec<Vec<Term>> = words.into_iter().map(|word| terms(word, &mut taken, tools)).collect();
    let mut scored: Vec<(usize, f32)> = tools
        .iter()
        .map(|tool| score(tool, &words, length))
        .enumerate()
        .filter(|(_, score)| *score > 0.0)
        .collect();
    scored.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    scored.into_iter().map(|(index, _)| index).collect()
}

/// Returns a word and its synonyms, without those that no tool has.
fn terms(word: String, taken: &mut BTreeSet<String>, tools: &[&SearchText]) -> Vec<Term> {
    let synonyms: Vec<_> = synonyms(&word).into_iter().filter(|stem| taken.insert(stem.clone())).collect();
    let synonyms = synonyms.into_iter().map(|stem| (stem, SYNONYM));
    let all = [(word, 1.0)].into_iter().chain(synonyms);
    let known = all.filter_map(|(stem, weight)| {
        let having = count(tools.iter().filter(|tool| tool.weights.contains_key(&stem)).count());
        let rarity = (1.0 + (count(tools.len()) - having + 0.5) / (having + 0.5)).ln();
        (having > 0.0).then_some(Term { stem, weight, rarity })
    });
    known.collect()
}

fn score(tool: &SearchText, words: &[Vec<Term>], mean_length: f32) -> f32 {
    let norm = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * tool.length / mean_length.max(1.0));
    let in_text = |term: &Term| {
        let frequency = tool.weights.get(&term.stem).copied().unwrap_or_default();
        term.weight * term.rarity * frequency * (SATURATION + 1.0) / (frequency + norm)
    };
    let found: f32 = words.iter().map(|terms| best(terms.iter().map(in_text))).sum();
    let in_name = |stem: &String| {
        best(words.iter().flatten().filter(|term| term.stem == *stem).map(|term| term.weight))
    };
    let covered: f32 = tool.name.iter().map(in_name).sum();
    found * (1.0 + COVERAGE * covered / count(tool.name.len()).max(1.0))
}

fn best(values: impl Iterator<Item = f32>) -> f32 {
    values.fold(0.0, f32::max)
}

#[expect(clippy::cast_precision_loss, reason = "a count of tools or words")]
fn count(number: usize) -> f32 {
    number as f32
}
