//! The compression of application context to one block.

use std::hint::black_box;

use omniassist_core::ContextMessage;
use omniassist_core::context::ContextCompressor;
use serde_json::{Value, json};

use super::Outcome;

/// The number of messages of one block: the default window.
pub(super) const WINDOW: usize = omniassist_core::context::DEFAULT_WINDOW;

/// Returns the context of a visit to a shop: pages, a cart, a form, feature flags and searches.
pub(super) fn messages() -> Vec<ContextMessage> {
    let kinds = |turn: usize| -> [(&'static str, Value); 5] {
        [
            (
                "navigation",
                json!({"path": format!("/orders/{turn}?tab=lines"), "title": "Order", "from": "/orders"}),
            ),
            ("cart", json!({"count": turn, "total": 18.5, "currency": "EUR"})),
            (
                "form",
                json!({"form": "delivery", "fields": {"street": "Main Street 5", "city": "Springfield", "step": turn}}),
            ),
            ("feature_flag", json!({"name": format!("flag-{turn}"), "on": true})),
            ("search", json!({"query": "blue lamp", "results": turn, "filters": ["in stock", "under 50"]})),
        ]
    };
    (0..WINDOW / 5)
        .flat_map(|turn| kinds(turn).map(|(kind, data)| (turn, kind, data)))
        .map(|(turn, kind, data)| ContextMessage::new(format!("{kind}-{turn}"), kind, data))
        .collect()
}

pub(super) fn whole(events: usize) -> Outcome<usize> {
    let (compressor, messages) = (ContextCompressor::new(), messages());
    let mut count = 0;
    for _ in 0..events {
        let compressed = compressor.compress(black_box(&messages));
        count += usize::from(black_box(&compressed).block().is_some());
    }
    Ok(count)
}

/// Does the work of [`whole`]. An event is one message.
pub(super) fn per_message(events: usize) -> Outcome<usize> {
    let of_window = whole(events.div_ceil(WINDOW))?;
    Ok((of_window * WINDOW).min(events))
}
