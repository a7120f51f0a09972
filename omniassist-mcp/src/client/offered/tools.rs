use std::sync::Arc;

use omniassist_server::tool::source::AppCall;
use omniassist_server::tool::{Approval, Tool, ToolContext, ToolError};
use rmcp::model::ContentBlock;
use serde_json::{Value, json};

use super::reading::{list_resources, read_resource};
use crate::client::config::Config;
use crate::client::pool::Pool;
use crate::client::{McpError, cleaned, output};

/// The names of the tools, without the prefix of the server.
const LIST: &str = "list_resources";
const READ: &str = "read_resource";

/// Returns the tools with which a model reads the resources of a server.
pub(in crate::client) fn tools(config: &Arc<Config>, pool: &Arc<Pool>) -> [Tool; 2] {
    [(LIST, list(config, pool)), (READ, read(config, pool))]
        .map(|(name, tool)| limited(name, tool, config, pool))
}

/// Sets what holds for the other tools of the server too. Apps read resources by a route of their own. Resources are read only,
/// if the server is trusted in that.
fn limited(name: &str, mut tool: Tool, config: &Config, pool: &Arc<Pool>) -> Tool {
    let (of_caller, server) = (Arc::clone(pool), config.name.clone());
    tool = tool.timeout(config.tool_timeout()).visible_to(move |run| {
        let is_listed = !of_caller.is_per_principal() || of_caller.is_listed(run.principal());
        is_listed && !AppCall::is_of(run, &server)
    });
    if config.approval.is_needed(config.trusts_annotations) {
        let question = format!("Run `{name}` of the server `{}`?", config.name);
        tool = tool.requires_approval(Approval::always().message(question));
    }
    tool
}

fn list(config: &Arc<Config>, pool: &Arc<Pool>) -> Tool {
    let description =
        format!("Lists the resources of the server `{}`, whose content {READ} returns.", config.name);
    let (config, pool) = (Arc::clone(config), Arc::clone(pool));
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    Tool::from_fn_with_schema(LIST, description, schema, move |_: Value, call: ToolContext| {
        let (config, pool) = (Arc::clone(&config), Arc::clone(&pool));
        async move {
            let found = list_resources(&pool, call.run().principal()).await;
            let found = found.map_err(|error| failed(&config, error))?;
            let lines = found.into_iter().map(|resource| {
                let uri = cleaned::description(&resource.uri);
                let description = resource.description.unwrap_or_default();
                let template = if resource.is_template { " (template)" } else { "" };
                format!("{uri}{template}: {}. {description}", resource.name)
            });
            let text = output::cut(lines.collect::<Vec<_>>().join("\n"), config.max_output_bytes);
            Ok::<_, ToolError>(output::data(&config.name, &text))
        }
    })
}

fn read(config: &Arc<Config>, pool: &Arc<Pool>) -> Tool {
    let description = format!("Reads a resource of the server `{}`.", config.name);
    let (config, pool) = (Arc::clone(config), Arc::clone(pool));
    let uri = json!({ "type": "string", "description": "A URI from the list, or one that fits a template." });
    let schema = json!({
        "type": "object", "properties": { "uri": uri }, "required": ["uri"], "additionalProperties": false
    });
    Tool::from_fn_with_schema(READ, description, schema, move |arguments: Value, call: ToolContext| {
        let (config, pool) = (Arc::clone(&config), Arc::clone(&pool));
        async move {
            let uri = arguments.get("uri").and_then(Value::as_str).unwrap_or_default();
            let contents = read_resource(&pool, &config, call.run().principal(), uri).await;
            let contents = contents.map_err(|error| failed(&config, error))?;
            let blocks: Vec<_> = contents.into_iter().map(ContentBlock::resource).collect();
            let text = output::text_of(&blocks, config.max_output_bytes);
            Ok::<_, ToolError>(output::data(&config.name, &text))
        }
    })
}

/// Returns the error for the model: that of the server, or one that tells nothing of it.
fn failed(config: &Config, error: McpError) -> ToolError {
    let refused = error.refusal().map(|refusal| cleaned::description(&refusal.message));
    let shown = match refused {
        Some(text) => output::error(&config.name, &text),
        None => ToolError::new("The server could not be asked."),
    };
    shown.with_source(error)
}
