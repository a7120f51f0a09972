//! Events arrive immediately, in order and complete.

use omniassist_server::testing::{FakeProvider, Reply, ScriptedProvider, Turn, call, responses_sse, text};
use serde_json::json;

use crate::host::Host;
use crate::stage::{adder, adding, assistant, built, openai, prompted, run, silent};
use crate::transport::Transport;

/// The model sends the next word only after the previous one has arrived.
pub(crate) async fn words_arrive_as_the_model_sends_them(on: Transport) {
    for path in ["/assistant", "/assistant?protocol=text"] {
        let (prompter, model) = prompted();
        let host = Host::start(on, &assistant(model).limits(silent()).build().unwrap()).await;
        // A plain text response begins with the first word.
        prompter.say("word-0");
        let mut answer = host.ask(&run(path)).await;
        answer.until("word-0").await;
        for number in 1..20 {
            let word = format!("word-{number}");
            prompter.say(&word);
            answer.until(&word).await;
        }
        prompter.finish();
        answer.whole().await;
    }
}

pub(crate) async fn deltas_arrive_complete_and_in_order(on: Transport) {
    let words: Vec<String> = (0..2_000).map(|number| format!("{number},")).collect();
    let expected = words.concat();
    let model = ScriptedProvider::new().otherwise(move |_| Turn::text_chunks(words.clone()));
    let host = Host::start(on, &built(model)).await;
    let answer = host.ask(&run("/assistant")).await.whole().await;
    assert_eq!(answer.words(), expected);
    let ids: Vec<usize> = answer
        .text()
        .lines()
        .filter_map(|line| line.strip_prefix("id: "))
        .map(|id| id.parse().unwrap())
        .collect();
    assert!(ids.iter().copied().eq(0..ids.len()), "the ids of events are consecutive");
}

pub(crate) async fn tool_output_arrives_before_the_next_step(on: Transport) {
    let model = ScriptedProvider::new()
        .turn(text("Let me see. ").then(call("add", json!({ "one": 1, "other": 2 }))))
        .turn(Turn::pending());
    let host = Host::start(on, &assistant(model).tool(adder()).limits(silent()).build().unwrap()).await;
    let mut answer = host.ask(&run("/assistant")).await;
    let seen = answer.until("tool-output-available").await;
    let place = |kind: &str| seen.find(kind).unwrap_or_else(|| panic!("{kind}: {seen}"));
    assert!(place("Let me see.") < place("tool-input-available"));
    assert!(place("tool-input-available") < place("tool-output-available"));

    let host = Host::start(on, &assistant(adding()).tool(adder()).build().unwrap()).await;
    let answer = host.ask(&run("/assistant")).await.whole().await;
    assert_eq!(
        (answer.words().as_str(), &answer.event("tool-output-available")["output"]),
        ("Let me see. It is 3.", &json!(3))
    );
}

const LETTERS: &str = "Zürich, 東京, Ελλάδα, 🧑‍🚀, e\u{301}, \u{2028}, end";

/// The provider sends one byte at a time, so that characters are split.
pub(crate) async fn characters_split_between_chunks_arrive_whole(on: Transport) {
    let provider = FakeProvider::start().await.unwrap();
    provider.otherwise(Reply::sse(responses_sse::text(LETTERS)).chunked_by(1));
    let host = Host::start(on, &built(openai(&provider))).await;
    assert_eq!(host.ask(&run("/assistant")).await.whole().await.words(), LETTERS);
    assert_eq!(host.ask(&run("/assistant?protocol=text")).await.whole().await.text(), LETTERS);
}

pub(crate) async fn a_large_answer_is_complete(on: Transport) {
    let word = "0123456789abcdef".repeat(64);
    let expected = word.repeat(1 << 10);
    assert_eq!(expected.len(), 1 << 20);
    let model = ScriptedProvider::new().otherwise(move |_| Turn::text_chunks(vec![word.as_str(); 1 << 10]));
    let host = Host::start(on, &built(model)).await;
    assert!(host.ask(&run("/assistant?protocol=text")).await.whole().await.text() == expected);
    assert!(host.ask(&run("/assistant")).await.whole().await.words() == expected);
}
