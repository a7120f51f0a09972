//! The demo: fixed rules that answer instead of a model, so that the page works without a key, a download and a
//! network. It is also an example of an [`LlmProvider`]:
//!
//! 1. Read the [`LlmPayload`]: the system prompt, the transcript and the tools. The transcript ends with the question
//!    or with results of tools. A provider for a real model writes them into the request of its API.
//! 2. Return a stream of [`LlmEvent`]s: pieces of reasoning and text, tool calls, and exactly one `Finish`. Do all
//!    waiting inside the stream, so that dropping the stream cancels everything.
//! 3. Leave out unknown values. The demo has no tokens, so it sends no `Usage`.
//!
//! The rules choose the tool that shares the most words with the question: words of its name, its description and its
//! examples. The JSON Schema tells which arguments to look for, and the examples tell the word before a value, as in
//! "orders *over* 100". An object that no sentence can hold, such as a form, is copied from the nearest example. The sales
//! by region are shown as a table and a chart (`figures.rs`).

mod figures;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use omniassist_axum::core::event::CallKind;
use omniassist_axum::core::transcript::UserContent;
use omniassist_axum::core::{FinishReason, LlmEvent, LlmPayload, Text, ToolChoice, ToolSpec, TranscriptItem};
use omniassist_axum::{LlmProvider, LlmStream};
use serde_json::{Map, Value};

/// The name of the demo on the page and in the log.
pub(crate) const LABEL: &str = "demo (rules, no model)";
/// The lowest score of a tool that fits a question.
const ENOUGH: f32 = 1.5;
const COMMON: &str =
    " a an and are at be by can do for from have i in is it me my of on or please the this to you ";

/// The provider. It waits for `pace` before each event, to look like a model.
#[derive(Debug, Clone)]
pub(crate) struct Demo {
    pub pace: Duration,
}

impl LlmProvider for Demo {
    fn name(&self) -> &str {
        "demo"
    }

    fn model(&self) -> Option<&str> {
        Some(LABEL)
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        let pace = self.pace;
        Box::pin(stream::iter(answer(&payload)).then(move |event| async move {
            tokio::time::sleep(pace).await;
            Ok(event)
        }))
    }
}

/// Returns the events of one turn: the results of the tools as text, or tool calls for the question.
fn answer(payload: &LlmPayload) -> Vec<LlmEvent> {
    let mut events = vec![LlmEvent::Start { id: None, model: Some(LABEL.into()) }];
    let transcript = &payload.transcript;
    let asked = transcript.iter().rposition(|item| matches!(item, TranscriptItem::User { .. })).unwrap_or(0);
    let turn = transcript.get(asked..).unwrap_or_default();
    let shown = figures::shown(turn, &payload.tools);
    if !shown.is_empty() {
        call(&mut events, transcript, shown);
        return events;
    }
    let results = report(turn);
    if !results.is_empty() {
        say(&mut events, &results);
        return events;
    }
    let tools: Vec<&ToolSpec> = payload
        .tools
        .iter()
        .map(|tool| &**tool)
        .filter(|tool| !figures::SHOWS.contains(&&*tool.name))
        .collect();
    let question = transcript.get(asked).map(question_of).unwrap_or_default();
    let choices = choose_all(&question, if payload.tool_choice == ToolChoice::None { &[] } else { &tools });
    let best: String = choices.iter().map(|one| format!(" {}: {:.1}.", one.tool.name, one.score)).collect();
    let thought = format!("Fixed rules compare the words of the question with {} tools.{best}", tools.len());
    let words = thought.split_inclusive(' ');
    events.extend(words.map(|word| LlmEvent::ReasoningDelta { block: 0, delta: word.into() }));
    events.push(LlmEvent::ReasoningEnd { block: 0, metadata: None });
    if choices.is_empty() {
        let can = tools.iter().map(|tool| {
            let example = tool.examples.first().map(|example| format!(" (“{}”)", example.request));
            format!("\n- {}{}", tool.description, example.unwrap_or_default())
        });
        say(&mut events, &format!("I have no tool for that. I can do this:\n{}", can.collect::<String>()));
    } else if let Some(Choice { missing, .. }) = choices.iter().find(|one| !one.missing.is_empty()) {
        say(&mut events, &format!("Please tell me: {}.", missing.join(", ")));
    } else {
        let chosen = choices.iter().map(|choice| (choice.tool.name.clone(), choice.arguments.clone().into()));
        call(&mut events, transcript, chosen.collect());
    }
    events
}

