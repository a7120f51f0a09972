//! Tests of the checks before a request is read: authentication, origin and content.

mod auth;
mod bodies;
mod cors;
mod headers;
mod held;
mod hosts;
mod injection;
mod json;
mod matrix;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod outbound;
mod payloads;
mod principals;
mod routes;
mod uploads;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::{Assistant, AssistantBuilder, ObjectEndpoint};

#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct Invoice {
    /// In cents.
    total: u64,
}

/// Returns a model that always answers, and the builder of an assistant that serves every route with it.
fn builder() -> (ScriptedProvider, AssistantBuilder) {
    let model = ScriptedProvider::new().otherwise(|_| text("{\"total\":1}"));
    let builder = Assistant::builder(model.clone());
    (model, builder.object(ObjectEndpoint::new::<Invoice>("invoice", "Read the invoice.")))
}

fn serve(builder: AssistantBuilder) -> AssistantService {
    AssistantService::new(builder.build().unwrap())
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    status: u16,
    headers: http::HeaderMap,
    body: String,
}

impl Answer {
    async fn of(response: Response<AssistantBody>) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = String::from_utf8(body.into()).unwrap();
        Self { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

async fn answer(service: &AssistantService, request: Request<Full<Bytes>>) -> Answer {
    Answer::of(service.handle(request).await).await
}
