//! The runs of calls that tools make in the name of their own: a script with one call takes the place of the model.

use std::any::Any;
use std::sync::Arc;

use omniassist_core::RunRequest;
use omniassist_core::verify::{self, Poster, TrustHistory};

use crate::RunContext;
use crate::engine::Assistant;
use crate::engine::history::Carried;
use crate::engine::run::{Script, prepare_scripted};
use crate::engine::tree::{AgentQuestion, Branch, Origin, Suspended, Work};
use crate::tool::{InnerCall, InnerTool, RegisteredTool, Tool, ToolError, ToolSnapshot};

/// Begins the run of an inner call, or goes on with one that waited for the user.
pub(in crate::engine) fn begin(
    assistant: &Assistant,
    asked: AgentQuestion<'_>,
    call: &InnerCall,
    parent: &RunContext,
    branch: Branch,
) -> Result<Box<dyn Work>, ToolError> {
    let agent = parent.agent().and_then(|name| assistant.member(name)).unwrap_or_else(|| assistant.clone());
    let tool = match &call.tool {
        InnerTool::Form => form(&agent)?,
        InnerTool::Given(tool) => given(&agent, tool)?,
    };
    let name = tool.spec().name.clone();
    let mut request = RunRequest::prompt(name.clone());
    request.chat_id = parent.chat_id().cloned();
    request.abilities = asked.abilities;
    // The tool finds what it finds in a call of the model.
    request.context = parent.client_context().to_vec();
    (request.forwarded, request.extra) = (parent.forwarded().cloned(), parent.body_fields().clone());
    let script = match asked.suspended {
        Some(_) => Script::after_call(),
        None => Script::call(asked.asked_by.clone(), name, call.arguments.clone()),
    };
    let unaccepted = asked.suspended.map(|Suspended { message, unaccepted, .. }| {
        request.messages.push(message);
        unaccepted
    });
    let tools = ToolSnapshot::of_one(tool, agent.limits().clone());
    let tools = tools.for_principal(parent.principal().clone());
    verify::history(&mut request, Poster::anonymous(0), &tools, &TrustHistory)
        .map_err(ToolError::internal)?;
    request.unaccepted = unaccepted.unwrap_or_default();
    let (mut driver, _, _) = agent.driver(
        request,
        parent.extensions().clone(),
        tools,
        prepare_scripted,
        Carried::default(),
        Origin::asked(asked.id, parent, branch),
    );
    driver.follow(script);
    if let Some(journal) = asked.journal {
        driver.store_asked(journal);
    }
    if let Some(sealer) = asked.sealer {
        driver.seal_as(sealer);
    }
    driver.start_inner();
    Ok(Box::new(driver))
}

/// Returns the form that the assistant has registered, under the name that its page expects, or else the built-in one.
fn form(agent: &Assistant) -> Result<Arc<RegisteredTool>, ToolError> {
    let tools = agent.tools().snapshot();
    match tools.form() {
        Some(form) => Ok(Arc::clone(form)),
        None => checked(agent, Tool::request_input()),
    }
}

fn given(agent: &Assistant, tool: &Arc<dyn Any + Send + Sync>) -> Result<Arc<RegisteredTool>, ToolError> {
    match Arc::clone(tool).downcast::<RegisteredTool>() {
        Ok(tool) => Ok(tool),
        Err(tool) => match tool.downcast_ref::<Tool>() {
            Some(tool) => checked(agent, tool.clone()),
            None => Err(ToolError::internal("an inner call has no tool")),
        },
    }
}

fn checked(agent: &Assistant, tool: Tool) -> Result<Arc<RegisteredTool>, ToolError> {
    agent.tools().check(tool).map(Arc::new).map_err(ToolError::internal)
}
