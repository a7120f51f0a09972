//! `POST /object` and `POST /object/{name}`, for the AI SDK's `useObject`.

use std::sync::Arc;

use http::{Request, Response, StatusCode};
use http_body::Body;
use omniassist_core::dialect::text;
use omniassist_core::{Error, JsonText, Text, json_guard};

use crate::Assistant;
use crate::endpoint::ObjectEndpoint;
use crate::http::request::receive;
use crate::http::response::Rejection;
use crate::http::{AssistantBody, event_stream};

/// Makes the object with this name. Without a name, makes the only object that is configured.
pub(in crate::http) async fn make<B: Body>(
    assistant: &Assistant,
    name: Option<&str>,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let object = find(assistant, name).ok_or_else(|| {
        let message = match name {
            Some(_) => "There is no object of this name.",
            None => "There is not exactly one object here. Name one: /object/{name}.",
        };
        Rejection::new(StatusCode::NOT_FOUND, "object_not_found", message)
    })?;
    let (mut parts, body) = request.into_parts();
    let body = receive::posted(assistant, &mut parts, body).await?;
    json_guard::check(&body.bytes, assistant.limits().max_json_depth)?;
    let input = Text::from_utf8(body.bytes.clone()).map_err(Error::invalid_json)?;
    let input = JsonText::parse(input).map_err(Error::invalid_json)?;
    // Text is more readable to a model without quotes and escapes.
    let mut run = match input.to_str_value() {
        Some(text) => object.request(&text),
        None => object.request(input.as_str()),
    };
    let mut options = assistant.model_options().as_ref().clone();
    options.response_schema = Some(object.response_schema());
    run.options = Some(Arc::new(options));
    let encoder = text::Encoder::new().whole_only(true);
    event_stream::stream_text(assistant, run, parts.extensions, encoder).await
}

fn find<'a>(assistant: &'a Assistant, name: Option<&str>) -> Option<&'a ObjectEndpoint> {
    let objects = assistant.objects();
    match name {
        Some(name) => objects.iter().find(|object| object.name() == name),
        None => objects.first().filter(|_| objects.len() == 1),
    }
}
