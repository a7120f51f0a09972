use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::message::body::Body;
use crate::message::raw::{self, ArraySeed, Raw, present, raw_item, raw_record};
use crate::{Error, Limits, Result, ToolSpec, check_tool_name};

raw_record! {
    /// The fields of a tool.
    ToolFields {
        name: "name",
        description: "description",
        parameters: "parameters",
    }
}

/// The front-end tools that a client declares for one run.
pub(super) fn declared(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>) -> Result<Vec<Arc<ToolSpec>>> {
    let Some(raw) = present(raw) else { return Ok(Vec::new()) };
    let limit = ("max_declared_tools", limits.max_declared_tools);
    let items = raw::read(raw.get(), ArraySeed { limit: limit.1, item: raw_item })?;
    let mut tools: Vec<Arc<ToolSpec>> = Vec::new();
    for (index, raw) in items.at("tools", "an array of tools", limit)?.into_iter().enumerate() {
        let path = format!("tools[{index}]");
        let fields: ToolFields<'_> = raw::object(raw)?.object_at(&path, "an object")?;
        let spec = spec(body, &fields).map_err(|error| error.under(&path))?;
        match tools.iter().find(|tool| tool.name == spec.name) {
            Some(tool) if **tool == spec => {}
            Some(_) => return Err(Error::invalid_tool(path, "another tool has this name")),
            None => tools.push(Arc::new(spec)),
        }
    }
    Ok(tools)
}

fn spec(body: Body<'_>, fields: &ToolFields<'_>) -> Result<ToolSpec> {
    let name = body.text(fields.name, "name")?;
    check_tool_name(&name).map_err(|error| Error::invalid_tool("name", error.to_string()))?;
    let description = body.optional_text(fields.description, "description")?.unwrap_or_default();
    let mut schema = body.optional_object(fields.parameters, "parameters")?.unwrap_or_default();
    if !is_object(&mut schema) {
        return Err(Error::invalid_tool("parameters", "a tool's schema is a JSON Schema of type \"object\""));
    }
    Ok(ToolSpec::new(name, description, schema.into()).front_end())
}

/// Adds what clients leave out of the schema of a tool that takes nothing, and says whether it is one of an object.
fn is_object(schema: &mut Map<String, Value>) -> bool {
    schema.entry("type").or_insert_with(|| "object".into());
    schema.entry("properties").or_insert_with(|| json!({}));
    schema.get("type").is_some_and(|kind| kind == "object")
}