/// Writes calls of tools.
fn call(events: &mut Vec<LlmEvent>, transcript: &[TranscriptItem], calls: Vec<(Text, Value)>) {
    // An id must be unique in the conversation, which may contain calls of earlier turns.
    let earlier = transcript.iter().filter(|item| matches!(item, TranscriptItem::Call(_))).count();
    for (call, (name, arguments)) in (0_u32..).zip(calls) {
        let id = format!("demo-{}", earlier + call as usize).into();
        let arguments = arguments.to_string();
        events.push(LlmEvent::ToolCallStart { call, id, name, kind: CallKind::Function });
        let pieces = arguments.split_inclusive([',', ':']);
        events.extend(pieces.map(|piece| LlmEvent::ToolCallDelta { call, delta: piece.into() }));
        events.push(LlmEvent::ToolCallEnd { call, arguments: arguments.into(), metadata: None });
    }
    events.push(LlmEvent::Finish { reason: FinishReason::ToolCalls, raw: None, truncated: false });
}

fn say(events: &mut Vec<LlmEvent>, text: &str) {
    let text = format!("{}\n\n*(This is the demo: fixed rules, not a model.)*", text.trim_end());
    events.extend(text.split_inclusive(' ').map(|word| LlmEvent::TextDelta { block: 1, delta: word.into() }));
    events.push(LlmEvent::TextEnd { block: 1, metadata: None });
    events.push(LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false });
}

/// Returns the text of the user. It is the last part, after the context of the application.
fn question_of(item: &TranscriptItem) -> String {
    let TranscriptItem::User { content } = item else { return String::new() };
    if let Some(UserContent::Text { text }) = content.last() { text.to_string() } else { String::new() }
}

/// Returns the results of the tools of this turn as text. Empty: no tool has run.
fn report(turn: &[TranscriptItem]) -> String {
    let (mut names, mut text) = (HashMap::new(), String::new());
    for item in turn {
        if let TranscriptItem::Call(call) = item {
            names.insert(&call.id, call.name.as_str());
        } else if let TranscriptItem::Result(result) = item {
            let name = names.get(&result.call_id).copied().unwrap_or("tool");
            if figures::SHOWS.contains(&name) && !result.is_error {
                text = "The table and the chart show it. Tick some rows.".to_owned();
                continue;
            }
            let name = name.replace('_', " ");
            let output = readable(&result.output.to_value(), "\n");
            let how = if result.is_error { "failed: " } else { "gave this result:\n" };
            text.push_str(&format!("The tool **{name}** {how}{output}\n\n"));
        }
    }
    text
}

/// Writes JSON without braces and quotes, and at most ten items of a list.
fn readable(value: &Value, between: &str) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => {
            let shown = all.iter().take(10).map(|one| format!("\n- {}", readable(one, ", ")));
            let more = all.len().checked_sub(10).filter(|more| *more > 0);
            shown.chain(more.map(|more| format!("\n- and {more} more"))).collect()
        }
        Value::Object(fields) => {
            let pair = |(key, value): (&String, _)| [key.replace('_', " "), readable(value, ", ")].join(": ");
            fields.iter().map(pair).collect::<Vec<_>>().join(between)
        }
        other => other.to_string(),
    }
}

/// A tool that fits. `missing` names the required arguments that the question does not contain.
struct Choice<'a> {
    tool: &'a ToolSpec,
    score: f32,
    arguments: Map<String, Value>,
    missing: Vec<String>,
}

/// Chooses a tool for each part of "this and that", or one tool for the whole question.
fn choose_all<'a>(question: &str, tools: &[&'a ToolSpec]) -> Vec<Choice<'a>> {
    let parts: Vec<&str> = question.split(" and ").filter(|_| !question.contains(['"', ':'])).collect();
    let each: Vec<_> = parts.iter().filter_map(|part| choose(part, tools)).collect();
    if parts.len() > 1 && each.len() == parts.len() && each.iter().all(|choice| choice.missing.is_empty()) {
        return each;
    }
    choose(question, tools).into_iter().collect()
}

fn choose<'a>(question: &str, tools: &[&'a ToolSpec]) -> Option<Choice<'a>> {
    let known: Vec<_> = tools.iter().map(|tool| vocabulary(tool)).collect();
    let ranked = tools.iter().zip(&known).map(|(tool, own)| {
        // A word that many tools share has a low weight.
        let worth = |word: String| {
            let sharing = known.iter().filter(|other| other.contains_key(&word)).count().max(1);
            own.get(&word).copied().unwrap_or_default() / sharing as f32
        };
        let copied = nearest_example(tool, question);
        let found_here = if copied.is_some() { 0.0 } else { 0.6 };
        let (arguments, missing) = copied.unwrap_or_else(|| fill(tool, question));
        let fit = if missing.is_empty() { found_here * arguments.len() as f32 } else { -1.0 };
        let score = words(question).into_iter().map(worth).sum::<f32>() + fit;
        Choice { tool, score, arguments, missing }
    });
    ranked.max_by(|one, other| one.score.total_cmp(&other.score)).filter(|best| best.score >= ENOUGH)
}

