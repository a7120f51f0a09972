//! Tests of tools: their registration, their schemas and their calls.

mod args;
mod extract;
pub(crate) mod log;
mod output;
mod recovery;
mod registry;
mod run;
mod schema_check;
mod schemas;
mod sources;

use http::Extensions;
use omniassist_server::core::{JsonText, Limits, RunRequest};
use omniassist_server::tool::{RunningTool, StateMap, ToolInvocation, Tools};
use omniassist_server::{Principal, RunContext, Tool, ToolError};

fn no_tools() -> Tools {
    Tools::new(StateMap::new(), Limits::default())
}

/// The settings of one call.
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
        let mut request = RunRequest::new(Vec::new());
        request.chat_id = self.chat_id.map(Into::into);
        let run = RunContext::for_request(request, self.extensions.clone());
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
