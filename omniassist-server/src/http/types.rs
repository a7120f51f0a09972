//! `GET /types.d.ts`.

use std::sync::Arc;

use http::{Extensions, Response, StatusCode};
use omniassist_core::typescript;

use super::AssistantBody;
use super::response::reply;
use crate::Assistant;

/// Returns the declarations of the tools and components that the sender of a request sees.
pub(super) fn answer(assistant: &Assistant, extensions: &Extensions) -> Response<AssistantBody> {
    let tools = assistant.visible_tools(extensions);
    let specs: Vec<_> = tools.registered().map(|tool| Arc::clone(tool.spec())).collect();
    let components = tools.registered().filter_map(|tool| tool.declaration());
    let types = typescript::declarations_with(&specs, &components.collect::<Vec<_>>());
    reply::text(StatusCode::OK, reply::PLAIN_TEXT, types)
}
