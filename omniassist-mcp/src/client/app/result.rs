use omniassist_server::tool::{ToolContext, ToolError};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client::McpError;
use crate::client::config::Config;
use crate::client::definition::Definition;
use crate::client::output;

/// The kind of an AG-UI activity that shows an app.
const ACTIVITY: &str = "mcp-apps";

/// The name of the data with which a client of the AI SDK shows an app.
const DATA: &str = "mcp-app";

/// Returns the result of a call by an app, which is that of its own server.
pub(in crate::client) fn result_for_app(
    config: &Config,
    tool: &Definition,
    result: CallToolResult,
) -> Result<Value, ToolError> {
    if result.is_error == Some(true) {
        return Err(ToolError::new(output::text_of(&result.content, config.max_output_bytes)));
    }
    let unusable =
        |source: McpError| ToolError::new("The server's answer cannot be used.").with_source(source);
    tool.check_output(result.structured_content.as_ref())
        .map_err(|_| unusable(McpError::answer("the output does not fit the tool's output schema")))?;
    let result = serde_json::to_value(result).map_err(ToolError::internal)?;
    match result.to_string().len() <= config.max_output_bytes {
        true => Ok(result),
        false => {
            let text = format!("The server's answer is longer than {} bytes.", config.max_output_bytes);
            Err(ToolError::new(text))
        }
    }
}

/// Sends the client the result of a call that an app shows. The model does not see it.
pub(in crate::client) fn show(
    config: &Config,
    tool: &Definition,
    result: &CallToolResult,
    call: &ToolContext,
) {
    let Some(uri) = &tool.app.resource_uri else { return };
    let (server, id) = (&config.name, call.call_id());
    call.data(DATA, Some(id), json!({ "server": server, "resourceUri": uri, "result": result }));
    let hash: String = Sha256::digest(server.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let activity = json!({
        "result": result,
        "resourceUri": uri,
        "serverHash": hash,
        "serverId": server,
        "toolInput": call.arguments().to_value(),
    });
    call.activity(id, ACTIVITY, activity);
}