fn vocabulary(tool: &ToolSpec) -> HashMap<String, f32> {
    let examples = tool.examples.iter().map(|example| (example.request.as_str(), 2.0));
    let texts = [(tool.description.as_str(), 1.0)].into_iter().chain(examples).chain([(&*tool.name, 3.0)]);
    texts.flat_map(|(text, worth)| words(text).into_iter().map(move |word| (word, worth))).collect()
}

/// Returns the important words of a text, without their endings.
fn words(text: &str) -> HashSet<String> {
    let words = text.split(|letter: char| !letter.is_alphabetic()).map(stem);
    words.filter(|word| !word.is_empty() && !COMMON.contains(&format!(" {word} "))).collect()
}

fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    let cut = ["ing", "ed", "s"].iter().find_map(|end| word.strip_suffix(end).filter(|rest| rest.len() > 2));
    cut.map(str::to_owned).unwrap_or(word)
}

/// Returns the arguments of the nearest example, for a tool that takes an object.
fn nearest_example(tool: &ToolSpec, question: &str) -> Option<(Map<String, Value>, Vec<String>)> {
    let mut properties = tool.input_schema.get("properties")?.as_object()?.values();
    properties.find(|schema| schema["type"] == "object" || schema["type"] == "array")?;
    let asked = words(question);
    let shared = |request: &str| words(request).intersection(&asked).count();
    let nearest = tool.examples.iter().max_by_key(|example| shared(&example.request))?;
    Some((nearest.arguments.as_object()?.clone(), Vec::new()))
}

/// Fills the arguments: first those that a word of the question announces, then the required rest.
fn fill(tool: &ToolSpec, question: &str) -> (Map<String, Value>, Vec<String>) {
    let (mut found, mut missing) = (Map::new(), Vec::new());
    let plain = question.split_whitespace().map(|word| word.trim_matches([',', '.', '?', '!', ':', '"']));
    let before = std::iter::once(String::new()).chain(plain.clone().map(stem));
    let mut words: Vec<(String, &str)> = before.zip(plain).collect();
    let asked: HashSet<String> = words.iter().map(|(_, word)| stem(word)).collect();
    let quoted = question.split('"').nth(1).or_else(|| question.split_once(": ").map(|(_, rest)| rest));
    let required = tool.input_schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let properties = tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let rounds = [false, true].into_iter().flat_map(|last| properties.clone().map(move |each| (last, each)));
    for (last, (name, schema)) in rounds {
        if found.contains_key(name) || (last && !required.clone().any(|one| one == name)) {
            continue;
        }
        let (hints, kind) = (hints(tool, name), schema["type"].to_string());
        let value = if let Some(options) = schema["enum"].as_array() {
            let fits = |text: &str| text.split(['-', '_']).all(|word| asked.contains(&stem(word)));
            let fitting = options.iter().filter(|option| option.as_str().is_some_and(fits));
            fitting.max_by_key(|option| option.as_str().map(str::len)).cloned()
        } else if kind.contains("string") {
            let name_or_rest = |word: &str| last || word.starts_with(char::is_uppercase);
            let at = words.iter().position(|(before, word)| hints.contains(before) && name_or_rest(word));
            let run = words.iter().skip(at.unwrap_or(words.len())).map(|(_, word)| *word);
            let run = run.take_while(|word| name_or_rest(word)).collect::<Vec<_>>().join(" ");
            let text = quoted.filter(|text| last || (!run.is_empty() && text.starts_with(&run)));
            Some(text.unwrap_or(&run)).filter(|text| !text.is_empty()).map(Value::from)
        } else {
            let fits = |value: &Value| value.is_i64() || (value.is_number() && kind.contains("number"));
            let number = |word: &str| serde_json::from_str(word).ok().filter(fits);
            let here = |word: &(String, &str)| (last || hints.contains(&word.0)) && number(word.1).is_some();
            // A number is used for one argument only.
            words.iter().position(here).and_then(|at| number(words.remove(at).1))
        };
        if let Some(value) = value {
            found.insert(name.clone(), value);
        } else if last {
            missing.push(name.clone());
        }
    }
    (found, missing)
}

/// Returns the words that announce an argument: the words of its name, and the words before it in the examples.
fn hints(tool: &ToolSpec, name: &str) -> HashSet<String> {
    let mut hints: HashSet<_> = name.split('_').map(stem).collect();
    for example in &tool.examples {
        let value = readable(example.arguments.get(name).unwrap_or(&Value::Null), "");
        let before =
            example.request.split_once(&value).and_then(|(before, _)| before.split_whitespace().last());
        hints.extend(before.map(|word| stem(word.trim_matches([':', '"']))));
    }
    hints
}

#[cfg(test)]
mod tests;
