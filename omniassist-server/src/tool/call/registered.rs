use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use omniassist_core::run::{CallLabel, Gate};
use omniassist_core::tool_search::SearchText;
use omniassist_core::typescript::{ActionDeclaration, ComponentDeclaration};
use omniassist_core::{
    JsonText, Limits, Text, ToolSide, ToolSpec, check_tool_name, is_inherited_in_javascript,
};
use serde_json::Value;

use crate::throttle::{self, Attempt};
use crate::tool::context::StateMap;
use crate::tool::definition::{CheckedSchema, RegisteredComponent, ToolSettings, form, label};
use crate::tool::output::OutputLimits;
use crate::tool::schema::{self, ArgumentCheck, SchemaLimits};
use crate::tool::{Tool, ToolContext, ToolError, ToolFuture};
use crate::{Error, Principal, RunContext};

/// A tool in a [`ToolSnapshot`](crate::tool::ToolSnapshot). It has passed the checks of registration.
pub struct RegisteredTool {
    spec: Arc<ToolSpec>,
    settings: ToolSettings,
    check: ArgumentCheck,
    schema_limits: SchemaLimits,
    timeout: Duration,
    output: OutputLimits,
    max_unread_bytes: usize,
    source: Option<Text>,
    component: Option<Box<RegisteredComponent>>,
    /// The tools that the actions of a component call.
    actions: BTreeMap<Text, Arc<Self>>,
    /// The values of the registry that has checked it.
    state: Option<Arc<StateMap>>,
}

pub(in crate::tool) fn check_name(name: &str) -> Result<(), String> {
    check_tool_name(name).map_err(|error| error.to_string())?;
    if name.starts_with(|first: char| !first.is_ascii_alphabetic() && first != '_') {
        return Err("it must begin with a letter or '_', or Gemini refuses it".to_owned());
    }
    if is_inherited_in_javascript(name) {
        return Err("every object in JavaScript has something of this name already".to_owned());
    }
    Ok(())
}

impl RegisteredTool {
    pub(in crate::tool) fn check(tool: Tool, state: &Arc<StateMap>, limits: &Limits) -> Result<Self, Error> {
        let Tool {
            mut spec,
            settings,
            timeout,
            max_output_bytes,
            state: needs,
            arguments,
            component,
            actions,
        } = tool;
        let is_front_end = settings.call.is_none();
        let name = spec.name.clone();
        let refuse = |reason: String| Error::invalid_tool(name.clone(), reason);

        check_name(&spec.name).map_err(refuse)?;
        let wrong = if spec.description.trim().is_empty() {
            Some("it has no description; a model needs one to know when to call it".to_owned())
        } else if arguments.len() > 1 {
            let types = arguments.join("`, `");
            Some(format!(
                "its function takes more than one `Args` (`{types}`); put the fields into one struct"
            ))
        } else if settings.approval.is_some() && is_front_end {
            Some("the client runs it, so the client asks for approval".to_owned())
        } else if !settings.rate_limits.is_empty() && is_front_end {
            Some("the client runs it, so the server cannot limit how often it is called".to_owned())
        } else if settings.may_run_again && is_front_end {
            Some("the client runs it, so the server never runs it again".to_owned())
        } else if spec.name == form::REQUEST_INPUT && !settings.is_form {
            Some("this is the name of the built-in form; give the tool another name".to_owned())
        } else {
            needs.iter().find(|need| !state.contains(need)).map(|need| {
                let name = need.type_name;
                format!("it takes `State<{name}>`, and there is none; give it with `.state(value)`")
            })
        };
        if let Some(reason) = wrong {
            return Err(refuse(reason));
        }

        schema::normalise(&mut spec.input_schema);
        let schema_limits = SchemaLimits::from(limits);
        if schema::lint(&spec.input_schema, schema_limits).map_err(refuse)? {
            tracing::warn!(
                tool = name.as_str(),
                "its schema refers to itself; not every provider takes that"
            );
        }
        let check = ArgumentCheck::new(&spec.input_schema, schema_limits).map_err(refuse)?;
        for (index, example) in spec.examples.iter().enumerate() {
            check
                .check_value(&spec.input_schema, &example.arguments)
                .map_err(|reason| refuse(format!("example {}: {reason}", index + 1)))?;
        }
        let mut checked_actions = BTreeMap::new();
        for (action, tool) in actions {
            if action == "state" {
                return Err(refuse("the name `state` of an action is reserved".to_owned()));
            }
            let tool = Arc::new(Self::check(tool, state, limits)?);
            if checked_actions.insert(action.clone(), tool).is_some() {
                return Err(refuse(format!("it has two actions with the name `{action}`")));
            }
        }
        let component = component.map(|parts| RegisteredComponent::check(*parts, limits)).transpose()?;
        let mut tool = Self::new(Arc::new(spec), check, schema_limits, limits);
        tool.timeout = timeout.unwrap_or(tool.timeout);
        tool.state = Some(Arc::clone(state));
        tool.output.max_bytes = max_output_bytes.unwrap_or(tool.output.max_bytes);
        Ok(Self { settings, component: component.map(Box::new), actions: checked_actions, ..tool })
    }

