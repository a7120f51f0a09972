use omniassist_server::core::tool_search::{SearchIndex, SearchText, rank};

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

#[test]
fn an_index_has_the_same_order_as_a_search_without_one() {
    let specs = super::snapshot(tools(&Calls::default())).specs();
    let text = |index: usize| SearchText::new(&specs[index].name, &specs[index].description);
    let texts: Vec<_> = (0..specs.len()).map(text).collect();
    let index = SearchIndex::new(texts.clone());
    let even: Vec<_> = texts.iter().step_by(2).collect();
    let (first, rest) = texts.split_at(100);
    let half = SearchIndex::new(first.to_vec());
    let rest: Vec<_> = rest.iter().collect();
    for (question, _) in QUESTIONS {
        let all = rank(question, &texts.iter().collect::<Vec<_>>());
        assert_eq!(index.rank(question, |_| true, &[]), all);
        assert_eq!(half.rank(question, |_| true, &rest), all);
        // The tools that are not searched do not change the order of the others.
        let found: Vec<_> = rank(question, &even).into_iter().map(|index| index * 2).collect();
        assert_eq!(index.rank(question, |tool| tool % 2 == 0, &[]), found);
    }
}

#[test]
fn words_that_all_descriptions_share_are_still_rare_in_names() {
    let shared = "The access token of the caller needs a permission.";
    let text = |name: &str, about: &str| SearchText::new(name, &format!("{about}. {shared}"));
    let tools = [
        text("list_pages", "Lists the pages"),
        text("create_token", "Creates a token"),
        text("get_page", "A page"),
    ];
    assert_eq!(rank("I want a new access token for my page", &tools.iter().collect::<Vec<_>>())[0], 1);
}

#[test]
fn forms_of_a_word_are_related_and_a_plural_prefers_a_list() {
    let text = |name: &str| SearchText::new(name, &name.replace('_', " "));
    let tools = ["get_deployment", "list_deployments", "create_page"].map(text);
    let tools: Vec<_> = tools.iter().collect();
    assert_eq!(rank("deploy", &tools).len(), 2);
    assert_eq!(rank("show deployments", &tools)[0], 1);
    assert_eq!(rank("show deployment 5", &tools)[0], 0);
    assert_eq!(rank("paging", &tools), [2]);
}
