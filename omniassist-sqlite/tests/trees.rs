//! Trees of agents that are runs of a chat.

use std::time::Duration;

use futures_util::StreamExt;
use http::Extensions;
use omniassist_server::agents::{AgentSession, Explore, ServerFrame};
use omniassist_server::core::Day;
use omniassist_server::store::{Page, RunState, RunStore, Scope, Which};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Assistant, Error, Principal};
use omniassist_sqlite::SqliteStore;

use crate::folder::Folder;

#[tokio::test]
async fn the_tokens_of_a_tree_are_counted_once_however_it_ends() {
    let used = || Turn::usage(100, 10).then(text("begun"));
    let broken = Turn::error(Error::configuration("broken"));
    let cases = [
        (used(), RunState::Finished),
        (used().then(broken), RunState::Failed),
        (used().then(Turn::pending()), RunState::Stopped),
    ];
    let folder = Folder::new();
    for (turn, end) in cases {
        let store = SqliteStore::open(folder.path()).unwrap();
        let model = ScriptedProvider::new().turn(turn).with_model("lamp-1");
        let program = Explore::new().asks(false).sub_questions(0);
        let assistant = Assistant::builder(model).store(store.clone()).explore(program).build().unwrap();
        let mut extensions = Extensions::new();
        extensions.insert(Principal::new("ada"));
        let session = AgentSession::new(assistant.clone()).extensions(extensions).chat("c");
        let mut stream = session.agent("Compare lamps");
        let is_stopped = |frame: &ServerFrame| {
            let begun = matches!(frame, ServerFrame::TextDelta { delta, .. } if delta == "begun");
            begun && end == RunState::Stopped
        };
        while let Some(frame) = stream.next().await {
            if is_stopped(&frame) {
                break;
            }
        }
        drop(stream);
        let head = loop {
            let head = store.find(&Scope::new("ada"), Which::Chat("c")).await.unwrap().expect("a run");
            if head.state != RunState::Running {
                break head;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        assert_eq!((head.state, head.usage.is_some()), (end, true));
        let usage = assistant.usage().unwrap();
        let page = usage.of(&Principal::new("ada"), Day::MIN..=Day::MAX, &Page::first(9)).await.unwrap();
        let [day] = page.days.try_into().unwrap();
        let used = (&*day.usage.model, day.usage.runs, day.usage.calls);
        assert_eq!((used, day.usage.input_tokens, day.usage.output_tokens), (("lamp-1", 1, 1), 100, 10));
    }
}