    /// Checks a front-end tool that a client declares.
    pub(in crate::tool) fn declared(spec: &Arc<ToolSpec>, limits: &Limits) -> Result<Self, String> {
        let mut schema = spec.input_schema.clone();
        schema::normalise(&mut schema);
        let schema_limits = SchemaLimits::from(limits);
        schema::lint(&schema, schema_limits)?;
        // A client declares front-end tools only, never a tool of the server.
        let spec = if schema == spec.input_schema && spec.side == ToolSide::FrontEnd {
            Arc::clone(spec)
        } else {
            let mut spec = ToolSpec::clone(spec).front_end();
            spec.input_schema = schema;
            Arc::new(spec)
        };
        Ok(Self::new(spec, ArgumentCheck::lenient(schema_limits), schema_limits, limits))
    }

    fn new(spec: Arc<ToolSpec>, check: ArgumentCheck, schema_limits: SchemaLimits, limits: &Limits) -> Self {
        Self {
            spec,
            settings: ToolSettings::default(),
            check,
            schema_limits,
            timeout: limits.tool_timeout,
            output: OutputLimits::new(limits.max_tool_output_bytes, limits.max_json_depth),
            max_unread_bytes: limits.max_unread_tool_bytes,
            source: None,
            component: None,
            actions: BTreeMap::new(),
            state: None,
        }
    }

    /// Returns the values of its registry, or these for a tool of none.
    pub(in crate::tool) fn state_or(&self, other: &Arc<StateMap>) -> Arc<StateMap> {
        Arc::clone(self.state.as_ref().unwrap_or(other))
    }

    /// Returns the description for models and clients.
    #[must_use]
    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    /// Returns the time that a call may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the bytes of JSON that an output may have.
    #[must_use]
    pub fn max_output_bytes(&self) -> usize {
        self.output.max_bytes
    }

    /// Returns `true` if the tool summarises the arguments of its calls for people.
    #[must_use]
    pub fn has_summary(&self) -> bool {
        self.settings.summary.is_some()
    }

    /// Returns `true` if a call during which the server stopped is run again: the tool is
    /// [read-only](Tool::read_only) or [idempotent](Tool::idempotent).
    #[must_use]
    pub fn may_run_again(&self) -> bool {
        self.settings.may_run_again
    }

    /// Sets the source.
    pub(in crate::tool) fn of_source(mut self, source: Text) -> Self {
        self.source = Some(source);
        self
    }

    /// Returns the name of the [source](crate::tool::source) that offers the tool. `None` for a tool of the application.
    #[must_use]
    pub fn source(&self) -> Option<&Text> {
        self.source.as_ref()
    }

