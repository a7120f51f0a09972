//! `POST /object` and `POST /object/{name}`, for `useObject`.

use std::sync::Arc;

use http::{Request, Response, StatusCode};
use http_body::Body;
use omniassist_core::dialect::text;
use omniassist_core::{Error, JsonText, Text};

use super::read::{Refusal, json_body};
use super::{AssistantBody, reply};
use crate::Assistant;
use crate::endpoint::ObjectEndpoint;

/// Makes the object with this name; without one, the only object there is.
pub(super) async fn make<B: Body>(
    assistant: &Assistant,
    name: Option<&str>,
    request: Request<B>,
) -> Response<AssistantBody> {
    let Some(object) = find(assistant, name) else {
        let message = match name {
            Some(_) => "There is no object of this name.",
            None => "There is not exactly one object here. Name one: /object/{name}.",
        };
        return reply::error(StatusCode::NOT_FOUND, "object_not_found", message);
    };
    match answer(assistant, object, request).await {
        Ok(response) => response,
        Err(refusal) => reply::refusal(&refusal),
    }
}

fn find<'a>(assistant: &'a Assistant, name: Option<&str>) -> Option<&'a ObjectEndpoint> {
    let objects = assistant.objects();
    match name {
        Some(name) => objects.iter().find(|object| object.name() == name),
        None => objects.first().filter(|_| objects.len() == 1),
    }
}

async fn answer<B: Body>(
    assistant: &Assistant,
    object: &ObjectEndpoint,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Refusal> {
    let (parts, body) = request.into_parts();
    let body = json_body(&parts.headers, body, assistant.limits()).await?;
    let input = Text::from_utf8(body).map_err(Error::invalid_json)?;
    let input = JsonText::parse(input).map_err(Error::invalid_json)?;
    // Text that the user typed is more readable to a model without quotes and escapes.
    let run = match input.to_str_value() {
        Some(text) => object.request(&text),
        None => object.request(input.as_str()),
    };
    let mut options = assistant.model_options().as_ref().clone();
    options.response_schema = Some(object.response_schema());
    let mut run = run;
    run.options = Some(Arc::new(options));
    let encoder = text::Encoder::new().whole_only(true);
    let opened = reply::stream_opened(assistant, run, parts.extensions, text::HEADERS, encoder).await;
    Ok(opened.unwrap_or_else(|reason| reply::no_text(&reason)))
}
