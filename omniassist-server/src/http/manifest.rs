use omniassist_core::ToolSide;
use serde_json::{Value, json};

use super::copilotkit;
use crate::Assistant;

/// What `GET /manifest.json` says: the tools with their schemas, and the dialects with their routes.
pub(super) fn manifest(assistant: &Assistant) -> Value {
    let tools: Vec<Value> = assistant
        .tools()
        .snapshot()
        .specs()
        .iter()
        .map(|spec| {
            let mut tool = json!({
                "name": spec.name,
                "description": spec.description,
                "side": match spec.side {
                    ToolSide::Server => "server",
                    ToolSide::FrontEnd => "front-end",
                },
                "inputSchema": spec.input_schema,
            });
            if let (Some(title), Some(tool)) = (&spec.title, tool.as_object_mut()) {
                tool.insert("title".to_owned(), title.as_str().into());
            }
            tool
        })
        .collect();
    let (provider, model) = assistant.model();
    json!({
        "name": "omniassist",
        "version": env!("CARGO_PKG_VERSION"),
        "provider": provider,
        "model": model,
        "tools": tools,
        "dialects": [
            {
                "name": "ai-sdk-ui-message-stream",
                "version": "v1",
                "method": "POST",
                "path": "/",
                "contentTypes": ["text/event-stream", "application/x-ndjson"],
            },
            {
                "name": "ai-sdk-text-stream",
                "version": "v1",
                "method": "POST",
                "path": "/?protocol=text",
                "contentTypes": ["text/plain"],
            },
            {
                "name": "ai-sdk-completion",
                "version": "v1",
                "method": "POST",
                "path": "/completion",
                "contentTypes": ["text/event-stream", "application/x-ndjson", "text/plain"],
            },
            {
                "name": "ai-sdk-object",
                "version": "v1",
                "method": "POST",
                "path": "/object/{name}",
                "contentTypes": ["text/plain"],
                "objects": objects(assistant),
            },
            {
                "name": "ag-ui",
                "version": "1.0",
                "method": "POST",
                "path": "/ag-ui",
                "contentTypes": ["text/event-stream"],
            },
            {
                "name": "copilotkit",
                "version": copilotkit::VERSION,
                "method": "POST",
                "path": "/copilotkit",
                "contentTypes": ["text/event-stream"],
            },
            {
                "name": "openai-chat-completions",
                "version": "v1",
                "method": "POST",
                "path": "/v1/chat/completions",
                "contentTypes": ["text/event-stream", "application/json"],
                "model": assistant.openai_endpoint().model_name(),
            },
        ],
    })
}

fn objects(assistant: &Assistant) -> Vec<Value> {
    let objects = assistant.objects().iter();
    objects.map(|object| json!({ "name": object.name(), "schema": object.schema() })).collect()
}
