use super::{ToolResult, TranscriptItem, UserContent, repair};
use crate::characters::prefix;
use crate::message::ProviderMetadata;
use crate::{JsonText, Text};

/// The note in place of removed exchanges.
const LEFT_OUT: &str = "[Earlier parts of this conversation were left out: they did not fit.]";
/// The note in place of the middle of a tool's output.
const CUT: &str = "\n[… cut: the whole did not fit …]\n";
/// The minimum size of a shortened tool output, in bytes.
const LEAST_OUTPUT: usize = 1 << 10;

/// Returns the size of these items for a model: the bytes of their text, arguments, outputs and provider state.
#[must_use]
pub fn size(items: &[TranscriptItem]) -> usize {
    items.iter().map(item_size).sum()
}

/// Shortens a conversation that is too long for a model to about `target` bytes (see [`size`]), or as far as possible.
/// Returns `None` if nothing can be removed. The result is legal and deterministic.
///
/// Content is removed in this order, and only as far as needed:
///
/// 1. the oldest exchanges, each as a whole, with a note at the start of the rest;
/// 2. the middle of large tool outputs, the oldest first;
/// 3. the oldest steps of the last exchange.
///
/// The last user message and the last step always stay.
///
/// ```
/// use omniassist_core::TranscriptItem;
/// use omniassist_core::transcript::{compact, is_legal, size};
///
/// let long = [TranscriptItem::user("x".repeat(9_000)), TranscriptItem::user("And now?")];
/// let short = compact(&long, 1_000).ok_or("nothing to leave out")?;
/// assert!(is_legal(&short) && size(&short) < 1_000);
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn compact(items: &[TranscriptItem], target: usize) -> Option<Vec<TranscriptItem>> {
    let before = size(items);
    // An exchange is a user message and all items up to the next one.
    let exchange = |at: &usize| matches!(items.get(*at), Some(TranscriptItem::User { .. }));
    let from = first_that_fits(items, (0..items.len()).filter(exchange), target);
    let mut kept = items.get(from..).unwrap_or_default().to_vec();
    shorten_outputs(&mut kept, target);
    let left_out = leave_out_steps(&mut kept, target) || from > 0;
    if left_out {
        add_note(&mut kept);
    }
    let kept = repair(kept);
    (size(&kept) < before).then_some(kept)
}

/// Returns the first place from which on the items fit the target, or the last place.
fn first_that_fits(items: &[TranscriptItem], places: impl Iterator<Item = usize>, target: usize) -> usize {
    let (mut rest, mut at) = (size(items), 0);
    for place in places {
        if rest <= target {
            break;
        }
        rest -= items.get(at..place).map_or(0, size);
        at = place;
    }
    at
}

fn shorten_outputs(items: &mut [TranscriptItem], target: usize) {
    let mut excess = size(items).saturating_sub(target);
    for item in items {
        let TranscriptItem::Result(result) = item else { continue };
        if excess == 0 {
            return;
        }
        let before = result.output.as_str().len();
        if before > LEAST_OUTPUT {
            shorten(result, before.saturating_sub(excess).max(LEAST_OUTPUT));
            excess = excess.saturating_sub(before.saturating_sub(result.output.as_str().len()));
        }
    }
}

/// Keeps the start and the end of an output, about `bytes` of JSON in total.
fn shorten(result: &mut ToolResult, bytes: usize) {
    let text = result.output_text();
    // The JSON contains quotes and the escaped line feeds of the note. Other escapes are assumed to be distributed
    // evenly.
    let room = bytes.saturating_sub(CUT.len() + 4);
    let bytes = room.saturating_mul(text.len()) / result.output.as_str().len().max(1);
    let head = prefix(&text, bytes / 2);
    let mut tail = text.len().saturating_sub(bytes / 2).max(head.len());
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    let tail = text.get(tail..).unwrap_or_default();
    let output = JsonText::from_str_value(&format!("{head}{CUT}{tail}"));
    // Escapes can make the result longer than the original.
    if output.as_str().len() < result.output.as_str().len() {
        result.output = output;
    }
}

/// Removes the oldest steps after the last user message. Returns `true` if it removed any.
fn leave_out_steps(items: &mut Vec<TranscriptItem>, target: usize) -> bool {
    let is_user = |item: &TranscriptItem| matches!(item, TranscriptItem::User { .. });
    if size(items) <= target {
        return false;
    }
    let begin = items.iter().rposition(is_user).map_or(0, |at| at + 1);
    let steps = items.get(begin..).unwrap_or_default();
    let begins_step = |at: &usize| {
        let is_result = |at: usize| matches!(steps.get(at), Some(TranscriptItem::Result(_)));
        *at == 0 || (is_result(*at - 1) && !is_result(*at))
    };
    let room = target.saturating_sub(items.get(..begin).map_or(0, size));
    let from = first_that_fits(steps, (0..steps.len()).filter(begins_step), room);
    items.drain(begin..begin + from);
    from > 0
}

fn add_note(items: &mut Vec<TranscriptItem>) {
    let note = UserContent::Text { text: Text::from_static(LEFT_OUT) };
    let user = items.iter_mut().find_map(|item| match item {
        TranscriptItem::User { content } => Some(content),
        _ => None,
    });
    match user {
        // A conversation that is compacted twice needs only one note.
        Some(content) if content.first() == Some(&note) => {}
        Some(content) => content.insert(0, note),
        None => items.insert(0, TranscriptItem::User { content: vec![note] }),
    }
}

fn item_size(item: &TranscriptItem) -> usize {
    match item {
        TranscriptItem::User { content } => content.iter().map(content_size).sum(),
        TranscriptItem::Text { text, metadata } | TranscriptItem::Reasoning { text, metadata } => {
            text.len() + state_size(metadata.as_ref())
        }
        TranscriptItem::Call(call) => {
            call.id.len()
                + call.name.len()
                + call.arguments.as_str().len()
                + state_size(call.metadata.as_ref())
        }
        TranscriptItem::Result(result) => result.call_id.len() + result.output.as_str().len(),
        TranscriptItem::ProviderItem { provider, item } => provider.len() + item.as_str().len(),
    }
}

fn content_size(content: &UserContent) -> usize {
    match content {
        UserContent::Text { text } => text.len(),
        UserContent::File { url, .. } => url.len(),
    }
}

fn state_size(metadata: Option<&ProviderMetadata>) -> usize {
    metadata.and_then(|state| serde_json::to_string(state).ok()).map_or(0, |json| json.len())
}
