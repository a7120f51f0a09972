//! Named agents, and the agents that others ask.

use omniassist_core::Text;
use omniassist_core::tree::TreeLimits;

use super::AssistantBuilder;
use crate::agent_config::AgentCatalog;
use crate::engine::agents::delegation;
use crate::engine::run::handoff;
use crate::engine::settings::{Agent, AgentTools, Config, ConfiguredAgents, Explore, NamedAgents, agent};
use crate::engine::tree;
use crate::tool::Tools;
use crate::{Error, Result};

impl AssistantBuilder {
    /// Adds a named [`Agent`], with a prompt, tools and a model of its own. Default: none.
    ///
    /// With a store that several servers share, add a new agent to all of them before clients use it. A server that takes
    /// over a run of an agent that it does not have ends the run as interrupted.
    pub fn agent(mut self, agent: Agent) -> Self {
        self.agents.push(agent);
        self
    }

    /// Sets the agents that are configured as data, such as the files of a folder: an
    /// [`AgentLoader`](crate::agent_config::AgentLoader), or an [`AgentCatalog`] with the tools that they can name. Default:
    /// none. See [`agent_config`](crate::agent_config).
    ///
    /// [`build`](Self::build) logs the errors of [files](crate::agent_config::AgentLoader::at_build), and does not fail for
    /// them.
    ///
    /// The model of the assistant itself asks agents of the builder only.
    pub fn agents(mut self, catalog: impl Into<AgentCatalog>) -> Self {
        self.catalog = Some(catalog.into());
        self
    }

    /// Lets the model of the assistant ask these [agents](Agent): it gets a tool with the name and the description of each.
    /// Default: none.
    ///
    /// An agent that is asked sees its task and the context of the host, and nothing of the conversation. It has its own
    /// prompt, tools and model, and the same principal, budgets, hooks and shared state. It ends with the call. Its text is
    /// data of the stream (`data-agent-delta` in the AI SDK), and its answer is the result of the call.
    ///
    /// A call of it that needs an approval, the input of a form or the output of a front-end tool is shown to the client among
    /// those of the run. The run ends, and the agent goes on with the answer, on any server with the same
    /// [seal keys](Self::seal_keys), or the same store. Without a store, the client keeps the state of the agent, encrypted and
    /// of at most 64 KiB. An agent with a longer state fails then, and so does an agent of a server that does not seal.
    ///
    /// A stored run keeps the work of agents: another server resumes each one after its last complete turn. An agent that a
    /// tool of the host has asked ends as `interrupted`.
    ///
    /// Tools can ask agents too, with the extractor [`Agents`](crate::tool::Agents).
    pub fn delegates<I>(mut self, agents: I) -> Self
    where
        I: IntoIterator<Item: Into<Text>>,
    {
        self.config.delegates.extend(agents.into_iter().map(Into::into));
        self
    }

    /// Lets the model of the assistant hand the conversation off to these [agents](Agent): it gets a tool
    /// `transfer_to_{name}` with the description of each. Default: none.
    ///
    /// After the call, the run goes on with the prompt, the tools and the model of that agent, and it answers in the same
    /// message. Later posts to the same route reach it too, because the posted conversation has the call: a client cannot
    /// forge its result. The functions of [`prepare`](Self::prepare) are called again for the agent, with
    /// [`RunContext::agent`](crate::RunContext::agent). A question changes its agent at most 4 times. A server that
    /// takes over a run allows it 4 more. [`max_steps`](Agent::max_steps) counts the steps of each agent from the handoff to
    /// it. Clients receive `{from, to}` as data of the kind `agent-handoff`.
    ///
    /// A client whose format does not return the server's tool calls, as that of OpenAI's clients, reaches the assistant
    /// again with each post, and so does one whose messages come from a [`history_loader`](Self::history_loader) that leaves
    /// the call out. An agent that is [asked](Self::delegates) cannot hand off.
    pub fn handoffs<I>(mut self, agents: I) -> Self
    where
        I: IntoIterator<Item: Into<Text>>,
    {
        self.config.handoffs.extend(agents.into_iter().map(Into::into));
        self
    }

    /// Sets the limits of each run with all agents that are asked in it. Default: [`TreeLimits::new`]. The depth is at most 8,
    /// because an agent is polled within the one that asks it.
    ///
    /// A limit of [cost](TreeLimits::cost_micro_usd) needs the [prices](Self::prices) of all models, and
    /// [`build`](Self::build) fails without them. A model that is chosen later and has no price is not called. The provider
    /// reports cached input only after a call, so each call reserves the price of input that is not cached.
    pub fn tree(mut self, limits: TreeLimits) -> Self {
        self.config.tree = limits;
        self
    }

    /// Sets the program of [sessions](crate::agents) of agents, such as those of `GET /ws`. Default: [`Explore::new`].
    pub fn explore(mut self, program: Explore) -> Self {
        self.config.explore = program;
        self
    }

    /// Checks a catalog of agents.
    pub(super) fn configured_agents(
        catalog: AgentCatalog,
        tools: &Tools,
        config: &Config,
    ) -> Result<ConfiguredAgents> {
        let tools_of_agents = AgentTools { ask: delegation::tool, hand_off: handoff::tool };
        ConfiguredAgents::new(catalog, tools, config, tools_of_agents)
    }

    /// Checks the agents, and gives each model the tools by which it asks others.
    pub(super) fn checked_agents(agents: Vec<Agent>, tools: &Tools, config: &Config) -> Result<NamedAgents> {
        let agents = agent::register(agents, tools.state(), &config.limits, config.defer_above)?;
        let ask = |agent: &_| delegation::tool(agent).timeout(config.limits.run_timeout);
        let hand_off = handoff::tool;
        agent::add_tools(tools, &config.delegates, &agents, ask, "the delegates of the assistant")?;
        agent::add_tools(tools, &config.handoffs, &agents, hand_off, "the handoffs of the assistant")?;
        for agent in agents.values() {
            let Agent { name, delegates, handoffs, .. } = &agent.settings;
            let whose = |what| format!("the {what} of the agent {:?}", &**name);
            agent::add_tools(&agent.tools, delegates, &agents, ask, &whose("delegates"))?;
            agent::add_tools(&agent.tools, handoffs, &agents, hand_off, &whose("handoffs"))?;
        }
        check_tree(&config.tree)?;
        let delegates = config.delegates.len()
            + agents.values().map(|agent| agent.settings.delegates.len()).sum::<usize>();
        if delegates > 0 && !config.limits_spending() && config.budget.is_none() {
            tracing::warn!(
                "models can ask agents, and nothing limits their tokens or cost; set those of `TreeLimits`, or a token budget"
            );
        }
        Ok(agents)
    }
}

/// The greatest depth of a tree: an agent is polled by the one that asked it.
const MAX_DEPTH: u32 = 8;

fn check_tree(limits: &TreeLimits) -> Result<()> {
    let refused = |reason: String| Err(Error::configuration(format!("the limits of the tree: {reason}")));
    if let Some(zero) = limits.zero_limit() {
        return refused(format!("they allow no {zero}"));
    }
    if limits.max_parallel() > tree::MAX_PARALLEL {
        return refused(format!("at most {} agents can work at the same time", tree::MAX_PARALLEL));
    }
    if limits.max_depth() > MAX_DEPTH {
        return refused(format!("the depth is at most {MAX_DEPTH}"));
    }
    Ok(())
}
