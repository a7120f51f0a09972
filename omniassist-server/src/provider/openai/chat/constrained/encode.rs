//! Conversion of requests with tools into requests without.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use omniassist_core::transcript::{ToolCall, UserContent};
use omniassist_core::{LlmPayload, Text, ToolChoice, ToolSpec, TranscriptItem};
use serde_json::{Value, json};

use super::super::schema::{Budget, Rules, normalise};
use super::{applies, offered, reply_name};
use crate::Result;

/// Returns the same request for a server without tool support. If the request has no tools to call, its answer is not
/// constrained; the calls and results of its conversation still become text.
pub(crate) fn payload(original: &LlmPayload, budget: &mut Budget) -> Result<LlmPayload> {
    let mut payload = original.clone();
    payload.tools = Arc::from([]);
    payload.tool_choice = ToolChoice::Auto;
    let reply = applies(original).then(|| reply_name(original));
    let mut conversation = Conversation {
        needs_call: reply.is_some() && original.tool_choice != ToolChoice::Auto,
        items: Vec::new(),
    };
    if let Some(reply) = &reply {
        let tools: Vec<ToolForm<'_>> =
            offered(original).map(|spec| ToolForm::of(spec, budget)).collect::<Result<_>>()?;
        // If a call is required, text is not a valid answer.
        let words = matches!(original.tool_choice, ToolChoice::Auto).then_some(reply.as_str());
        payload.system = Some(instructions(original.system.as_deref(), &tools, words).into());
        let answer = original.options.response_schema.as_ref().map(|(_, schema)| schema);
        let mut options = (*original.options).clone();
        options.response_schema = Some((Text::from_static("turn"), schema(&tools, words, answer, budget)?));
        payload.options = Arc::new(options);
        for tool in &tools {
            tool.examples(&mut conversation);
        }
        if let (Some(reply), None) = (words, answer) {
            conversation.hear(vec![text("Thank you")]);
            conversation.say(turn(reply, "\"You are welcome.\""));
        }
    }
    conversation.follow(&original.transcript, reply.as_deref());
    payload.transcript = conversation.items.into();
    Ok(payload)
}

/// A tool with its schema in a form that can be part of another schema.
struct ToolForm<'a> {
    spec: &'a ToolSpec,
    schema: Value,
}

impl<'a> ToolForm<'a> {
    fn of(spec: &'a ToolSpec, budget: &mut Budget) -> Result<Self> {
        let schema = normalise(&spec.name, &spec.input_schema, Rules::EMBEDDED, budget)?;
        Ok(Self { spec, schema: schema.into_owned() })
    }

    /// One line with name, arguments and description.
    fn line(&self) -> String {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        let arguments: Vec<String> = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| format!("{}: {}", Value::from(name.as_str()), kind(schema)))
            .collect();
        format!("- {} {{{}}}: {}", self.spec.name, arguments.join(", "), self.spec.description)
    }

    fn examples(&self, conversation: &mut Conversation) {
        for example in &self.spec.examples {
            conversation.hear(vec![text(&example.request)]);
            conversation.say(turn(&self.spec.name, &example.arguments.to_string()));
        }
    }
}

/// Returns the type of a value as one word, or its choices.
fn kind(schema: &Value) -> String {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choices.iter().map(Value::to_string).collect::<Vec<_>>().join("|");
    }
    match schema.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
        _ => "any".to_owned(),
    }
}

fn instructions(system: Option<&str>, tools: &[ToolForm<'_>], words: Option<&str>) -> String {
    let mut lines: Vec<String> = system.map(str::to_owned).into_iter().collect();
    lines.push(
        "Answer each message with one JSON object {\"tool\": NAME, \"with\": ARGUMENTS}. Tools:".to_owned(),
    );
    lines.extend(tools.iter().map(ToolForm::line));
    lines
        .extend(words.map(|reply| format!("- {reply} string: say this to the user, when no tool is needed")));
    lines.join("\n")
}

/// Returns the schema of an answer: a call of one of the tools, or text.
fn schema(
    tools: &[ToolForm<'_>],
    words: Option<&str>,
    answer: Option<&Value>,
    budget: &mut Budget,
) -> Result<Value> {
    let form = |tool: &str, with: Value| {
        json!({
            "type": "object",
            "properties": {"tool": {"const": tool}, "with": with},
            "required": ["tool", "with"],
            "additionalProperties": false,
        })
    };
    let mut forms: Vec<Value> = tools.iter().map(|tool| form(&tool.spec.name, tool.schema.clone())).collect();
    if let Some(reply) = words {
        let with = match answer {
            Some(schema) => normalise(reply, schema, Rules::EMBEDDED, budget)?.into_owned(),
            None => json!({"type": "string", "minLength": 1}),
        };
        forms.push(form(reply, with));
    }
    Ok(json!({"anyOf": forms}))
}

/// Returns an answer in the required form; `with` is JSON.
fn turn(tool: &str, with: &str) -> String {
    format!("{{\"tool\": {}, \"with\": {with}}}", Value::from(tool))
}

fn text(text: &str) -> UserContent {
    UserContent::Text { text: text.into() }
}

/// A conversation in which user and assistant alternate, as many templates require.
struct Conversation {
    /// `true` if the next answer must be a call.
    needs_call: bool,
    items: Vec<TranscriptItem>,
}

impl Conversation {
    /// Adjacent texts are joined, because some servers accept no lists of parts.
    fn hear(&mut self, content: Vec<UserContent>) {
        let Some(TranscriptItem::User { content: before }) = self.items.last_mut() else {
            return self.items.push(TranscriptItem::User { content });
        };
        for part in mem::take(before).into_iter().chain([text("\n\n")]).chain(content) {
            match (before.last_mut(), part) {
                (Some(UserContent::Text { text: before }), UserContent::Text { text }) => {
                    *before = format!("{before}{text}").into();
                }
                (_, part) => before.push(part),
            }
        }
    }

    fn say(&mut self, text: String) {
        if matches!(self.items.last(), Some(TranscriptItem::Text { .. })) {
            self.items.push(TranscriptItem::user("Go on."));
        }
        self.items.push(TranscriptItem::Text { text: text.into(), metadata: None });
    }

    /// Each call directly precedes its result. Text has the form of an answer if answers have one.
    fn follow(&mut self, transcript: &[TranscriptItem], reply: Option<&str>) {
        let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
        let mut words = String::new();
        let spoken = |words: &mut String, conversation: &mut Self| {
            if !words.is_empty() {
                let words = mem::take(words);
                conversation.say(match reply {
                    Some(reply) => turn(reply, &Value::from(words).to_string()),
                    None => words,
                });
            }
        };
        for item in transcript {
            match item {
                TranscriptItem::Text { text, .. } => words.push_str(text),
                TranscriptItem::Call(call) => {
                    spoken(&mut words, self);
                    calls.insert(&call.id, call);
                }
                TranscriptItem::Result(result) => {
                    spoken(&mut words, self);
                    let Some(call) = calls.remove(result.call_id.as_str()) else { continue };
                    self.say(turn(&call.name, call.arguments.as_str()));
                    let (name, output) = (&call.name, result.output_text());
                    self.hear(vec![text(&if result.is_error {
                        format!("{name} failed: {output}")
                    } else if self.needs_call {
                        format!("{name} gave: {output}")
                    } else {
                        // Without this instruction, small models repeat the same call.
                        format!("{name} gave: {output}\nReply to the user with this.")
                    })]);
                }
                TranscriptItem::User { content } => {
                    spoken(&mut words, self);
                    self.hear(content.clone());
                }
                _ => {}
            }
        }
        spoken(&mut words, self);
    }
}
