//! The end of an output item: its metadata, and the text that its deltas lacked.

use std::mem;

use omniassist_core::event::CallKind;
use omniassist_core::message::ProviderMetadata;
use omniassist_core::{EventBuf, JsonText, LlmEvent, Text};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::super::metadata;
use super::item::{Blocks, CallState, PartKey};
use super::wire::Item;
use crate::provider::answer::Answer;
use crate::provider::compaction;
use crate::provider::lenient_fields::string_or_json;
use crate::provider::wire::broken_json;
use crate::{Error, ProviderErrorKind, Result};

type Out = EventBuf<LlmEvent>;

pub(super) fn message(blocks: &mut Blocks, item: &Item<'_>, answer: &mut Answer, out: &mut Out) {
    if blocks.parts.is_empty() {
        for (position, content) in (0..).zip(item.content.iter()) {
            blocks.fill(PartKey::Text(position), &content.text, answer, out);
            blocks.fill(PartKey::Refusal(position), &content.refusal, answer, out);
        }
    }
    let metadata =
        item_metadata(item.id.as_str(), item.phase.non_empty().map(|phase| (metadata::PHASE, phase)));
    for part in &blocks.parts {
        out.push(part.end(metadata.clone()));
    }
}

/// Ends a reasoning item. The API has one item where this crate has one block per summary part, so all blocks carry the
/// item's id. The last block carries the encrypted content, which is long. A block of raw reasoning is marked, since it
/// is not part of the summary that is sent back.
pub(super) fn reasoning(blocks: &mut Blocks, item: &Item<'_>, answer: &mut Answer, out: &mut Out) {
    if blocks.parts.is_empty() {
        for (at, part) in (0..).zip(item.summary.iter()) {
            blocks.fill(PartKey::Summary(at), &part.text, answer, out);
        }
        for (at, part) in (0..).zip(item.content.iter()) {
            blocks.fill(PartKey::Reasoning(at), &part.text, answer, out);
        }
    }
    let encrypted = item.encrypted_content.non_empty();
    if blocks.parts.is_empty() {
        if encrypted.is_none() {
            return;
        }
        blocks.open(PartKey::Summary(0), answer);
    }
    let last = blocks.parts.len() - 1;
    for (at, part) in blocks.parts.iter().enumerate() {
        let encrypted = encrypted.filter(|_| at == last);
        let mut fields =
            item_fields(item.id.as_str(), encrypted.map(|content| (metadata::ENCRYPTED_CONTENT, content)));
        if matches!(part.key, PartKey::Reasoning(_)) && !fields.is_empty() {
            fields.push((metadata::RAW_REASONING, true.into()));
        }
        out.push(part.end(metadata::STATE.state(fields)));
    }
}

pub(super) fn call(
    call: &mut CallState,
    item: &Item<'_>,
    data: &Text,
    max_arguments: usize,
    out: &mut Out,
) -> Result<()> {
    if matches!(item.status.as_str(), "incomplete" | "failed" | "cancelled") {
        return Ok(());
    }
    let stated = match call.kind {
        CallKind::Function => string_or_json(item.arguments, data),
        CallKind::Custom => item.input.to_text().unwrap_or_default(),
    };
    let arguments = [stated, call.given.take().unwrap_or_default()]
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_else(|| mem::take(&mut call.arguments).into());
    if arguments.len() > max_arguments {
        return Err(Error::provider(ProviderErrorKind::TooLarge));
    }
    call.ended = true;
    let metadata = item_metadata(item.id.as_str(), None);
    out.push(LlmEvent::ToolCallEnd { call: call.number, arguments, metadata });
    Ok(())
}

/// The item in place of the conversation before it.
pub(super) fn compaction(item: &Item<'_>, raw: &RawValue, answer: &mut Answer, out: &mut Out) -> Result<()> {
    if item.encrypted_content.non_empty().is_some() {
        let item = serde_json::from_str(raw.get()).map_err(broken_json)?;
        out.push(compaction::event(metadata::STATE, item, answer));
    }
    Ok(())
}

/// The items of provider-run tools that the API accepts back unchanged. Others (computer use, shell) require an output
/// of the client, and an image would be sent a second time.
/// <https://platform.openai.com/docs/api-reference/responses/create#responses_create-input>
const REPLAYED: &[&str] =
    &["web_search_call", "file_search_call", "code_interpreter_call", "mcp_call", "mcp_list_tools"];

/// An item of a provider-run tool, or of a type that this version does not know.
pub(super) fn provider_item(item: &Item<'_>, raw: &RawValue, out: &mut Out) {
    let mut whole = JsonText::parse(raw.get()).unwrap_or_default();
    if item.kind.as_str() == "image_generation_call"
        && let Some(image) = item.result.non_empty()
    {
        let media_type = format!("image/{}", item.output_format.non_empty().unwrap_or("png"));
        let url = Text::from(format!("data:{media_type};base64,{image}"));
        out.push(LlmEvent::File { media_type: media_type.into(), url });
        // The image was sent as a file. The item would contain its megabytes a second time.
        if let Ok(mut fields) = whole.to::<Map<String, Value>>() {
            fields.remove("result");
            whole = JsonText::from_serialize(&fields).unwrap_or_default();
        }
    }
    let kind = item.kind.as_str();
    let replay_to = REPLAYED.contains(&kind).then_some(Text::from_static(metadata::STATE.0));
    out.push(LlmEvent::ProviderTool {
        id: item.id.to_text().or_else(|| item.call_id.to_text()).unwrap_or_default(),
        kind: kind.strip_suffix("_call").unwrap_or(kind).into(),
        name: item.name.to_text(),
        item: whole,
        replay_to,
    });
}

/// Returns `{"openai": {"itemId": …}}` with one more field; `None` if there is neither.
pub(super) fn item_metadata(id: &str, field: Option<(&'static str, &str)>) -> Option<ProviderMetadata> {
    metadata::STATE.state(item_fields(id, field))
}

fn item_fields(id: &str, field: Option<(&'static str, &str)>) -> Vec<(&'static str, Value)> {
    let id = (!id.is_empty()).then_some((metadata::ITEM_ID, id));
    id.into_iter().chain(field).map(|(name, value)| (name, value.into())).collect()
}
