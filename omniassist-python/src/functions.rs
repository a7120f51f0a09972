use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use omniassist_server::core::run::{Gate, ToolCatalog};
use omniassist_server::core::{JsonText, Limits, ToolSide, ToolSpec};
use omniassist_server::tool::{RegisteredTool, StateMap, ToolInvocation, ToolSnapshot, Tools};
use omniassist_server::{Error, Tool, ToolContext, ToolError};
use serde_json::{Map, Value};

use crate::reserved;
use crate::suspended::Suspended;

/// Host tools as functions of programs.
#[derive(Debug)]
pub(crate) struct Functions(Tools);

impl Functions {
    /// Checks the tools as those of an application are checked.
    pub(crate) fn new(tools: Vec<Tool>, state: StateMap, forks: &[&str]) -> Result<Self, Error> {
        let registry = Tools::new(state, Limits::default());
        for tool in tools {
            let wrong = if tool.side() == ToolSide::FrontEnd {
                Some("the client runs it, so a program cannot call it")
            } else if forks.contains(&tool.name()) {
                Some("programs have a function of this name already")
            } else {
                reserved::reason(tool.name())
            };
            if let Some(reason) = wrong {
                return Err(Error::invalid_tool(tool.name(), reason));
            }
            registry.register(tool)?;
        }
        Ok(Self(registry))
    }

    /// Adds the functions to the description of the tool.
    pub(crate) fn describe(&self, text: &mut String) {
        for spec in self.0.snapshot().specs().iter() {
            text.push_str(&format!("\n- {}({}): {}", spec.name, parameters(spec), spec.description));
        }
    }

    /// Returns the functions that the caller sees.
    pub(crate) fn of_call(&self, call: &ToolContext, calls: u32) -> CallFunctions {
        let visible = self.0.snapshot().visible_to(|| call.run().clone());
        let visible = visible.for_principal(call.run().principal().clone());
        CallFunctions { tools: self.0.clone(), visible, calls: AtomicU32::new(calls) }
    }
}

/// The functions of one program.
#[derive(Debug)]
pub(crate) struct CallFunctions {
    tools: Tools,
    visible: ToolSnapshot,
    calls: AtomicU32,
}

impl CallFunctions {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.visible.get(name).is_some()
    }

    /// Returns the number of calls so far.
    pub(crate) fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Calls a function. One that the user must approve does not run.
    pub(crate) async fn call(
        &self,
        call: &ToolContext,
        name: &str,
        positional: Vec<Value>,
        named: Map<String, Value>,
    ) -> Result<Value, ToolError> {
        let (tool, arguments) = self.checked(name, positional, named)?;
        match self.visible.gate(name, &arguments) {
            Gate::Open => {}
            Gate::Refused { reason } => return Err(ToolError::new(reason.to_string())),
            _ => return Err(ToolError::approval_needed()),
        }
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let id = format!("{}.{number}", call.call_id());
        let invocation = ToolInvocation::within(call, tool, id, arguments);
        Ok(self.tools.start(tool, invocation).outcome().await.result?.to()?)
    }

    /// Calls a function that the user must approve. The call waits with this state.
    pub(crate) async fn call_waiting(
        &self,
        call: &ToolContext,
        name: &str,
        positional: Vec<Value>,
        named: Map<String, Value>,
        state: &Suspended,
    ) -> Result<Value, ToolError> {
        let (tool, arguments) = self.checked(name, positional, named)?;
        call.call_registered_tool(tool, arguments.to_value(), state).await
    }

    /// Returns a function and the arguments of a call, which fit its schema.
    fn checked(
        &self,
        name: &str,
        positional: Vec<Value>,
        mut named: Map<String, Value>,
    ) -> Result<(&Arc<RegisteredTool>, JsonText), ToolError> {
        let Some(tool) = self.visible.get(name) else {
            return Err(ToolError::new(format!("There is no function {name}.")));
        };
        for value in positional {
            match only_property(tool.spec()) {
                Some(parameter) if !named.contains_key(parameter) => {
                    named.insert(parameter.to_owned(), value)
                }
                _ => {
                    let parameters = parameters(tool.spec());
                    let text = format!("Call it with keyword arguments: {name}({parameters}).");
                    return Err(ToolError::new(text));
                }
            };
        }
        let arguments = JsonText::parse(Value::Object(named).to_string())?;
        self.visible.check(name, &arguments).map_err(|reason| ToolError::new(reason.to_string()))?;
        Ok((tool, arguments))
    }
}

/// Returns the parameters of a function: `number: integer, limit: integer = default`. One whose name Python cannot write
/// before `=` is written as a dict: `**{"from": string}`.
fn parameters(spec: &ToolSpec) -> String {
    let required = spec.input_schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
    let parameters: Vec<_> = properties(spec)
        .map(|(name, schema)| {
            let kind = schema.get("type").and_then(Value::as_str).unwrap_or("any");
            let default = if is_required(name) { "" } else { " = default" };
            if reserved::is_name(name) {
                format!("{name}: {kind}{default}")
            } else {
                format!("**{{\"{name}\": {kind}{default}}}")
            }
        })
        .collect();
    parameters.join(", ")
}

/// Returns the property, if there is exactly one.
fn only_property(spec: &ToolSpec) -> Option<&str> {
    let mut properties = properties(spec);
    properties.next().filter(|_| properties.next().is_none()).map(|(name, _)| name.as_str())
}

fn properties(spec: &ToolSpec) -> impl Iterator<Item = (&String, &Value)> {
    spec.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}
