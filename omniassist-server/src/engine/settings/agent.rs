//! Named agents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::{fmt, mem};

use omniassist_core::tree::AgentBudget;
use omniassist_core::{Limits, ModelOptions, Text, check_tool_name};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::hook::RunHook;
use super::json_type::{CheckedJsonType, JsonType};
use super::prompt::IntoSystemPrompt;
use crate::agent_config::{Kind, RESERVED};
use crate::provider::LlmProvider;
use crate::tool::source::AttachedSource;
use crate::tool::{DeferAbove, StateMap, Tool, ToolArguments, Tools};
use crate::visibility::Visibility;
use crate::{Error, Result, RunContext};

/// A named agent: a prompt, tools and a model of its own, below the routes of one assistant.
///
/// An agent has no tool and no prompt of the assistant. It has the assistant's provider and model, unless it sets its own,
/// and shares all other settings: limits, hooks, budgets, seals, context and the store.
///
/// Clients reach it below `/agents/{name}` and `/api/run/{name}` with the same routes and protocols as the assistant, in
/// CopilotKit by its name, and for OpenAI's clients as the model `omniassist/{name}`. In process,
/// [`Assistant::agent`](crate::Assistant::agent) returns it. A chat may be continued with another agent; an approval counts
/// only for the agent that asked for it.
///
/// ```
/// use omniassist_server::core::RunRequest;
/// use omniassist_server::testing::{ScriptedProvider, Turn};
/// use omniassist_server::tool::{Tool, ToolError};
/// use omniassist_server::{Agent, Assistant, RunContext};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedProvider::new().turn(Turn::text("Ten percent."));
/// async fn discount() -> Result<&'static str, ToolError> {
///     Ok("10 %")
/// }
///
/// let sales = Agent::new("sales", "Answers questions about offers.")
///     .system_prompt("You sell lamps.")
///     .tool(Tool::new("discount", "Returns the current discount", discount))
///     .visible_to(|caller: &RunContext| !caller.principal().is_anonymous());
/// let assistant = Assistant::builder(model).agent(sales).build()?;
///
/// let sales = assistant.agent("sales").ok_or("there is no such agent")?;
/// assert_eq!(sales.run(RunRequest::prompt("Any discount?")).text().await?, "Ten percent.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "an agent does nothing until it is given to a builder"]
pub struct Agent {
    pub(in crate::engine) name: Text,
    pub(in crate::engine) description: Text,
    pub(in crate::engine) provider: Option<Arc<dyn LlmProvider>>,
    pub(in crate::engine) model: Option<Text>,
    pub(in crate::engine) options: Option<Arc<ModelOptions>>,
    pub(in crate::engine) prompt: Option<RunHook<Text>>,
    tools: Vec<Tool>,
    tool_sources: Vec<AttachedSource>,
    pub(in crate::engine) delegates: Vec<Text>,
    pub(in crate::engine) handoffs: Vec<Text>,
    pub(in crate::engine) budget: AgentBudget,
    pub(in crate::engine) input: Option<JsonType>,
    output: Option<JsonType>,
    pub(in crate::engine) max_steps: Option<u32>,
    is_internal: bool,
    visibility: Option<Visibility>,
}

