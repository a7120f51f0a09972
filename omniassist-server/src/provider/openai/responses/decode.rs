//! The decoder of the Responses API's stream.

use std::mem;

use omniassist_core::event::{CallKind, Source};
use omniassist_core::{EventBuf, FinishReason, Limits, LlmEvent, Text};
use serde_json::value::RawValue;

use super::end;
use super::item::{Blocks, CallState, ItemKind, ItemState, Items, PartKey};
use super::wire::{Annotation, Event, Item, Response};
use crate::provider::answer::Answer;
use crate::provider::error_report;
use crate::provider::lenient_fields::{Num, Str, is_complete_json, string_or_json};
use crate::provider::wire::{EventReader, broken_json, is_object};
use crate::{Error, ProviderErrorKind, Result};

type Out = EventBuf<LlmEvent>;

/// Decodes one answer of the Responses API.
#[derive(Debug, Default)]
pub struct Reader {
    max_arguments: usize,
    answer: Answer,
    finished: bool,
    items: Items,
    next_call: u32,
}

impl Reader {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { max_arguments: limits.max_tool_args_bytes, ..Self::default() }
    }

    /// `response.created` and similar events. The fields that they repeat from the request (instructions, tools) are
    /// ignored.
    fn begin(&mut self, response: Option<&RawValue>, out: &mut Out) -> Result<()> {
        if !self.answer.started {
            let response = parse_response(response)?;
            self.answer.start(&response.id, &response.model, out);
        }
        Ok(())
    }

    fn item_added(&mut self, event: &Event<'_>, out: &mut Out) -> Result<()> {
        let Some(item) = event.item else { return Ok(()) };
        let item: Item<'_> = serde_json::from_str(item.get()).map_err(broken_json)?;
        let known = self.known(event.output_index.0, &item);
        if known.is_none() {
            self.open_item(event.output_index.0, &item, out);
        }
        Ok(())
    }

    /// Returns the position of an announced item. A number or id that is used again after its item is done, for an item
    /// of another id or kind, means a new item.
    fn known(&self, index: Option<u64>, item: &Item<'_>) -> Option<usize> {
        let at = self.items.position(index, item.id.as_str())?;
        let state = self.items.0.get(at)?;
        let same_kind = match state.kind {
            ItemKind::Message(_) => item.kind.as_str() == "message",
            ItemKind::Reasoning(_) => item.kind.as_str() == "reasoning",
            ItemKind::Call(_) => matches!(item.kind.as_str(), "function_call" | "custom_tool_call"),
            ItemKind::Other => true,
        };
        (same_kind && (!state.done || state.id == item.id.as_str())).then_some(at)
    }

    fn open_item(&mut self, index: Option<u64>, item: &Item<'_>, out: &mut Out) -> usize {
        let kind = match item.kind.as_str() {
            "message" => ItemKind::Message(Blocks::default()),
            "reasoning" => ItemKind::Reasoning(Blocks::default()),
            "function_call" => self.open_call(CallKind::Function, item, out),
            "custom_tool_call" => self.open_call(CallKind::Custom, item, out),
            _ => ItemKind::Other,
        };
        self.items.push(ItemState { index, id: item.id.as_str().to_owned(), kind, done: false })
    }

    fn open_call(&mut self, kind: CallKind, item: &Item<'_>, out: &mut Out) -> ItemKind {
        let number = self.next_call;
        self.next_call += 1;
        // The API always sends a call id. Some servers do not; the item's id is used instead.
        let id = item.call_id.to_text().or_else(|| item.id.to_text()).unwrap_or_else(|| {
            let response = self.answer.id.as_deref().unwrap_or("response");
            format!("call_{response}_{number}").into()
        });
        let name = item.name.to_text().unwrap_or_default();
        out.push(LlmEvent::ToolCallStart { call: number, id, name, kind });
        ItemKind::Call(CallState { number, kind, arguments: String::new(), given: None, ended: false })
    }

    fn part_delta(&mut self, place: Place<'_>, delta: Text, out: &mut Out) {
        if delta.is_empty() {
            return;
        }
        let wanted = |item: &ItemState| match item.kind {
            ItemKind::Message(_) => !place.key.is_reasoning(),
            ItemKind::Reasoning(_) => place.key.is_reasoning(),
            _ => false,
        };
        let open = self.items.position_open(place.index, place.id);
        let at = open.filter(|at| self.items.0.get(*at).is_some_and(wanted)).unwrap_or_else(|| {
            // Text of an item that was never announced is kept.
            let blocks = Blocks::default();
            let kind = match place.key.is_reasoning() {
                true => ItemKind::Reasoning(blocks),
                false => ItemKind::Message(blocks),
            };
            self.items.push(ItemState { index: place.index, id: place.id.to_owned(), kind, done: false })
        });
        if let Some(ItemState { kind: ItemKind::Message(blocks) | ItemKind::Reasoning(blocks), .. }) =
            self.items.0.get_mut(at)
        {
            out.push(blocks.open(place.key, &mut self.answer).delta(delta));
        }
    }

    /// Takes the complete text of a part. It is new only if no deltas were sent.
    fn part_done(&mut self, place: Place<'_>, text: Text, out: &mut Out) {
        let item = self.items.position(place.index, place.id).and_then(|at| self.items.0.get(at));
        let seen = item.is_some_and(|item| match &item.kind {
            ItemKind::Message(blocks) | ItemKind::Reasoning(blocks) => {
                item.done || blocks.part(place.key).is_some()
            }
            _ => true,
        });
        let nameless = place.index.is_none() && place.id.is_empty();
        if !seen && !nameless {
            self.part_delta(place, text, out);
        }
    }

    fn arguments_delta(&mut self, event: Event<'_>, data: &Text, out: &mut Out) -> Result<()> {
        let Some(call) = self.open_call_of(event.output_index, &event.item_id) else {
            tracing::debug!("arguments for a call that is not open");
            return Ok(());
        };
        let delta = event.delta.into_view(data);
        if delta.is_empty() {
            return Ok(());
        }
        call.arguments.push_str(&delta);
        let (number, length) = (call.number, call.arguments.len());
        out.push(LlmEvent::ToolCallDelta { call: number, delta });
        if length > self.max_arguments {
            return Err(Error::provider(ProviderErrorKind::TooLarge));
        }
        Ok(())
    }

    fn open_call_of(&mut self, index: Num, id: &Str<'_>) -> Option<&mut CallState> {
        match self.items.find_open(index.0, id.as_str()) {
            Some(ItemState { kind: ItemKind::Call(call), .. }) => Some(call),
            _ => None,
        }
    }

    /// Takes the complete arguments. They alone do not complete the call: only the following item states that the token
    /// limit cut the call.
    fn arguments_done(&mut self, event: Event<'_>, data: &Text) {
        if let Some(call) = self.open_call_of(event.output_index, &event.item_id) {
            call.given = Some(match call.kind {
                CallKind::Function => string_or_json(event.arguments, data),
                CallKind::Custom => event.input.unwrap_or_default().into_view(data),
            });
        }
    }

    fn item_done(&mut self, index: Option<u64>, raw: &RawValue, data: &Text, out: &mut Out) -> Result<()> {
        let item: Item<'_> = serde_json::from_str(raw.get()).map_err(broken_json)?;
        let at = match self.known(index, &item) {
            Some(at) => at,
            None => self.open_item(index, &item, out),
        };
        let (answer, max_arguments) = (&mut self.answer, self.max_arguments);
        let Some(state) = self.items.0.get_mut(at).filter(|state| !state.done) else { return Ok(()) };
        state.done = true;
        let mut cited = 0;
        match &mut state.kind {
            ItemKind::Message(blocks) => {
                end::message(blocks, &item, answer, out);
                cited = blocks.sources;
            }
            ItemKind::Reasoning(blocks) => end::reasoning(blocks, &item, answer, out),
            ItemKind::Call(call) => end::call(call, &item, data, max_arguments, out)?,
            ItemKind::Other if item.kind.as_str() == "compaction" => {
                end::compaction(&item, raw, answer, out)?;
            }
            ItemKind::Other => end::provider_item(&item, raw, out),
        }
        if cited == 0 {
            for annotation in item.content.iter().flat_map(|content| content.annotations.iter()) {
                self.source(annotation, out);
            }
        }
        Ok(())
    }

    fn annotation(&mut self, event: &Event<'_>, out: &mut Out) {
        let Some(annotation) = event.annotation else { return };
        if let Some(ItemState { kind: ItemKind::Message(blocks), .. }) =
            self.items.find_open(event.output_index.0, event.item_id.as_str())
        {
            blocks.sources += 1;
        }
        self.source(annotation, out);
    }

    fn source(&mut self, annotation: &RawValue, out: &mut Out) {
        let Ok(annotation) = serde_json::from_str::<Annotation<'_>>(annotation.get()) else { return };
        let source = match annotation.kind.as_str() {
            "url_citation" => Source::Url {
                id: self.answer.source_id(),
                url: annotation.url.to_text().unwrap_or_default(),
                title: annotation.title.to_text(),
            },
            "file_citation" | "container_file_citation" | "file_path" => {
                let filename = annotation.filename.to_text();
                let title = filename.clone().or_else(|| annotation.file_id.to_text()).unwrap_or_default();
                // The API does not send the media type of the file.
                let media_type = Text::from_static("application/octet-stream");
                Source::Document { id: self.answer.source_id(), media_type, title, filename }
            }
            _ => return,
        };
        out.push(LlmEvent::Source(source));
    }

    /// `response.completed` and `response.incomplete`.
    fn complete(&mut self, event: &Event<'_>, incomplete: bool, data: &Text, out: &mut Out) -> Result<()> {
        self.begin(event.response, out)?;
        let response = parse_response(event.response)?;
        let reason = response.incomplete_details.as_ref().and_then(|details| details.reason.non_empty());
        let cut =
            incomplete || reason.is_some() || matches!(response.status.as_str(), "incomplete" | "cancelled");
        self.close_items(&response, !cut, data, out)?;
        if let Some(usage) = response.usage.as_ref().and_then(|usage| usage.normalised()) {
            out.push(LlmEvent::Usage(usage));
        }
        let last_call = self.items.last_call();
        let raw = reason.or_else(|| response.status.non_empty()).map(Text::from);
        let reason = match (cut, reason) {
            (true, Some("max_output_tokens" | "max_tokens")) => FinishReason::Length,
            (true, Some("content_filter")) => FinishReason::ContentFilter,
            (true, Some(word)) => FinishReason::Other(word.into()),
            (true, None) => {
                FinishReason::Other(raw.clone().unwrap_or_else(|| Text::from_static("incomplete")))
            }
            (false, _) if last_call.is_some() => FinishReason::ToolCalls,
            (false, _) if self.items.has_refusal() => FinishReason::Refusal,
            (false, _) => FinishReason::Stop,
        };
        let truncated = cut || last_call.is_some_and(|call| !call.ended);
        out.push(LlmEvent::Finish { reason, raw, truncated });
        self.finished = true;
        Ok(())
    }

    /// Ends the items without an `output_item.done`. A regular terminal event repeats the items. A call that is missing
    /// there ends only if its arguments are complete.
    fn close_items(
        &mut self,
        response: &Response<'_>,
        healthy: bool,
        data: &Text,
        out: &mut Out,
    ) -> Result<()> {
        if healthy && (self.items.0.is_empty() || self.items.open().next().is_some()) {
            let none_seen = self.items.0.is_empty();
            for (position, raw) in response.output.iter().enumerate() {
                let item: Item<'_> = serde_json::from_str(raw.get()).map_err(broken_json)?;
                let index = u64::try_from(position).ok();
                let at = self.known(index, &item).and_then(|at| self.items.0.get(at));
                if none_seen || at.is_some_and(|state| !state.done) {
                    self.item_done(index, raw, data, out)?;
                }
            }
        }
        for item in self.items.open() {
            item.done = true;
            match &mut item.kind {
                ItemKind::Message(blocks) | ItemKind::Reasoning(blocks) => {
                    for part in &blocks.parts {
                        out.push(part.end(None));
                    }
                }
                ItemKind::Call(call) => {
                    let whole = call.given.take().unwrap_or_else(|| Text::from(call.arguments.as_str()));
                    if healthy && call.kind == CallKind::Function && is_complete_json(&whole) {
                        call.ended = true;
                        let metadata = end::item_metadata(&item.id, None);
                        out.push(LlmEvent::ToolCallEnd { call: call.number, arguments: whole, metadata });
                    }
                }
                ItemKind::Other => {}
            }
        }
        Ok(())
    }

    /// Takes an event that is not a text event.
    fn other(&mut self, kind: &str, event: Event<'_>, data: &Text, out: &mut Out) -> Result<()> {
        match kind {
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.arguments_delta(event, data, out)?;
            }
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                self.arguments_done(event, data);
            }
            "response.output_item.added" => self.item_added(&event, out)?,
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.item_done(event.output_index.0, item, data, out)?;
                }
            }
            "response.output_text.annotation.added" => self.annotation(&event, out),
            "response.created" | "response.queued" | "response.in_progress" => {
                self.begin(event.response, out)?;
            }
            "response.completed" => self.complete(&event, false, data, out)?,
            "response.incomplete" | "response.cancelled" => self.complete(&event, true, data, out)?,
            "response.failed" | "error" => fail(&event, data, out)?,
            kind if is_progress(kind) => {}
            kind => out.push(LlmEvent::Unknown { kind: kind.into(), data: data.clone() }),
        }
        Ok(())
    }
}

