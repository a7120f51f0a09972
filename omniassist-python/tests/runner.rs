//! A runner of the host.

use omniassist_python::{Code, CodeOutcome, CodeRunner, Python, PythonError, Session, Stream};
use serde_json::{Map, json};

use crate::setup::{invocation, registry, run};

/// A runner that writes its program and fails, or is busy.
struct Echo;

impl CodeRunner for Echo {
    async fn run(&self, code: &str, session: &Session) -> Result<CodeOutcome, PythonError> {
        if code == "busy" {
            return Err(PythonError::busy(std::time::Duration::from_secs(1)));
        }
        if code == "broken" {
            return Err(PythonError::worker("no such container"));
        }
        if !session.write(Stream::Stderr, code) {
            return Ok(session.stopped());
        }
        let called = session.call("nothing", Vec::new(), Map::new()).await;
        let error = called.unwrap_err().text().to_owned();
        Ok(CodeOutcome::failed(error).traceback("!"))
    }
}

#[tokio::test]
async fn a_host_brings_its_own_runner() {
    let tools = registry(Python::pool(Echo).limits(Code::new().output(5)).tool("python").unwrap());
    let expected =
        json!({ "stdout": "", "stderr": "abc!", "result": null, "error": "There is no function nothing." });
    assert_eq!(run(&tools, "abc").await, expected);
    let output = run(&tools, "abcdef").await;
    assert_eq!(
        (&output["stderr"], &output["error"]),
        (&json!("abcde"), &json!("OutputLimitError: the output has more than 5 bytes"))
    );
    let tool = tools.snapshot().get("python").cloned().unwrap();
    let error = tools.start(&tool, invocation("busy")).outcome().await.result.unwrap_err();
    assert!(error.text().starts_with("Too many programs"), "{error}");
    let error = tools.start(&tool, invocation("broken")).outcome().await.result.unwrap_err();
    assert_eq!(error.text(), "The tool failed.");
}
