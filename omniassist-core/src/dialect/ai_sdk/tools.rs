use std::sync::Arc;

use serde::de::MapAccess;
use serde_json::{Value, json};

use crate::message::body::Body;
use crate::message::raw::{self, ArraySeed, ObjectSeed, Raw, Record, present, raw_item, raw_record};
use crate::{Error, Limits, Result, Text, ToolSpec, check_tool_name};

raw_record! {
    /// The fields of a declared tool.
    ToolFields {
        name: "name",
        description: "description",
        input_schema: "inputSchema",
        parameters: "parameters",
        function: "function",
    }
}

/// The tools that a client declares for one run.
pub(super) fn declared(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>) -> Result<Vec<Arc<ToolSpec>>> {
    let Some(raw) = present(raw) else { return Ok(Vec::new()) };
    let mut tools: Vec<Arc<ToolSpec>> = Vec::new();
    for (path, name, raw) in listed(limits, raw)? {
        let fields: ToolFields<'_> = raw::object(raw)?.object_at(&path, "an object")?;
        let (path, fields) = match present(fields.function) {
            Some(function) => {
                let path = format!("{path}.function");
                let fields = raw::object(function)?.object_at(&path, "an object")?;
                (path, fields)
            }
            None => (path, fields),
        };
        let spec = spec(body, name, &fields).map_err(|error| error.under(&path))?;
        match tools.iter().find(|tool| tool.name == spec.name) {
            Some(tool) if **tool == spec => {}
            Some(_) => return Err(Error::invalid_tool(path, "another tool has this name")),
            None => tools.push(Arc::new(spec)),
        }
    }
    Ok(tools)
}

/// The declarations with their paths, and with their names where they are listed by name.
fn listed<'a>(limits: &Limits, raw: Raw<'a>) -> Result<Vec<(String, Option<String>, Raw<'a>)>> {
    let limit = ("max_declared_tools", limits.max_declared_tools);
    if raw::kind(raw) == "an object" {
        let by_name = ByName { tools: Vec::new(), limit: limit.1, too_many: false };
        let by_name = raw::read(raw.get(), ObjectSeed(by_name))?.object_at("tools", "an object")?;
        if by_name.too_many {
            return Err(Error::limit_exceeded(limit.0, limit.1, "tools".to_owned()));
        }
        let item = |(index, (name, raw)): (usize, (String, Raw<'a>))| {
            // A name that is not fit to be one is not fit to stand in a path either.
            let path = match check_tool_name(&name) {
                Ok(()) => format!("tools.{name}"),
                Err(_) => format!("tools[{index}]"),
            };
            (path, Some(name), raw)
        };
        return Ok(by_name.tools.into_iter().enumerate().map(item).collect());
    }
    let tools = raw::read(raw.get(), ArraySeed { limit: limit.1, item: raw_item })?;
    let tools = tools.at("tools", "an array of tools, or an object of tools by name", limit)?;
    Ok(tools.into_iter().enumerate().map(|(index, raw)| (format!("tools[{index}]"), None, raw)).collect())
}

struct ByName<'a> {
    tools: Vec<(String, Raw<'a>)>,
    limit: usize,
    too_many: bool,
}

impl<'a> Record<'a> for ByName<'a> {
    fn set<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if self.tools.iter().any(|(name, _)| name == key) {
            return Ok(false);
        }
        let raw = map.next_value()?;
        if self.tools.len() < self.limit {
            self.tools.push((key.to_owned(), raw));
        } else {
            self.too_many = true;
        }
        Ok(true)
    }
}

fn spec(body: Body<'_>, name: Option<String>, fields: &ToolFields<'_>) -> Result<ToolSpec> {
    let name = match name {
        Some(name) => Text::from(name),
        None => body.text(fields.name, "name")?,
    };
    check_tool_name(&name).map_err(|error| Error::invalid_tool("name", error.to_string()))?;
    let description = body.optional_text(fields.description, "description")?.unwrap_or_default();
    let (key, schema) = match present(fields.input_schema) {
        Some(raw) => ("inputSchema", Some(raw)),
        None => ("parameters", present(fields.parameters)),
    };
    let schema = match schema {
        Some(raw) => body.tree(raw, key)?,
        None => json!({"type": "object", "properties": {}}),
    };
    if schema.get("type") != Some(&Value::from("object")) {
        return Err(Error::invalid_tool(key, "a tool's schema is a JSON Schema of type \"object\""));
    }
    Ok(ToolSpec::new(name, description, schema).front_end())
}
