use std::sync::Arc;

use omniassist_core::{ModelOptions, Text, ToolChoice};

use crate::cost::{Price, Prices};
use crate::provider::LlmProvider;
use crate::tool::ToolSnapshot;

/// The settings of a model call.
#[derive(Clone)]
pub(in crate::engine) struct Call {
    pub(in crate::engine) provider: Arc<dyn LlmProvider>,
    /// The model to request. `None` for the provider's own.
    pub(in crate::engine) model: Option<Text>,
    pub(in crate::engine) system: Option<Text>,
    pub(in crate::engine) options: Arc<ModelOptions>,
    pub(in crate::engine) tool_choice: ToolChoice,
}

impl Call {
    /// Returns the name of the model that is requested, if it is known.
    pub(in crate::engine) fn requested_model(&self) -> Option<&str> {
        self.model.as_deref().or_else(|| self.provider.model())
    }

    /// Returns the price of the model that is requested, if it is known.
    pub(in crate::engine) fn price(&self, prices: Option<&Prices>) -> Option<Price> {
        prices?.price(self.requested_model()?).copied()
    }

    /// Drops a choice of a tool that is not offered to the model: the provider would read its name and refuse the
    /// request.
    pub(in crate::engine) fn offer(&mut self, tools: &ToolSnapshot) {
        let unknown = matches!(&self.tool_choice, ToolChoice::Tool(name) if tools.get(name).is_none());
        let impossible = self.tool_choice == ToolChoice::Required && tools.is_empty();
        if unknown || impossible {
            tracing::warn!("the choice of tools has no effect, because its tool is not offered");
            self.tool_choice = ToolChoice::Auto;
        }
    }
}

/// Adds the setters that a run and a model call have in common. The type has the fields `call` and `tools`.
macro_rules! impl_call_plan {
    ($plan:ident, $scope:literal) => {
        impl $plan {
            #[doc = concat!("Sets the system prompt of ", $scope, ". Default: the assistant's.")]
            pub fn system_prompt(&mut self, prompt: impl Into<Text>) -> &mut Self {
                self.call.system = Some(prompt.into());
                self
            }

            #[doc = concat!("Sets the provider of ", $scope, ", with its own model. Default: the assistant's.")]
            ///
            /// An `Arc` of a provider is a provider.
            pub fn provider(&mut self, provider: impl LlmProvider) -> &mut Self {
                self.call.provider = Arc::new(provider);
                self.call.model = None;
                self
            }

            #[doc = concat!("Sets the model of ", $scope, ". Default: the assistant's.")]
            pub fn model(&mut self, model: impl Into<Text>) -> &mut Self {
                self.call.model = Some(model.into());
                self
            }

            /// Returns the settings of the model, to read or change them. They begin as those of the request, or else of
            /// the assistant.
            pub fn options_mut(&mut self) -> &mut ModelOptions {
                Arc::make_mut(&mut self.call.options)
            }

            /// Sets the rule for tool calls. It has no effect if its tool is not offered. Default: that of the request.
            pub fn tool_choice(&mut self, choice: ToolChoice) -> &mut Self {
                self.call.tool_choice = choice;
                self
            }

            /// Returns the tools that the model can call: those that the client declares and those that are
            /// [deferred](crate::AssistantBuilder::defer_tools_above) included.
            #[must_use]
            pub fn tools(&self) -> &ToolSnapshot {
                &self.tools
            }

            /// Hides the tools for which `keep` returns `false`. A call of a hidden tool is answered like a call of an
            /// unknown one, also if it was approved. A tool that was hidden earlier stays so.
            pub fn retain_tools(&mut self, keep: impl Fn(&RegisteredTool) -> bool) -> &mut Self {
                self.tools = self.tools.hiding(|tool| !keep(tool));
                self
            }

            /// Hides all tools but those with these names. Default: no tool is hidden.
            pub fn allow_tools<I>(&mut self, names: I) -> &mut Self
            where
                I: IntoIterator<Item: AsRef<str>>,
            {
                let names: Vec<_> = names.into_iter().collect();
                self.retain_tools(|tool| names.iter().any(|name| tool.spec().name == *name.as_ref()))
            }

            /// Hides the tools with these names. A name without a tool has no effect. Default: no tool is hidden.
            ///
            /// No other method hides `tool_search`. Without it, [deferred](crate::AssistantBuilder::defer_tools_above)
            /// tools stay so, and those that the conversation has loaded are offered.
            pub fn deny_tools<I>(&mut self, names: I) -> &mut Self
            where
                I: IntoIterator<Item: AsRef<str>>,
            {
                let names: Vec<_> = names.into_iter().collect();
                if names.iter().any(|name| name.as_ref() == TOOL_SEARCH) {
                    self.tools = self.tools.without_search();
                }
                self.retain_tools(|tool| !names.iter().any(|name| tool.spec().name == *name.as_ref()))
            }

            /// Hides the tools with this [tag](crate::Tool::tag). Default: no tool is hidden.
            pub fn deny_tag(&mut self, tag: &str) -> &mut Self {
                self.retain_tools(|tool| !tool.tags().iter().any(|own| own == tag))
            }
        }
    };
}
pub(super) use impl_call_plan;