impl Agent {
    /// Creates an agent. The name is 1 to 64 of `[A-Za-z0-9_-]`, and not `default`, `stop` or `stream`. The description
    /// tells users, and models, what the agent does.
    pub fn new(name: impl Into<Text>, description: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            provider: None,
            model: None,
            options: None,
            prompt: None,
            tools: Vec::new(),
            tool_sources: Vec::new(),
            delegates: Vec::new(),
            handoffs: Vec::new(),
            budget: AgentBudget::new(),
            input: None,
            output: None,
            max_steps: None,
            is_internal: false,
            visibility: None,
        }
    }

    /// Sets the system prompt; see [`IntoSystemPrompt`]. Default: none.
    pub fn system_prompt<Kind>(mut self, prompt: impl IntoSystemPrompt<Kind>) -> Self {
        self.prompt = Some(prompt.into_system_prompt().0);
        self
    }

    /// Adds a tool. Default: none; the tools of the assistant are not those of the agent.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Attaches a [source](crate::tool::source) of tools. Default: none; the sources of the assistant are not those of the
    /// agent.
    ///
    /// An `Arc` of a source is a source, so that the assistant and its agents can have the same.
    pub fn tool_source(mut self, source: impl Into<AttachedSource>) -> Self {
        self.tool_sources.push(source.into());
        self
    }

    /// Sets the provider, with its own model. Default: the assistant's.
    ///
    /// An `Arc` of a provider is a provider.
    pub fn provider(mut self, provider: impl LlmProvider) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }

    /// Sets the model to request. Default: the provider's own if the agent has a provider, or else the assistant's.
    pub fn model(mut self, model: impl Into<Text>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the settings of the model. Default: the assistant's.
    pub fn model_options(mut self, options: ModelOptions) -> Self {
        self.options = Some(Arc::new(options));
        self
    }

    /// Lets the agent's model ask these agents: it gets a tool with the name and the description of each. Default: none.
    ///
    /// See [`AssistantBuilder::delegates`](crate::AssistantBuilder::delegates).
    pub fn delegates<I>(mut self, agents: I) -> Self
    where
        I: IntoIterator<Item: Into<Text>>,
    {
        self.delegates.extend(agents.into_iter().map(Into::into));
        self
    }

    /// Lets the agent's model hand the conversation off to these agents: it gets a tool `transfer_to_{name}` for each.
    /// Default: none.
    ///
    /// See [`AssistantBuilder::handoffs`](crate::AssistantBuilder::handoffs).
    pub fn handoffs<I>(mut self, agents: I) -> Self
    where
        I: IntoIterator<Item: Into<Text>>,
    {
        self.handoffs.extend(agents.into_iter().map(Into::into));
        self
    }

    /// Sets the budget of the agent each time that another one asks it. Default: [`AgentBudget::new`].
    pub fn budget(mut self, budget: AgentBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the type of the tasks that others ask the agent to do. Default: any text.
    ///
    /// The tool by which a model asks the agent has the schema of `T`, and the task is its arguments as JSON. The agent reads
    /// it as the user's message. A [function](Self::system_prompt) of the system prompt finds it in
    /// [`RunContext::messages`](crate::RunContext::messages). A tool asks with [`Json`](crate::tool::Json):
    /// `agents.ask("grader", Json(essay))`.
    ///
    /// A task that does not fit is an error for the model that asks, and names the field. Clients that talk to the agent
    /// themselves are not affected. [`build`](crate::AssistantBuilder::build) fails if `T` is not a struct with named fields.
    ///
    /// ```
    /// use omniassist_server::Agent;
    /// use omniassist_server::tool::{Agents, Args, Json, ToolError};
    /// use schemars::JsonSchema;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize, JsonSchema)]
    /// struct Essay {
    ///     title: String,
    ///     text: String,
    /// }
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Grade {
    ///     /// The best is 15.
    ///     #[schemars(range(max = 15))]
    ///     points: u8,
    /// }
    ///
    /// let grader = Agent::new("grader", "Grades an essay.").input::<Essay>().output::<Grade>();
    ///
    /// async fn points(Args(essay): Args<Essay>, agents: Agents) -> Result<u8, ToolError> {
    ///     let grade: Grade = agents.ask("grader", Json(essay)).await?.output()?;
    ///     Ok(grade.points)
    /// }
    /// # let _ = (grader, omniassist_server::tool::Tool::new("points", "Grades", points));
    /// ```
    pub fn input<T: ToolArguments>(mut self) -> Self {
        self.input = Some(JsonType::of::<T>());
        self
    }

    /// Sets the type of the agent's answer each time that another one asks it. Default: any text.
    ///
    /// The agent's model gets the schema of `T`. An answer that does not fit is sent back once, with the reason. If the next
    /// one does not fit either, the agent has failed with the reason `invalid_answer`. The model that asks reads the answer as
    /// JSON, and a tool reads it with [`AgentReport::output`](crate::tool::AgentReport::output).
    ///
    /// Clients that talk to the agent themselves are not affected. [`build`](crate::AssistantBuilder::build) fails if `T` is
    /// not a struct with named fields.
    pub fn output<T: DeserializeOwned + JsonSchema>(mut self) -> Self {
        self.output = Some(JsonType::of::<T>());
        self
    }

    /// Sets how many model calls one question may take, or the agent's part of it since the last
    /// [handoff](crate::AssistantBuilder::handoffs). Default: as for the [assistant](crate::AssistantBuilder::max_steps).
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.max_steps = Some(steps);
        self
    }

    /// Hides the agent from clients, so that only other agents and tools reach it. Default: clients see it.
    pub fn internal(mut self) -> Self {
        self.is_internal = true;
        self
    }

    /// Sets the condition on which a caller sees the agent. For others it does not exist: its routes answer as those of an
    /// unknown name, and no model is offered to [ask](Self::delegates) it. Default: everybody who may use the assistant.
    ///
    /// A tool of the host can [ask](crate::tool::Agents) each agent, whoever the caller is.
    ///
    /// The condition is called for each request and must return at once. A run that has begun is not affected.
    pub fn visible_to(mut self, condition: impl Fn(&RunContext) -> bool + Send + Sync + 'static) -> Self {
        self.visibility = Some(Visibility::new(condition));
        self
    }

    /// Checks the agent, and registers its tools.
    pub(in crate::engine) fn register(
        mut self,
        state: &Arc<StateMap>,
        limits: &Limits,
        defer_above: DeferAbove,
    ) -> Result<NamedAgent> {
        let name = &self.name;
        let refused = |reason: &str| Err(Error::configuration(format!("the agent {:?}: {reason}", &**name)));
        if check_tool_name(name).is_err() {
            return refused("a name is 1 to 64 of [A-Za-z0-9_-]");
        }
        if RESERVED.contains(&&**name) {
            return refused("this name has another meaning; give the agent another one");
        }
        if self.description.trim().is_empty() {
            return refused("the description is empty");
        }
        if let Some(zero) = self.budget.zero_limit() {
            return refused(&format!("its budget allows no {zero}"));
        }
        if self.max_steps == Some(0) {
            return refused("it may take no steps");
        }
        let checked = |of: Option<JsonType>, what| of.map(|of| of.checked(what, limits)).transpose();
        let shapes = checked(self.input.clone(), "task")
            .and_then(|input| Ok((input, checked(self.output.clone(), "answer")?.map(Arc::new))));
        let (input, output) = match shapes {
            Ok(shapes) => shapes,
            Err(reason) => return refused(&reason),
        };
        let tools = Tools::searchable(Arc::clone(state), limits.clone(), defer_above)?;
        for tool in mem::take(&mut self.tools) {
            tools.register(tool)?;
        }
        for source in mem::take(&mut self.tool_sources) {
            tools.attach(source)?;
        }
        Ok(NamedAgent { settings: self, tools, input, output })
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An agent of an assistant.
pub(in crate::engine) struct NamedAgent {
    /// Its tools were moved to the registry.
    pub(in crate::engine) settings: Agent,
    pub(in crate::engine) tools: Tools,
    /// The type of the tasks that others ask it to do.
    pub(in crate::engine) input: Option<CheckedJsonType>,
    /// The type of its answers to them.
    pub(in crate::engine) output: Option<Arc<CheckedJsonType>>,
}

impl NamedAgent {
    /// Returns `true` if a caller reaches the agent.
    pub(in crate::engine) fn is_visible(&self, caller: impl FnOnce() -> RunContext) -> bool {
        !self.settings.is_internal && self.is_for(caller)
    }

    /// Returns `true` if the agent works for a caller.
    pub(in crate::engine) fn is_for(&self, caller: impl FnOnce() -> RunContext) -> bool {
        let Agent { name, visibility, .. } = &self.settings;
        visibility.as_ref().is_none_or(|visibility| visibility.holds(name, &caller()))
    }
}

/// The agents of an assistant, by name.
pub(in crate::engine) type NamedAgents = BTreeMap<Text, Arc<NamedAgent>>;

/// Checks the agents of a builder, and registers their tools.
pub(in crate::engine) fn register(
    agents: Vec<Agent>,
    state: &Arc<StateMap>,
    limits: &Limits,
    defer_above: DeferAbove,
) -> Result<NamedAgents> {
    let mut named = NamedAgents::new();
    for agent in agents {
        let agent = agent.register(state, limits, defer_above)?;
        let name = agent.settings.name.clone();
        if named.insert(name.clone(), Arc::new(agent)).is_some() {
            return Err(Error::configuration(format!("two agents are named {:?}", &*name)));
        }
    }
    Ok(named)
}

/// Adds the tools by which a model asks agents, or hands the conversation off to them. `whose` says who names them, for an
/// error.
pub(in crate::engine) fn add_tools(
    tools: &Tools,
    names: &[Text],
    agents: &NamedAgents,
    tool: impl Fn(&Agent) -> Tool,
    whose: &str,
) -> Result<()> {
    for name in names {
        let agent = agents.get(name).ok_or_else(|| {
            let known = agents.keys().cloned().collect();
            let reason = Kind::Unknown { what: "agent", name: name.clone(), known };
            Error::configuration(format!("{whose}: {reason}"))
        })?;
        tools.register(tool_of(agent, &tool))?;
    }
    Ok(())
}

/// Returns the tool by which a model asks an agent or hands off to it, for the callers that the agent works for.
pub(super) fn tool_of(agent: &Arc<NamedAgent>, tool: impl Fn(&Agent) -> Tool) -> Tool {
    let asked = Arc::clone(agent);
    tool(&agent.settings).visible_to(move |caller| asked.is_for(|| caller.clone()))
}
