use std::sync::Arc;

use serde_json::{Value, json};

use crate::message::body::Body;
use crate::message::raw::{self, ArraySeed, Raw, present, raw_item, raw_record};
use crate::run::ToolUse;
use crate::{Error, Limits, Result, Text, ToolChoice, ToolSpec, check_tool_name};

raw_record! {
    /// The fields of an element of `tools`, and of the objects that `tool_choice` may be.
    ToolFields {
        kind: "type",
        function: "function",
        allowed_tools: "allowed_tools",
    }
}

raw_record! {
    /// The fields of a function. Whether it is `strict` follows from the schema.
    FunctionFields {
        name: "name",
        description: "description",
        parameters: "parameters",
    }
}

raw_record! {
    /// The fields of `tool_choice.allowed_tools`.
    AllowedFields {
        mode: "mode",
        tools: "tools",
    }
}

const CHOICES: &str =
    "\"none\", \"auto\", \"required\", or an object of type \"function\" or \"allowed_tools\"";

/// The tools that the caller runs.
#[derive(Default)]
pub(super) struct CallerTools {
    /// Those that the model is offered.
    pub(super) offered: Vec<Arc<ToolSpec>>,
    /// Names of those that it is not.
    pub(super) not_offered: Vec<Text>,
    pub(super) tool_use: ToolUse,
}

pub(super) fn read(
    body: Body<'_>,
    limits: &Limits,
    tools: Option<Raw<'_>>,
    choice: Option<Raw<'_>>,
) -> Result<CallerTools> {
    let mut caller = CallerTools {
        offered: declared(body, limits, tools)?,
        not_offered: Vec::new(),
        tool_use: ToolUse::default(),
    };
    let Some(choice) = present(choice) else { return Ok(caller) };
    if raw::kind(choice) == "a string" {
        match body.text(Some(choice), "tool_choice")?.as_str() {
            "auto" => {}
            "none" => caller.keep(|_| false),
            "required" => caller.require(ToolChoice::Required)?,
            _ => return Err(Error::invalid_field("tool_choice", CHOICES, "another string")),
        }
        return Ok(caller);
    }
    let fields: ToolFields<'_> = raw::object(choice)?.object_at("tool_choice", CHOICES)?;
    chosen(body, limits, &fields, &mut caller).map_err(|error| error.under("tool_choice"))?;
    Ok(caller)
}

impl CallerTools {
    fn keep(&mut self, keep: impl Fn(&Text) -> bool) {
        let (kept, gone) = std::mem::take(&mut self.offered).into_iter().partition(|tool| keep(&tool.name));
        self.offered = kept;
        self.not_offered = gone.into_iter().map(|tool: Arc<ToolSpec>| tool.name.clone()).collect();
    }

    /// Only a call of the caller's tools can be required of the answer: what the server's tools do is not in it.
    fn require(&mut self, choice: ToolChoice) -> Result<()> {
        if self.offered.is_empty() {
            return Err(Error::invalid_field("tool_choice", "`tools` to choose from", "none"));
        }
        self.tool_use = ToolUse::without_server_tools();
        self.tool_use.choice = choice;
        Ok(())
    }
}

fn chosen(body: Body<'_>, limits: &Limits, fields: &ToolFields<'_>, caller: &mut CallerTools) -> Result<()> {
    match body.text(fields.kind, "type")?.as_str() {
        "function" => {
            let name = known_name(body, fields.function, caller)?;
            caller.require(ToolChoice::Tool(name))
        }
        "allowed_tools" => {
            let Some(raw) = fields.allowed_tools else {
                return Err(Error::invalid_field("allowed_tools", "an object", "nothing"));
            };
            let fields: AllowedFields<'_> = raw::object(raw)?.object_at("allowed_tools", "an object")?;
            allowed(body, limits, &fields, caller).map_err(|error| error.under("allowed_tools"))
        }
        _ => Err(Error::invalid_field("type", "\"function\" or \"allowed_tools\"", "another string")),
    }
}

