//! The runtime, and calls of the tool.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use std::{env, fs};

use futures_util::StreamExt;
use http::Extensions;
use omniassist_python::{Code, MontyPool, Python};
use omniassist_server::core::{JsonText, Limits, RunRequest};
use omniassist_server::tool::{StateMap, ToolInvocation, ToolUpdate, Tools};
use omniassist_server::{Principal, RunContext, Tool};
use serde_json::{Value, json};

/// Returns the path of the runtime, which is installed into the target folder if it is missing. `OMNIASSIST_MONTY` names
/// another one.
pub(crate) fn runtime() -> &'static Path {
    static RUNTIME: OnceLock<PathBuf> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        if let Some(path) = env::var_os("OMNIASSIST_MONTY") {
            return path.into();
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("monty-0.0.23");
        let path = folder.join("bin/monty");
        if !path.is_file() {
            let parts = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--target"]);
            let installed = pip.arg(parts.path()).arg("pydantic-monty-runtime==0.0.23").status();
            let help = "install the runtime with `pip install pydantic-monty-runtime==0.0.23`, and set OMNIASSIST_MONTY \
                        to the path of `monty`";
            assert!(installed.is_ok_and(|status| status.success()), "{help}");
            drop(fs::rename(parts.keep(), &folder));
        }
        path
    })
}

pub(crate) async fn pool(workers: usize) -> MontyPool {
    MontyPool::at(runtime()).workers(workers).start().await.unwrap()
}

/// Returns a tool with these limits, on one worker.
pub(crate) async fn python(limits: Code) -> Tool {
    Python::pool(pool(1).await).limits(limits).tool("python").unwrap()
}

pub(crate) fn registry(tool: Tool) -> Tools {
    let mut limits = Limits::default();
    // A call that is dropped ends by itself, and not because the server aborts it later.
    limits.tool_cancel_grace = Duration::from_secs(3_600);
    let tools = Tools::new(StateMap::new(), limits);
    tools.register(tool).unwrap();
    tools
}

pub(crate) fn invocation(code: &str) -> ToolInvocation {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    let run = RunContext::for_request(RunRequest::prompt("Calculate"), extensions);
    ToolInvocation::new("call-1", JsonText::parse(json!({ "code": code }).to_string()).unwrap(), run)
}

/// Runs a program, and returns its progress and its output.
pub(crate) async fn watch(tools: &Tools, code: &str) -> (Vec<Value>, Value) {
    let tool = tools.snapshot().get("python").cloned().unwrap();
    let mut running = tools.start(&tool, invocation(code));
    let mut shown = Vec::new();
    loop {
        match running.next().await.unwrap() {
            ToolUpdate::Progress { output, .. } => shown.push(output.to().unwrap()),
            ToolUpdate::Done(outcome) => return (shown, outcome.result.unwrap().to().unwrap()),
            _ => {}
        }
    }
}

pub(crate) async fn run(tools: &Tools, code: &str) -> Value {
    watch(tools, code).await.1
}

/// Runs a program that must succeed, and returns its result.
pub(crate) async fn result(tools: &Tools, code: &str) -> Value {
    let output = run(tools, code).await;
    assert_eq!(output["error"], Value::Null, "{code}: {output}");
    output["result"].clone()
}
