//! Cycles of a directed graph.

use std::collections::{BTreeMap, BTreeSet};

/// Returns one cycle for each strongly connected part of the graph that has more than one node.
pub(super) fn cycles(edges: &BTreeSet<(String, String)>) -> Vec<Vec<String>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in edges {
        next.entry(from).or_default().push(to);
    }
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for start in next.keys().copied() {
        if seen.contains(start) {
            continue;
        }
        if let Some(cycle) = way_back(start, &next) {
            seen.extend(cycle.iter().copied());
            found.push(cycle.into_iter().map(str::to_owned).collect());
        }
    }
    found
}

/// Returns the shortest way from a node back to itself, both ends included.
fn way_back<'a>(start: &'a str, next: &BTreeMap<&'a str, Vec<&'a str>>) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut level = vec![start];
    while !level.is_empty() {
        let mut below = Vec::new();
        for node in level {
            for to in next.get(node).into_iter().flatten().copied() {
                if to == start {
                    let mut way = vec![start, node];
                    while let Some(earlier) = way.last().and_then(|node| before.get(node)) {
                        way.push(earlier);
                    }
                    way.reverse();
                    if way.first() != Some(&start) {
                        way.insert(0, start);
                    }
                    return Some(way);
                }
                if !before.contains_key(to) {
                    before.insert(to, node);
                    below.push(to);
                }
            }
        }
        level = below;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::cycles;

    fn of(edges: &[(&str, &str)]) -> Vec<String> {
        let edges = edges.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        cycles(&edges).iter().map(|cycle| cycle.join(" ")).collect()
    }

    #[test]
    fn cycles_are_found_once() {
        assert!(of(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
        assert_eq!(of(&[("a", "b"), ("b", "a"), ("b", "c")]), ["a b a"]);
        assert_eq!(of(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "d")]), ["a b c a", "d e d"]);
    }
}