fn known_name(body: Body<'_>, function: Option<Raw<'_>>, caller: &CallerTools) -> Result<Text> {
    let name = match function {
        Some(raw) => {
            let fields: FunctionFields<'_> = raw::object(raw)?.object_at("function", "an object")?;
            body.text(fields.name, "name").map_err(|error| error.under("function"))?
        }
        None => return Err(Error::invalid_field("function", "an object", "nothing")),
    };
    if caller.offered.iter().any(|tool| tool.name == name) {
        return Ok(name);
    }
    Err(Error::invalid_field("function.name", "the name of one of `tools`", "another string"))
}

fn allowed(
    body: Body<'_>,
    limits: &Limits,
    fields: &AllowedFields<'_>,
    caller: &mut CallerTools,
) -> Result<()> {
    let required = match body.text(fields.mode, "mode")?.as_str() {
        "auto" => false,
        "required" => true,
        _ => return Err(Error::invalid_field("mode", "\"auto\" or \"required\"", "another string")),
    };
    let Some(raw) = fields.tools else {
        return Err(Error::invalid_field("tools", "an array of tools", "nothing"));
    };
    let limit = ("max_declared_tools", limits.max_declared_tools);
    let items = raw::read(raw.get(), ArraySeed { limit: limit.1, item: raw_item })?;
    let mut names = Vec::new();
    for (index, raw) in items.at("tools", "an array of tools", limit)?.into_iter().enumerate() {
        let path = format!("tools[{index}]");
        let fields: ToolFields<'_> = raw::object(raw)?.object_at(&path, "an object")?;
        names.push(known_name(body, fields.function, caller).map_err(|error| error.under(&path))?);
    }
    caller.keep(|name| names.contains(name));
    if required { caller.require(ToolChoice::Required) } else { Ok(()) }
}

/// The tools that a caller declares for one run.
fn declared(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>) -> Result<Vec<Arc<ToolSpec>>> {
    let Some(raw) = present(raw) else { return Ok(Vec::new()) };
    let limit = ("max_declared_tools", limits.max_declared_tools);
    let items = raw::read(raw.get(), ArraySeed { limit: limit.1, item: raw_item })?;
    let mut tools: Vec<Arc<ToolSpec>> = Vec::new();
    for (index, raw) in items.at("tools", "an array of tools", limit)?.into_iter().enumerate() {
        let path = format!("tools[{index}]");
        let fields: ToolFields<'_> = raw::object(raw)?.object_at(&path, "an object")?;
        let spec = tool(body, &fields).map_err(|error| error.under(&path))?;
        match tools.iter().find(|tool| tool.name == spec.name) {
            Some(tool) if **tool == spec => {}
            Some(_) => return Err(Error::invalid_tool(path, "another tool has this name")),
            None => tools.push(Arc::new(spec)),
        }
    }
    Ok(tools)
}

fn tool(body: Body<'_>, fields: &ToolFields<'_>) -> Result<ToolSpec> {
    if body.text(fields.kind, "type")?.as_str() != "function" {
        return Err(Error::invalid_field("type", "\"function\": no other kind is offered", "another string"));
    }
    let Some(raw) = fields.function else {
        return Err(Error::invalid_field("function", "an object", "nothing"));
    };
    let fields: FunctionFields<'_> = raw::object(raw)?.object_at("function", "an object")?;
    function(body, &fields).map_err(|error| error.under("function"))
}

fn function(body: Body<'_>, fields: &FunctionFields<'_>) -> Result<ToolSpec> {
    let name = body.text(fields.name, "name")?;
    check_tool_name(&name).map_err(|error| Error::invalid_tool("name", error.to_string()))?;
    let description = body.optional_text(fields.description, "description")?.unwrap_or_default();
    let schema = match present(fields.parameters) {
        Some(raw) => body.tree(raw, "parameters")?,
        None => json!({"type": "object", "properties": {}}),
    };
    if schema.get("type") != Some(&Value::from("object")) {
        let reason = "a tool's schema is a JSON Schema of type \"object\"";
        return Err(Error::invalid_tool("parameters", reason));
    }
    Ok(ToolSpec::new(name, description, schema).front_end())
}
