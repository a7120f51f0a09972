use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use omniassist_core::run::{CallLabel, Gate};
use omniassist_core::{
    JsonText, Limits, Text, ToolSide, ToolSpec, check_tool_name, is_inherited_in_javascript,
};

use super::definition::Call;
use super::label::{self, Summary};
use super::schema::{self, ArgumentCheck};
use super::state::StateMap;
use super::{Approval, Tool, ToolContext, ToolError, ToolFuture, form};
use crate::{Error, Principal};

/// A tool that has passed its checks, as a [`ToolSnapshot`](super::ToolSnapshot) holds it.
pub struct RegisteredTool {
    spec: Arc<ToolSpec>,
    call: Option<Call>,
    check: ArgumentCheck,
    timeout: Duration,
    max_output_bytes: usize,
    approval: Option<Approval>,
    summary: Option<Summary>,
}

/// Why no tool is called `constructor`.
pub(super) const INHERITED: &str = "every object in JavaScript has something of this name already";

impl RegisteredTool {
    pub(super) fn check(tool: Tool, state: &StateMap, limits: &Limits) -> Result<Self, Error> {
        let Tool { mut spec, call, timeout, max_output_bytes, approval, summary, state: needs, arguments } =
            tool;
        let name = spec.name.clone();
        let refuse = |reason: Cow<'static, str>| Error::invalid_tool(name.clone(), reason);

        check_tool_name(&spec.name).map_err(|error| refuse(error.to_string().into()))?;
        if is_inherited_in_javascript(&spec.name) {
            return Err(refuse(INHERITED.into()));
        }
        if spec.description.trim().is_empty() {
            return Err(refuse("it has no description; a model needs one to know when to call it".into()));
        }
        if arguments.len() > 1 {
            let types = arguments.join("`, `");
            return Err(refuse(
                format!(
                    "its function takes more than one `Args` (`{types}`); put the fields into one struct"
                )
                .into(),
            ));
        }
        if approval.is_some() && call.is_none() {
            return Err(refuse("the client runs it, so the client asks for approval".into()));
        }
        if spec.name == form::REQUEST_INPUT && call.is_some() {
            return Err(refuse("this is the name of the built-in form, which the client shows".into()));
        }
        if let Some(need) = needs.iter().find(|need| !state.contains(need)) {
            let type_name = need.type_name;
            return Err(refuse(
                format!("it takes `State<{type_name}>`, and there is none; give it with `.state(value)`")
                    .into(),
            ));
        }

        schema::normalise(&mut spec.input_schema);
        let findings = schema::lint(&spec.input_schema).map_err(|reason| refuse(reason.into()))?;
        if findings.recursive {
            tracing::warn!(tool = %name, "its schema refers to itself; not every provider takes that");
        }
        let check = ArgumentCheck::new(&spec.input_schema).map_err(|reason| refuse(reason.into()))?;
        for (index, example) in spec.examples.iter().enumerate() {
            check
                .check_value(&spec.input_schema, &example.arguments)
                .map_err(|reason| refuse(format!("example {}: {reason}", index + 1).into()))?;
        }
        Ok(Self {
            spec: Arc::new(spec),
            call,
            check,
            timeout: timeout.unwrap_or(limits.tool_timeout),
            max_output_bytes: max_output_bytes.unwrap_or(limits.max_tool_output_bytes),
            approval,
            summary,
        })
    }

    /// A front-end tool of a client's own.
    pub(super) fn declared(spec: &Arc<ToolSpec>) -> Result<Self, String> {
        let mut schema = spec.input_schema.clone();
        schema::normalise(&mut schema);
        schema::lint(&schema)?;
        // The client says what it can do, and never that the server should do it.
        let spec = if schema == spec.input_schema && spec.side == ToolSide::FrontEnd {
            Arc::clone(spec)
        } else {
            let mut spec = ToolSpec::clone(spec).front_end();
            spec.input_schema = schema;
            Arc::new(spec)
        };
        let Limits { tool_timeout: timeout, max_tool_output_bytes: max_output_bytes, .. } = Limits::default();
        let check = ArgumentCheck::lazy();
        let (approval, summary) = (None, None);
        Ok(Self { spec, call: None, check, timeout, max_output_bytes, approval, summary })
    }

    /// What models and clients are told of it.
    #[must_use]
    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    /// How long a call may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Bytes of JSON that a call may give.
    #[must_use]
    pub fn max_output_bytes(&self) -> usize {
        self.max_output_bytes
    }

    pub(super) fn check_arguments(&self, arguments: &JsonText) -> Result<(), Text> {
        self.check.check(&self.spec.input_schema, arguments)?;
        if self.is_form() { form::check_arguments(arguments) } else { Ok(()) }
    }

    pub(super) fn check_output(&self, arguments: &JsonText, output: &JsonText) -> Result<(), Text> {
        if self.is_form() { form::check_output(arguments, output) } else { Ok(()) }
    }

    pub(super) fn gate(&self, arguments: &JsonText, principal: &Principal) -> Gate {
        match &self.approval {
            Some(approval) => {
                let gate = approval.gate(&self.spec.name, arguments, principal);
                label::complete(gate, &self.spec.name, self.label(Some(arguments)))
            }
            None if self.is_form() => form::gate(arguments),
            None => Gate::Open,
        }
    }

    /// Returns the title, and the summary of these arguments.
    pub(super) fn label(&self, arguments: Option<&JsonText>) -> CallLabel {
        let summary = self.summary.as_ref().zip(arguments);
        CallLabel {
            title: self.spec.title.clone(),
            summary: summary.and_then(|(summary, arguments)| summary.of(&self.spec.name, arguments)),
        }
    }

    /// Whether it is the built-in form.
    pub(super) fn is_form(&self) -> bool {
        self.call.is_none() && self.spec.name == form::REQUEST_INPUT
    }

    /// Calls the function. The part before its first await runs at once.
    pub(super) fn call(&self, context: ToolContext) -> ToolFuture {
        match &self.call {
            Some(call) => call(context),
            None => {
                Box::pin(std::future::ready(Err(ToolError::internal("a front-end tool has no function"))))
            }
        }
    }
}

impl fmt::Debug for RegisteredTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredTool")
            .field("spec", &self.spec)
            .field("timeout", &self.timeout)
            .field("max_output_bytes", &self.max_output_bytes)
            .finish_non_exhaustive()
    }
}
