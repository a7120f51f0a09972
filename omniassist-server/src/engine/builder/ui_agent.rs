use std::fmt;

use omniassist_core::Text;

use crate::afs::Afs;
use crate::component::{Component, ComponentRegistry, Environment};
use crate::engine::{Assistant, AssistantBuilder};
use crate::tool::Tool;
use crate::{Error, Result};

/// The instructions of a [`UiAgent`] without its own.
pub const DEFAULT_UI_INSTRUCTIONS: &str = "\
You have access to UI components that you can render for the user.
These are special agents with names prefixed with \"ui_\".

When the user requests visualization, dashboards, forms, or any interactive UI:
1. Select the appropriate UI component agent
2. Provide all required props according to the schema
3. The component will be rendered automatically

Available UI components are listed in your available agents/tools.
Each ui_* agent corresponds to a renderable component.

Guidelines:
- Use UI components for data visualization, forms, tables, dashboards
- Provide clear, complete props - the component needs all required fields
- For complex UIs, you can invoke multiple components sequentially
- Component state is automatically persisted between interactions";

/// The settings of a [`UiAgent`]: those of an assistant, with components.
#[must_use = "options do nothing until an agent is built"]
pub struct UiAgentOptions {
    assistant: AssistantBuilder,
    components: Vec<Component>,
    afs: Option<Afs>,
    ui_instructions: Option<Text>,
    skills: Vec<Tool>,
}

impl UiAgentOptions {
    /// Creates options from those of an assistant. Its system prompt are the instructions.
    pub fn new(assistant: AssistantBuilder) -> Self {
        Self { assistant, components: Vec::new(), afs: None, ui_instructions: None, skills: Vec::new() }
    }

    /// Adds components. Those of another environment are skipped, with a warning in the log. Default: none.
    pub fn components(mut self, components: impl IntoIterator<Item = Component>) -> Self {
        self.components.extend(components);
        self
    }

    /// Sets where the state of components is kept. Required; [`Afs::transcript`] stores nothing.
    pub fn afs(mut self, afs: Afs) -> Self {
        self.afs = Some(afs);
        self
    }

    /// Sets the instructions about components, which follow the system prompt. Default: [`DEFAULT_UI_INSTRUCTIONS`].
    pub fn ui_instructions(mut self, instructions: impl Into<Text>) -> Self {
        self.ui_instructions = Some(instructions.into());
        self
    }

    /// Adds tools that are no components. They come before those of components. Default: none.
    pub fn skills(mut self, skills: impl IntoIterator<Item = Tool>) -> Self {
        self.skills.extend(skills);
        self
    }
}

impl fmt::Debug for UiAgentOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UiAgentOptions").field("components", &self.components).finish_non_exhaustive()
    }
}

/// An assistant with components of one environment.
///
/// It is an [`Assistant`] with these settings: the components that fit the environment, the instructions about them, and
/// the place of their state. A run that is offered no component has no such instructions.
///
/// ```
/// use omniassist_server::component::Component;
/// use omniassist_server::testing::ScriptedProvider;
/// use omniassist_server::afs::{Afs, AfsHistory};
/// use omniassist_server::{Assistant, UiAgent, UiAgentOptions};
/// use schemars::JsonSchema;
///
/// #[derive(JsonSchema)]
/// struct Dashboard {
///     title: String,
/// }
///
/// let options = UiAgentOptions::new(Assistant::builder(ScriptedProvider::new()).system_prompt("You help."))
///     .components([Component::new::<Dashboard>("Dashboard", "Shows a dashboard")])
///     .afs(Afs::new().mount(AfsHistory::in_memory()));
/// let agent = UiAgent::for_web(options)?;
/// assert_eq!(agent.assistant().tools().names(), ["ui_Dashboard"]);
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct UiAgent {
    assistant: Assistant,
    components: ComponentRegistry,
    environment: Environment,
}

impl UiAgent {
    /// Builds an agent for an environment.
    ///
    /// # Errors
    ///
    /// Returns an error without an [`Afs`], and the errors of [`AssistantBuilder::build`].
    pub fn new(environment: Environment, options: UiAgentOptions) -> Result<Self> {
        let UiAgentOptions { assistant, components, afs, ui_instructions, skills } = options;
        let afs = afs.ok_or_else(|| {
            Error::configuration("UiAgent requires AFS to be configured for state persistence".to_owned())
        })?;
        let mut registry = ComponentRegistry::new();
        for component in components {
            let (name, made_for) = (component.name(), component.environment_of());
            if made_for.fits(environment) {
                registry.register(component);
            } else {
                tracing::warn!("Component {name} is for {made_for} but agent is running in {environment}");
            }
        }
        let instructions = ui_instructions.unwrap_or(Text::from_static(DEFAULT_UI_INSTRUCTIONS));
        let assistant = skills.into_iter().fold(assistant, AssistantBuilder::tool);
        let assistant = registry.to_tools().into_iter().fold(assistant, AssistantBuilder::tool);
        let assistant = assistant.ui_instructions(instructions).afs(afs).build()?;
        Ok(Self { assistant, components: registry, environment })
    }

    /// Builds an agent for a terminal.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`new`](Self::new).
    pub fn for_cli(options: UiAgentOptions) -> Result<Self> {
        Self::new(Environment::Cli, options)
    }

    /// Builds an agent for web pages.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`new`](Self::new).
    pub fn for_web(options: UiAgentOptions) -> Result<Self> {
        Self::new(Environment::Web, options)
    }

    /// Returns the components.
    #[must_use]
    pub fn get_components(&self) -> Vec<&Component> {
        self.components.list(Some(self.environment))
    }

    /// Returns the assistant.
    #[must_use]
    pub fn assistant(&self) -> &Assistant {
        &self.assistant
    }
}

impl From<UiAgent> for Assistant {
    fn from(agent: UiAgent) -> Self {
        agent.assistant
    }
}
