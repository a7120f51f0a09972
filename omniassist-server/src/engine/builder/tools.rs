use omniassist_core::Text;

use super::AssistantBuilder;
use crate::afs::Afs;
use crate::component::Component;
use crate::tool::source::AttachedSource;
use crate::tool::{DeferAbove, Tool};

impl AssistantBuilder {
    /// Adds a tool. Default: none. [`Assistant::tools`](crate::Assistant::tools) registers more while serving.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a [component](crate::component). Default: none.
    pub fn component(self, component: Component) -> Self {
        self.tool(component.into_tool())
    }

    /// Adds [components](crate::component). Default: none.
    pub fn components(self, components: impl IntoIterator<Item = Component>) -> Self {
        components.into_iter().fold(self, Self::component)
    }

    /// Sets instructions about components. They follow the system prompt in runs that are offered a component. Default: none.
    /// A [`UiAgent`](crate::UiAgent) sets [`DEFAULT_UI_INSTRUCTIONS`](crate::DEFAULT_UI_INSTRUCTIONS).
    pub fn ui_instructions(mut self, instructions: impl Into<Text>) -> Self {
        self.config.ui_instructions = Some(instructions.into());
        self
    }

    /// Sets where the states of components are stored. Default: the [store](Self::store), or [`Afs::transcript`] without one:
    /// they travel with the conversation that the client keeps.
    pub fn afs(mut self, afs: Afs) -> Self {
        self.afs = Some(afs);
        self
    }

    /// Attaches a [source](crate::tool::source) of tools, such as a server of the Model Context Protocol. Default: none.
    ///
    /// [`build`](Self::build) does not wait for the tools: runs that begin after the source has offered them have them.
    pub fn tool_source(mut self, source: impl Into<AttachedSource>) -> Self {
        self.tool_sources.push(source.into());
        self
    }

    /// Sets the number of server tools above which the model searches for tools and does not receive all definitions.
    /// `None` always sends all. Default: 40.
    ///
    /// The definitions of many tools cost many tokens in each model call, and models choose worse among them. Where a run
    /// has more than this number of server tools, the model gets the built-in tool `tool_search`, the front-end tools and
    /// those that are [always loaded](crate::Tool::always_loaded). A search gives the 5 tools whose names, titles,
    /// [tags](crate::Tool::tag), descriptions and examples fit best, and their definitions are part of every later model
    /// call of the conversation.
    ///
    /// - Only the tools that a run may use are counted and found; see [`Tool::visible_to`](crate::Tool::visible_to) and
    ///   [`prepare`](Self::prepare). Tools that need an approval, that a plan adds or that are registered while serving
    ///   count like others. Front-end tools, those that clients declare included, are neither counted nor deferred.
    /// - The call of a tool that was not loaded runs as usual, and loads it.
    /// - The loaded tools are read from the conversation, so they need no store. A [window](crate::History) on it has no
    ///   influence. A client of a format that posts no calls of server tools, such as Chat Completions, begins each run
    ///   without them.
    /// - The number of loaded tools is bounded by the number set here, or by 20 if that is more. When it is exceeded,
    ///   only the most recently used half stays loaded. The model can find and call the others again.
    /// - Clients, hooks and the audit log see a search as a call of a server tool with the title “Search tools”.
    /// - The words of descriptions are compared with those of the model: write both in one language. The tool asks the
    ///   model for English.
    ///
    /// The name `tool_search` is taken unless tools are never deferred.
    ///
    /// ```
    /// use omniassist_server::testing::ScriptedProvider;
    /// use omniassist_server::tool::{Tool, ToolError};
    /// use omniassist_server::Assistant;
    ///
    /// let whoami = Tool::new("whoami", "The name of the user", async || Ok::<_, ToolError>("Ada")).always_loaded();
    /// let assistant = Assistant::builder(ScriptedProvider::new()).tool(whoami).defer_tools_above(100).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    ///
    /// Weak models do not search by themselves, and choose badly after a search. [`prepare`](Self::prepare) can search for
    /// them, which also saves a model call. The downside: the tools change with each question, so no prompt cache holds.
    ///
    /// ```
    /// # use omniassist_server::testing::ScriptedProvider;
    /// use omniassist_server::{Assistant, Refusal, RunContext, RunPlan};
    ///
    /// async fn offer_best(plan: &mut RunPlan, run: RunContext) -> Result<(), Refusal> {
    ///     let question = run.messages().last().map(|message| message.text()).unwrap_or_default();
    ///     let best = plan.tools().search(&question).into_iter().take(5);
    ///     let names: Vec<_> = best.map(|tool| tool.spec().name.clone()).collect();
    ///     plan.allow_tools(names);
    ///     Ok(())
    /// }
    ///
    /// let assistant = Assistant::builder(ScriptedProvider::new()).prepare(offer_best).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn defer_tools_above(mut self, tools: impl Into<Option<usize>>) -> Self {
        self.config.defer_above = DeferAbove(tools.into());
        self
    }
}
