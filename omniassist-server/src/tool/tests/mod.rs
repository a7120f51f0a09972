#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "that is how a test fails; clippy's own exception covers test functions only, not what they call"
)]

mod args;
mod extract;
mod lint;
mod log;
mod output;
mod registry;
mod run;
mod validate;

use http::Extensions;
use omniassist_core::{JsonText, Limits, RunRequest, Text};

use super::{RunningTool, StateMap, Tool, ToolError, ToolInvocation, Tools};
use crate::{Principal, RunContext};

fn run_context(chat_id: Option<&str>, extensions: Extensions) -> RunContext {
    let mut request = RunRequest::new(Vec::new());
    request.chat_id = chat_id.map(Text::from);
    RunContext::new("run-1".into(), &request, extensions, Vec::new())
}

/// Everything that a test may want to set about one call.
struct Bench {
    state: StateMap,
    limits: Limits,
    chat_id: Option<&'static str>,
    extensions: Extensions,
}

impl Bench {
    fn new() -> Self {
        Self {
            state: StateMap::new(),
            limits: Limits::default(),
            chat_id: None,
            extensions: Extensions::new(),
        }
    }

    fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.state.insert(value);
        self
    }

    fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    fn principal(self, id: &'static str) -> Self {
        self.extension(Principal::new(id))
    }

    fn tools(&self, tool: Tool) -> Tools {
        let tools = Tools::new(self.state.clone(), self.limits.clone());
        tools.register(tool).unwrap();
        tools
    }

    fn invocation(&self, arguments: &str) -> ToolInvocation {
        let run = run_context(self.chat_id, self.extensions.clone());
        ToolInvocation::new("call-1", JsonText::parse(arguments).unwrap(), run)
    }

    fn start(&self, tool: Tool, arguments: &str) -> (Tools, RunningTool) {
        let tools = self.tools(tool);
        let snapshot = tools.snapshot();
        let name = snapshot.specs()[0].name.clone();
        let running = tools.start(snapshot.get(&name).unwrap(), self.invocation(arguments));
        (tools, running)
    }

    async fn call(&self, tool: Tool, arguments: &str) -> Result<String, ToolError> {
        let outcome = self.start(tool, arguments).1.outcome().await;
        assert_eq!(outcome.call_id, "call-1");
        outcome.result.map(|output| output.as_str().to_owned())
    }
}
