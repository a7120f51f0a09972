use std::collections::BTreeMap;
use std::sync::Arc;

use omniassist_server::Assistant;
use omniassist_server::core::Text;
use omniassist_server::tool::{RegisteredTool, ToolSnapshot};
use rmcp::ErrorData;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::caller::Caller;
use super::page::{Found, page};
use super::settings::Settings;

/// The name of the argument of a tool that asks an agent.
pub(super) const MESSAGE: &str = "message";

/// The tools and agents that a caller may call.
pub(super) struct Offer {
    tools: ToolSnapshot,
    /// The agents, by the names of the tools that ask them.
    agents: BTreeMap<Text, Assistant>,
}

/// The tool or the agent of a name.
pub(super) enum Target {
    Tool(Text),
    Agent(Assistant),
}

impl Offer {
    pub(super) fn new(Caller { assistant, extensions }: &Caller, settings: &Settings) -> Self {
        let tools = assistant.callable_tools(extensions);
        let mut agents = BTreeMap::new();
        if !settings.agents.is_empty() {
            for agent in assistant.visible_agents(extensions) {
                let Some((name, _)) = agent.as_agent() else { continue };
                let tool = Text::from(format!("ask_{name}"));
                if settings.agents.iter().any(|exposed| *exposed == **name) && tools.get(&tool).is_none() {
                    agents.insert(tool, agent);
                }
            }
        }
        Self { tools, agents }
    }

    pub(super) fn find(&self, name: &str) -> Option<Target> {
        match self.tools.get(name) {
            Some(tool) => Some(Target::Tool(tool.spec().name.clone())),
            None => self.agents.get(name).cloned().map(Target::Agent),
        }
    }

    /// Returns the tools whose names come after this one, in their order, and the cursor of the next page if there is one.
    pub(super) fn page(&self, after: Option<&str>, size: usize) -> Result<Found<Tool>, ErrorData> {
        let specs = self.tools.specs();
        let of_tools =
            specs.iter().filter_map(|spec| Some((spec.name.as_str(), tool(self.tools.get(&spec.name)?))));
        let of_agents =
            self.agents.iter().filter_map(|(name, agent)| Some((name.as_str(), ask(name, agent)?)));
        page(of_tools.chain(of_agents).collect(), after, size)
    }
}

fn tool(tool: &Arc<RegisteredTool>) -> Tool {
    let spec = tool.spec();
    let mut listed =
        Tool::new(spec.name.to_string(), spec.description.to_string(), schema(&spec.input_schema));
    listed.title = spec.title.as_ref().map(Text::to_string);
    // No `idempotentHint`: an idempotent tool of the assistant tells two calls with the same arguments apart by their keys.
    listed.annotations = Some(ToolAnnotations::new().read_only(tool.is_read_only()));
    listed
}

/// Returns the tool that asks an agent.
fn ask(name: &Text, agent: &Assistant) -> Option<Tool> {
    let (_, description) = agent.as_agent()?;
    let input = json!({
        "type": "object",
        "properties": {
            MESSAGE: { "type": "string", "description": "The whole task: the agent knows nothing else." }
        },
        "required": [MESSAGE]
    });
    Some(Tool::new(name.to_string(), description.to_string(), schema(&input)))
}

fn schema(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