impl EventReader for Reader {
    fn event(&mut self, name: &str, data: &Text, out: &mut Out) -> Result<()> {
        // A gateway's keep-alive may be data that is not JSON. `[DONE]` has no meaning here.
        if self.finished || !is_object(data) {
            return Ok(());
        }
        let mut event: Event<'_> = serde_json::from_str(data).map_err(broken_json)?;
        let kind = mem::take(&mut event.kind);
        let kind = kind.non_empty().unwrap_or(name);
        let subject = kind.strip_suffix(".delta").or_else(|| kind.strip_suffix(".done")).unwrap_or_default();
        let Some(key) = PartKey::of(subject, &event) else { return self.other(kind, event, data, out) };
        let place = Place { index: event.output_index.0, id: event.item_id.as_str(), key };
        match key {
            _ if kind.ends_with("delta") => self.part_delta(place, event.delta.into_view(data), out),
            PartKey::Refusal(_) => {
                self.part_done(place, event.refusal.unwrap_or_default().into_view(data), out);
            }
            _ => self.part_done(place, event.text.unwrap_or_default().into_view(data), out),
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Out) -> Result<()> {
        if self.finished { Ok(()) } else { Err(Error::provider(ProviderErrorKind::Interrupted)) }
    }

    fn is_complete(&self) -> bool {
        self.finished
    }
}

/// The position of a piece of text.
#[derive(Clone, Copy)]
struct Place<'a> {
    index: Option<u64>,
    id: &'a str,
    key: PartKey,
}