    /// Returns `true` if the tool is [read-only](Tool::read_only).
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.settings.is_read_only
    }

    /// Returns the [tags](Tool::tag).
    #[must_use]
    pub fn tags(&self) -> &[Text] {
        &self.settings.tags
    }

    /// Returns `true` if models are sent the tool without a search, however many there are.
    pub(in crate::tool) fn is_eager(&self) -> bool {
        self.settings.is_always_loaded || self.spec.side == ToolSide::FrontEnd
    }

    /// Returns the words by which a search finds the tool.
    pub(in crate::tool) fn search_text(&self) -> SearchText {
        let spec = &self.spec;
        let text = SearchText::new(&spec.name, &spec.description);
        let text = spec.title.iter().chain(&self.settings.tags).fold(text, |text, label| text.label(label));
        spec.examples.iter().fold(text, |text, example| text.text(&example.request))
    }

    /// Returns `true` if only some callers see the tool.
    pub(in crate::tool) fn is_conditional(&self) -> bool {
        self.settings.visibility.is_some()
    }

    pub(in crate::tool) fn is_visible_to(&self, caller: &RunContext) -> bool {
        self.settings.visibility.as_ref().is_none_or(|visibility| visibility.holds(&self.spec.name, caller))
    }

    pub(in crate::tool) fn output_limits(&self) -> OutputLimits {
        self.output
    }

    pub(super) fn max_unread_bytes(&self) -> usize {
        self.max_unread_bytes
    }

    /// Returns the component that the tool shows.
    pub(crate) fn component(&self) -> Option<&RegisteredComponent> {
        self.component.as_deref()
    }

    /// Returns the tools that the actions of a component call, by the name of the action.
    pub(crate) fn actions(&self) -> &BTreeMap<Text, Arc<Self>> {
        &self.actions
    }

    /// Returns the declaration of the component for TypeScript.
    pub(crate) fn declaration(&self) -> Option<ComponentDeclaration<'_>> {
        let actions = self.actions.iter();
        let actions = actions.map(|(name, tool)| ActionDeclaration::new(name, &tool.spec.input_schema));
        Some(self.component()?.declaration(&self.spec.name).actions(actions))
    }

    pub(in crate::tool) fn check_arguments(&self, arguments: &JsonText) -> Result<(), Text> {
        if self.component.is_some() {
            return self.check_props(&arguments.to_value()).map_err(Text::from);
        }
        self.check.check(&self.spec.input_schema, arguments)?;
        if self.is_form() { form::check_arguments(arguments, self.schema_limits) } else { Ok(()) }
    }

    pub(in crate::tool) fn check_output(&self, arguments: &JsonText, output: &JsonText) -> Result<(), Text> {
        if let Some(expected) = self.answer() {
            let faults = expected.faults(&output.to_value());
            return faults
                .map_or(Ok(()), |faults| Err(format!("The user's answer does not fit: {faults}").into()));
        }
        if self.is_form() { form::check_output(arguments, output, self.schema_limits) } else { Ok(()) }
    }

    /// Returns the schema of the user's answer to a component that waits for one.
    fn answer(&self) -> Option<&CheckedSchema> {
        self.component()?.output.as_ref()
    }

    /// Returns `true` if the user answers the call: in a form, or in a component.
    pub(crate) fn asks_user(&self) -> bool {
        self.settings.is_form || self.answer().is_some()
    }

    /// Returns `true` if the tool is no component, or if a client that shows none can be sent its text.
    pub(crate) fn has_text(&self) -> bool {
        self.component().is_none_or(|component| component.text.is_some())
    }

    /// Returns the faults of arguments, for people.
    pub(crate) fn check_value(&self, arguments: &Value) -> Option<String> {
        self.check.faults(&self.spec.input_schema, arguments)
    }

    /// Checks the props of a component. The error is for the model.
    pub(crate) fn check_props(&self, props: &Value) -> Result<(), String> {
        let faults = self.check_value(props);
        faults.map_or(Ok(()), |faults| Err(format!("Component props validation failed: {faults}")))
    }

    pub(in crate::tool) fn gate(&self, arguments: &JsonText, principal: &Principal) -> Gate {
        match &self.settings.approval {
            Some(approval) => {
                let gate = approval.gate(&self.spec.name, arguments, principal);
                label::complete(gate, &self.spec.name, self.label(Some(arguments)))
            }
            None if self.is_form() => form::gate(arguments),
            None => self.answer().map_or(Gate::Open, |answer| Gate::Form {
                message: None,
                schema: JsonText::from_value(&answer.schema),
            }),
        }
    }

    /// Returns the title, and the summary of these arguments.
    pub(in crate::tool) fn label(&self, arguments: Option<&JsonText>) -> CallLabel {
        let summary = self.settings.summary.as_ref().zip(arguments);
        CallLabel {
            title: self.spec.title.clone(),
            app: self.spec.app.clone(),
            summary: summary.and_then(|(summary, arguments)| summary.of(&self.spec.name, arguments)),
        }
    }

    pub(crate) fn is_form(&self) -> bool {
        self.settings.is_form
    }

    /// Calls the function, if the limits of the tool allow it. Without limits, the part of the function before its first
    /// await runs at once.
    pub(in crate::tool) fn call(&self, context: ToolContext) -> ToolFuture {
        let Some(call) = &self.settings.call else {
            return Box::pin(std::future::ready(Err(ToolError::internal(
                "a front-end tool has no function",
            ))));
        };
        if self.settings.rate_limits.is_empty() {
            return call(context);
        }
        let (call, limits) = (Arc::clone(call), self.settings.rate_limits.clone());
        Box::pin(async move {
            let attempt = Attempt::of_call(context.run(), context.tool_name(), context.arguments());
            throttle::check(&limits, &attempt).await.map_err(ToolError::throttled)?;
            call(context).await
        })
    }
}

impl fmt::Debug for RegisteredTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredTool")
            .field("spec", &self.spec)
            .field("timeout", &self.timeout)
            .field("output", &self.output)
            .finish_non_exhaustive()
    }
}
