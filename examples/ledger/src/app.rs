//! How the assistant is set up, and whose request it is.

use std::error::Error;
use std::time::Duration;

use axum::extract::{Query, Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use omniassist_axum::seal::SealKeys;
use omniassist_axum::{Assistant, Limits, LlmProvider, Principal};
use serde::Deserialize;

use crate::book::{Book, Entry};
use crate::tools;

/// What the environment says of how posted history is treated.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) seal_keys: Option<SealKeys>,
    pub(crate) approval_lifetime: Option<Duration>,
    pub(crate) trusting: bool,
}

impl Settings {
    pub(crate) fn from_env() -> Result<Self, Box<dyn Error>> {
        let seconds = std::env::var("LEDGER_APPROVAL_SECONDS").ok();
        let seconds = seconds.map(|seconds| seconds.parse()).transpose()?;
        Ok(Self {
            seal_keys: SealKeys::from_env("LEDGER_SEAL_KEYS")?,
            approval_lifetime: seconds.map(Duration::from_secs),
            trusting: std::env::var("LEDGER_TRUSTING").is_ok_and(|word| word == "yes"),
        })
    }
}

pub(crate) fn assistant(
    model: impl LlmProvider,
    settings: &Settings,
    book: Book,
) -> omniassist_axum::Result<Assistant> {
    let mut limits = Limits::default();
    if let Some(lifetime) = settings.approval_lifetime {
        limits.approval_lifetime = lifetime;
    }
    let mut builder = Assistant::builder(model)
        .allow_anonymous()
        .system_prompt("You keep the ledger. Use the tools; never invent figures.")
        .state(book)
        .limits(limits);
    if let Some(keys) = &settings.seal_keys {
        builder = builder.seal_keys(keys.clone());
    }
    if settings.trusting {
        builder = builder.trusting();
    }
    tools::all().into_iter().fold(builder, |builder, tool| builder.tool(tool)).build()
}

pub(crate) fn router(assistant: &Assistant, book: Book) -> Router {
    Router::new()
        .route("/journal", get(journal))
        .with_state(book)
        .nest_service("/assistant", omniassist_axum::router(assistant.clone()))
        .layer(middleware::from_fn(who))
}

/// Believes what a header says, in the place of a login.
async fn who(mut request: Request, next: Next) -> Response {
    let user = request.headers().get("x-user").and_then(|name| name.to_str().ok());
    if let Some(principal) = user.map(Principal::new) {
        request.extensions_mut().insert(principal);
    }
    next.run(request).await
}

#[derive(Deserialize)]
struct Page {
    /// Entries to skip; those are the oldest.
    #[serde(default)]
    from: usize,
}

async fn journal(State(book): State<Book>, Query(page): Query<Page>) -> Json<Vec<Entry>> {
    Json(book.journal(page.from))
}