/// Events whose content the done item repeats: the steps of provider-run tools, and the frames of parts.
fn is_progress(kind: &str) -> bool {
    let Some(rest) = kind.strip_prefix("response.") else { return false };
    rest.starts_with("content_part.")
        || rest.starts_with("reasoning_summary_part.")
        || rest.starts_with("reasoning_part.")
        || rest.starts_with("mcp_list_tools.")
        || rest.split('.').next().is_some_and(|subject| subject.contains("_call"))
}

/// Takes an event that reports an error. Some servers send two of them; the first one ends the answer.
fn fail(event: &Event<'_>, data: &Text, out: &mut Out) -> Result<()> {
    let response = parse_response(event.response)?;
    if let Some(usage) = response.usage.as_ref().and_then(|usage| usage.normalised()) {
        out.push(LlmEvent::Usage(usage));
    }
    // `error` events are documented flat and sent nested. `response.failed` contains its error.
    Err(match event.error.or(response.error) {
        Some(nested) => error_report::in_band(nested),
        None => error_report::in_band(serde_json::from_str(data).map_err(broken_json)?),
    })
}

fn parse_response(raw: Option<&RawValue>) -> Result<Response<'_>> {
    match raw {
        Some(raw) => serde_json::from_str(raw.get()).map_err(broken_json),
        None => Ok(Response::default()),
    }
}
