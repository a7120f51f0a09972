//! States of suspended programs that are not what the runner wrote. They are sealed with the keys of the host, so an attacker
//! needs these too.

use std::future::ready;
use std::path::Path;
use std::time::Duration;

use monty_pool::{Pool, PoolConfig, PrintFuture, ReplConfig, TurnEvent};
use monty_types::{MONTY_VERSION, MontyObject};
use omniassist_python::{CodeOutcome, CodeRunner, Python, PythonError, Session};
use omniassist_server::seal::SealKeys;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Approval, Assistant};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::setup::{pool, registry, result, runtime};
use crate::suspended::{answer, effect, lines, output, post, question, waiting};

/// A runner whose program waits for a payment with this state.
struct Waits(Vec<u8>);

impl CodeRunner for Waits {
    async fn run(&self, _: &str, session: &Session) -> Result<CodeOutcome, PythonError> {
        let arguments = Map::from_iter([("cents".to_owned(), json!(500))]);
        let end = session.call_waiting("pay", Vec::new(), arguments, MONTY_VERSION, &self.0).await;
        assert!(end.unwrap_err().is_waiting());
        Err(PythonError::waiting())
    }
}

fn server(runner: impl CodeRunner, effects: &Path) -> Assistant {
    let pay = effect("pay", effects.to_owned(), false).requires_approval(Approval::always());
    let free = effect("free", effects.to_owned(), false);
    let python = Python::pool(runner).functions([pay, free]).tool("python").unwrap();
    let model = ScriptedProvider::new().otherwise(|payload| {
        let has_called = format!("{:?}", payload.transcript).contains("\"python\"");
        if has_called { text("Done.") } else { call("python", json!({ "code": "" })) }
    });
    let keys = SealKeys::new("k1", "a secret of at least 32 bytes for tests").unwrap();
    Assistant::builder(model).tool(python).seal_keys(keys).build().unwrap()
}

/// Returns the state of a program, without limits, during its first call of a function or at its end.
async fn dump(code: &str) -> Vec<u8> {
    let pool = Pool::new(PoolConfig::subprocess(runtime())).await.unwrap();
    let mut worker = pool.checkout(&ReplConfig::default()).await.unwrap();
    let mut print = |_, _: &str| -> PrintFuture { Box::pin(ready(())) };
    let mut event = worker.feed(code, Vec::new(), Vec::new(), true, &mut print).await.unwrap();
    while let TurnEvent::NameLookup { name, .. } = event {
        let function = MontyObject::Function { name, docstring: None };
        event = worker.resume_name_lookup(function, &mut print).await.unwrap();
    }
    worker.dump().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_is_not_the_programs_own_does_no_harm() {
    let pool = pool(1).await;
    let own = dump("[pay(cents=500), 1]").await;
    let mut changed = own.clone();
    let middle = changed.len() / 2;
    changed[middle..].reverse();
    let cases = [
        ("its own", own.clone(), "[500,1]", vec!["500"]),
        ("none", Vec::new(), "Run it again", vec![]),
        ("a text", b"not a state".to_vec(), "Run it again", vec![]),
        ("zeros", vec![0; 16 << 10], "Run it again", vec![]),
        ("its first half", own[..middle].to_vec(), "Run it again", vec![]),
        ("without its last byte", own[..own.len() - 1].to_vec(), "Run it again", vec![]),
        ("changed bytes", changed, "Run it again", vec![]),
        ("a program that has ended", dump("1 + 1").await, "Run it again", vec![]),
        ("another payment", dump("pay(cents=99999)").await, "asks for pay", vec![]),
        ("a function that anyone may call", dump("free(cents=7)").await, "7", vec!["7"]),
        ("an unknown function", dump("nothing(cents=7)").await, "NameError", vec![]),
        (
            "a program without limits",
            dump("pay(cents=500)\nwhile True:\n    pass").await,
            "SIGXCPU",
            vec!["500"],
        ),
        ("memory without limits", dump("pay(cents=500)\n'a' * 10**9\n1").await, "Error: ", vec!["500"]),
    ];
    for (name, state, told, done) in cases {
        let folder = tempfile::tempdir().unwrap();
        let effects = folder.path().join("effects");
        let mut messages = post(&server(Waits(state), &effects), question()).await;
        assert!(waiting(&messages).is_some(), "{name}");
        answer(&mut messages, true);
        let second = server(pool.clone(), &effects);
        let messages = timeout(Duration::from_secs(20), post(&second, messages)).await.unwrap();
        let shown = match waiting(&messages) {
            Some(call) => format!("asks for {} {}", call.name, call.state.input().unwrap()),
            None => output(&messages).to_string(),
        };
        println!("{name}: {shown:.300}");
        assert!(shown.contains(told), "{name}: {shown}");
        assert_eq!(lines(&effects), done, "{name}: {shown}");
        let tools = registry(Python::pool(pool.clone()).tool("python").unwrap());
        assert_eq!(result(&tools, "6 * 7").await, Value::from(42), "after {name}");
    }
}
