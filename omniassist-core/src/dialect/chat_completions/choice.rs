use std::sync::Arc;

use crate::dialect::declared_tools::{self, ToolForm};
use crate::dialect::posted;
use crate::message::body::Body;
use crate::message::raw::{self, Raw, present, raw_record};
use crate::run::ToolUse;
use crate::{Error, Limits, Result, Text, ToolChoice, ToolSpec};

raw_record! {
    /// The fields of the objects that `tool_choice` accepts, and of the tools that it lists.
    ChoiceFields {
        kind: "type",
        function: "function",
        allowed_tools: "allowed_tools",
    }
}

raw_record! {
    /// The fields of a chosen function.
    NameFields {
        name: "name",
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
    /// The tools offered to the model.
    pub(super) offered: Vec<Arc<ToolSpec>>,
    /// Names of the tools not offered to the model.
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
        offered: declared_tools::read(body, limits, tools, ToolForm::Function)?,
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
    let fields: ChoiceFields<'_> = raw::object(choice)?.object_at("tool_choice", CHOICES)?;
    chosen(body, limits, &fields, &mut caller).map_err(|error| error.under("tool_choice"))?;
    Ok(caller)
}

impl CallerTools {
    fn keep(&mut self, keep: impl Fn(&Text) -> bool) {
        let (kept, gone) = std::mem::take(&mut self.offered).into_iter().partition(|tool| keep(&tool.name));
        self.offered = kept;
        self.not_offered = gone.into_iter().map(|tool: Arc<ToolSpec>| tool.name.clone()).collect();
    }

    /// Requires a call of a caller's tool. The server's tools are not offered then, because their calls are not part of
    /// the answer.
    fn require(&mut self, choice: ToolChoice) -> Result<()> {
        if self.offered.is_empty() {
            return Err(Error::invalid_field("tool_choice", "`tools` to choose from", "none"));
        }
        self.tool_use = ToolUse::without_server_tools();
        self.tool_use.choice = choice;
        Ok(())
    }
}

fn chosen(
    body: Body<'_>,
    limits: &Limits,
    fields: &ChoiceFields<'_>,
    caller: &mut CallerTools,
) -> Result<()> {
    match body.text(fields.kind, "type")?.as_str() {
        "function" => {
            let name = known_name(body, fields.function, caller)?;
            caller.require(ToolChoice::Tool(name))
        }
        "allowed_tools" => posted::object(fields.allowed_tools, "allowed_tools", |fields| {
            allowed(body, limits, &fields, caller)
        }),
        _ => Err(Error::invalid_field("type", "\"function\" or \"allowed_tools\"", "another string")),
    }
}

fn known_name(body: Body<'_>, function: Option<Raw<'_>>, caller: &CallerTools) -> Result<Text> {
    let read = |fields: NameFields<'_>| body.text(fields.name, "name");
    let name = posted::object(function, "function", read)?;
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
    let expected = "an array of tools";
    if present(fields.tools).is_none() {
        return Err(Error::invalid_field("tools", expected, raw::kind_of(fields.tools)));
    }
    let limit = ("max_declared_tools", limits.max_declared_tools);
    let names = posted::objects(fields.tools, "tools", expected, limit, |_, _, fields: ChoiceFields<'_>| {
        known_name(body, fields.function, caller)
    })?;
    caller.keep(|name| names.contains(name));
    if required { caller.require(ToolChoice::Required) } else { Ok(()) }
}
