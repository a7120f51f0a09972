use std::collections::{HashMap, HashSet};

use super::{ToolCall, ToolResult, TranscriptItem, UserContent};
use crate::event::CallKind;
use crate::{JsonText, Text};

/// The result of a call that was stopped, lost, or never answered.
const UNANSWERED: &str = "No result: the call was interrupted or never answered. Its outcome is unknown.";

/// Converts any list of items into a legal one. A legal list is returned unchanged.
///
/// - A result moves directly after the calls of its turn, in the order of the calls. A second result of one call, and a
///   result of no call, is removed.
/// - A call without a result gets one that states this. A second call with the same id is removed.
/// - Arguments that are not a JSON object become the empty object (their result contains the error).
/// - Empty text, and reasoning at the end of a turn, is removed, because providers reject both. So is a provider's item
///   that is not a JSON object.
#[must_use]
pub fn repair(items: Vec<TranscriptItem>) -> Vec<TranscriptItem> {
    if is_legal(&items) {
        return items;
    }
    let mut results = results_by_call(&items);
    let mut seen = HashSet::new();
    let mut repaired = Vec::with_capacity(items.len());
    let mut turn: Vec<TranscriptItem> = Vec::new();
    let mut close = |turn: &mut Vec<TranscriptItem>, repaired: &mut Vec<TranscriptItem>| {
        while matches!(turn.last(), Some(TranscriptItem::Reasoning { .. })) {
            turn.pop();
        }
        let calls: Vec<_> =
            turn.iter().filter_map(TranscriptItem::as_call).map(|call| call.id.clone()).collect();
        repaired.append(turn);
        repaired.extend(calls.into_iter().map(|id| {
            TranscriptItem::Result(results.remove(&id).unwrap_or_else(|| ToolResult {
                call_id: id,
                output: JsonText::from_str_value(UNANSWERED),
                is_error: true,
            }))
        }));
    };
    let mut after_results = false;
    for item in items {
        match item {
            TranscriptItem::User { mut content } => {
                close(&mut turn, &mut repaired);
                content.retain(|piece| !is_empty(piece));
                if !content.is_empty() {
                    repaired.push(TranscriptItem::User { content });
                }
                after_results = false;
            }
            TranscriptItem::Result(_) => after_results = true,
            item => {
                if after_results && turn.iter().any(|item| item.as_call().is_some()) {
                    close(&mut turn, &mut repaired);
                }
                after_results = false;
                turn.extend(keep(item, &mut seen));
            }
        }
    }
    close(&mut turn, &mut repaired);
    repaired
}

/// Returns the results by call. The first result of a call counts.
fn results_by_call(items: &[TranscriptItem]) -> HashMap<Text, ToolResult> {
    let mut results = HashMap::new();
    for item in items {
        if let TranscriptItem::Result(result) = item {
            results.entry(result.call_id.clone()).or_insert_with(|| result.clone());
        }
    }
    results
}

fn is_empty(piece: &UserContent) -> bool {
    matches!(piece, UserContent::Text { text } if text.is_empty())
}

fn fits(call: &ToolCall) -> bool {
    match call.kind {
        CallKind::Function => call.arguments.is_object(),
        CallKind::Custom => call.arguments.as_str().starts_with('"'),
    }
}

/// Returns `true` for an item that providers reject because it is empty.
fn is_void(item: &TranscriptItem) -> bool {
    match item {
        TranscriptItem::Text { text, .. } | TranscriptItem::Reasoning { text, metadata: None } => {
            text.is_empty()
        }
        TranscriptItem::ProviderItem { item, .. } => !item.is_object(),
        _ => false,
    }
}

fn keep(item: TranscriptItem, seen: &mut HashSet<Text>) -> Option<TranscriptItem> {
    match item {
        item if is_void(&item) => None,
        TranscriptItem::Call(mut call) => {
            if !seen.insert(call.id.clone()) {
                return None;
            }
            if !fits(&call) {
                call.kind = CallKind::Function;
                call.arguments = JsonText::EMPTY_OBJECT;
            }
            Some(TranscriptItem::Call(call))
        }
        item => Some(item),
    }
}

/// Returns `true` if the items are legal, as guaranteed by [`repair()`].
#[must_use]
pub fn is_legal(items: &[TranscriptItem]) -> bool {
    let mut seen = HashSet::new();
    let mut rest = items.iter().peekable();
    while let Some(item) = rest.next() {
        match item {
            TranscriptItem::User { content } => {
                if content.is_empty() || content.iter().any(is_empty) {
                    return false;
                }
            }
            TranscriptItem::Result(_) => return false,
            first => {
                let mut calls = Vec::new();
                let mut last = first;
                let mut next = Some(first);
                while let Some(item) = next {
                    match item {
                        item if is_void(item) => return false,
                        TranscriptItem::Call(call) => {
                            if !fits(call) || !seen.insert(call.id.as_str()) {
                                return false;
                            }
                            calls.push(call.id.as_str());
                        }
                        _ => {}
                    }
                    last = item;
                    next = rest.next_if(|item| {
                        !matches!(item, TranscriptItem::User { .. } | TranscriptItem::Result(_))
                    });
                }
                if matches!(last, TranscriptItem::Reasoning { .. }) {
                    return false;
                }
                for id in calls {
                    match rest.next() {
                        Some(TranscriptItem::Result(result)) if result.call_id == id => {}
                        _ => return false,
                    }
                }
            }
        }
    }
    true
}
