use omniassist_server::core::tool_search::{SearchText, rank};

use super::catalogue::{Calls, MORE_QUESTIONS, QUESTIONS, tools};

/// Returns the number of questions whose tool is among the first results.
fn hits(questions: &[(&str, &str)], first: usize) -> usize {
    let specs = super::snapshot(tools(&Calls::default())).specs();
    let texts: Vec<_> = specs.iter().map(|spec| SearchText::new(&spec.name, &spec.description)).collect();
    let texts: Vec<_> = texts.iter().collect();
    let is_hit = |(question, tool): &&(&str, &str)| {
        let best = rank(question, &texts);
        best.iter().take(first).any(|index| specs[*index].name == *tool)
    };
    questions.iter().filter(is_hit).count()
}

#[test]
fn the_search_finds_the_right_tool_among_300() {
    let all = [&QUESTIONS[..], &MORE_QUESTIONS].concat();
    let hits = [1, 5, 10].map(|first| hits(&all, first));
    println!("{hits:?} of {}", all.len());
    assert!(hits[0] >= 39 && hits[1] >= 46 && hits[2] >= 49, "{hits:?} of {}", all.len());
}

#[test]
fn a_name_finds_its_tool() {
    let specs = super::snapshot(tools(&Calls::default())).specs();
    let texts: Vec<_> = specs.iter().map(|spec| SearchText::new(&spec.name, &spec.description)).collect();
    let texts: Vec<_> = texts.iter().collect();
    for spec in specs.iter() {
        assert_eq!(specs[rank(&spec.name, &texts)[0]].name, spec.name);
    }
}

#[test]
fn tools_outside_the_search_do_not_change_the_order() {
    let refund = SearchText::new("refund_order", "Pays money back");
    let track = SearchText::new("track_order", "Follows a parcel");
    let alone = rank("order parcel", &[&refund, &track]);
    assert_eq!(alone, [1, 0]);
    assert!(rank("", &[&refund, &track]).is_empty());
    assert!(rank("the of", &[&refund, &track]).is_empty());
    assert!(rank("order", &[]).is_empty());
}
