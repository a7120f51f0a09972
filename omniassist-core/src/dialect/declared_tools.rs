//! Front-end tools that a client declares for one run.

use std::sync::Arc;

use serde_json::{Value, json};

use super::posted;
use crate::message::body::Body;
use crate::message::raw::{self, Raw, Reader, Record, present, raw_record};
use crate::{Error, Limits, Result, Text, ToolSpec, check_tool_name};

raw_record! {
    /// The fields of a declared tool.
    ToolFields {
        kind: "type",
        name: "name",
        description: "description",
        input_schema: "inputSchema",
        parameters: "parameters",
        function: "function",
    }
}

/// The form in which a format declares tools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolForm {
    /// A list of `{name, description, parameters}`. The schema may omit `"type": "object"`.
    Plain,
    /// A list of `{type: "function", function: {name, description, parameters}}`.
    Function,
    /// A list of either form, with `inputSchema` as another name of `parameters`, or an object that maps names to
    /// tools.
    Any,
}

/// Reads the tools that a client declares. Identical declarations of one tool are accepted.
pub(super) fn read(
    body: Body<'_>,
    limits: &Limits,
    raw: Option<Raw<'_>>,
    form: ToolForm,
) -> Result<Vec<Arc<ToolSpec>>> {
    let limit = ("max_declared_tools", limits.max_declared_tools);
    let read = |path: String, name, fields| Ok((path, form.spec(body, name, &fields)?));
    let specs = match raw.filter(|raw| form == ToolForm::Any && raw::kind(*raw) == "an object") {
        Some(raw) => by_name(raw, limit)?
            .into_iter()
            .enumerate()
            .map(|(index, (name, raw))| {
                // An invalid name must not appear in the path of an error either.
                let path = match check_tool_name(&name) {
                    Ok(()) => format!("tools.{name}"),
                    Err(_) => format!("tools[{index}]"),
                };
                posted::object(Some(raw), &path, |fields| read(path.clone(), Some(name.into()), fields))
            })
            .collect::<Result<_>>()?,
        None => {
            let expected = match form {
                ToolForm::Any => "an array of tools, or an object of tools by name",
                _ => "an array of tools",
            };
            posted::objects(raw, "tools", expected, limit, |index, _, fields| {
                read(format!("tools[{index}]"), None, fields)
            })?
        }
    };
    let mut tools: Vec<Arc<ToolSpec>> = Vec::new();
    for (path, spec) in specs {
        match tools.iter().find(|tool| tool.name == spec.name) {
            Some(tool) if **tool == spec => {}
            Some(_) => return Err(Error::invalid_tool(path, "another tool has this name")),
            None => tools.push(Arc::new(spec)),
        }
    }
    Ok(tools)
}

impl ToolForm {
    fn spec(self, body: Body<'_>, name: Option<Text>, fields: &ToolFields<'_>) -> Result<ToolSpec> {
        if self == Self::Function && body.text(fields.kind, "type")? != "function" {
            let expected = "\"function\": no other type is supported";
            return Err(Error::invalid_field("type", expected, "another string"));
        }
        if self == Self::Function || (self == Self::Any && present(fields.function).is_some()) {
            return posted::object(fields.function, "function", |fields| self.function(body, name, &fields));
        }
        self.function(body, name, fields)
    }

    fn function(self, body: Body<'_>, name: Option<Text>, fields: &ToolFields<'_>) -> Result<ToolSpec> {
        let name = name.map_or_else(|| body.text(fields.name, "name"), Ok)?;
        check_tool_name(&name).map_err(|error| Error::invalid_tool("name", error.to_string()))?;
        let description = body.optional_text(fields.description, "description")?.unwrap_or_default();
        let (key, schema) = match present(fields.input_schema).filter(|_| self == Self::Any) {
            Some(raw) => ("inputSchema", Some(raw)),
            None => ("parameters", present(fields.parameters)),
        };
        let mut schema = match schema {
            Some(raw) => body.tree(raw, key)?,
            None => json!({"type": "object", "properties": {}}),
        };
        if let Some(schema) = schema.as_object_mut().filter(|_| self == Self::Plain) {
            schema.entry("type").or_insert_with(|| "object".into());
            schema.entry("properties").or_insert_with(|| json!({}));
        }
        if schema.get("type") != Some(&Value::from("object")) {
            return Err(Error::invalid_tool(key, "a tool's schema is a JSON Schema of type \"object\""));
        }
        Ok(ToolSpec::new(name, description, schema).front_end())
    }
}

/// Tools by name, in the order of the JSON text.
struct ByName<'a> {
    tools: Vec<(String, Raw<'a>)>,
    limit: usize,
    too_many: bool,
}

fn by_name<'a>(raw: Raw<'a>, limit: (&'static str, usize)) -> Result<Vec<(String, Raw<'a>)>> {
    let tools = ByName { tools: Vec::new(), limit: limit.1, too_many: false };
    let tools = raw::reader(raw).object(tools)?.object_at("tools", "an object")?;
    if tools.too_many {
        return Err(Error::limit_exceeded(limit.0, limit.1, "tools".to_owned()));
    }
    Ok(tools.tools)
}

impl<'a> Record<'a> for ByName<'a> {
    fn set(&mut self, key: &str, value: &mut Reader<'a>) -> Result<bool> {
        let raw = value.raw()?;
        self.too_many = self.tools.len() == self.limit;
        if !self.too_many {
            self.tools.push((key.to_owned(), raw));
        }
        Ok(true)
    }
}
