//! Builds the assistant and finds the user of a request.

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
use crate::chats::{self, Chats};
use crate::tools;

/// The header with the name of the user.
pub const USER: &str = "x-user";

/// The settings for the check of posted history.
#[derive(Debug, Default)]
pub struct Settings {
    seal_keys: Option<SealKeys>,
    approval_lifetime: Option<Duration>,
    trusting: bool,
}

impl Settings {
    /// Reads the variables that `main.rs` lists.
    ///
    /// # Errors
    ///
    /// Fails if a variable has an invalid value.
    pub fn from_env() -> Result<Self, Box<dyn Error>> {
        let seconds = std::env::var("LEDGER_APPROVAL_SECONDS").ok();
        let seconds = seconds.map(|seconds| seconds.parse()).transpose()?;
        Ok(Self {
            seal_keys: SealKeys::from_env("OMNIASSIST_SEAL_KEYS")?,
            approval_lifetime: seconds.map(Duration::from_secs),
            trusting: std::env::var("LEDGER_TRUSTING").is_ok_and(|word| word == "yes"),
        })
    }
}

/// Builds the assistant on this book.
///
/// # Errors
///
/// Fails if a tool cannot be registered.
pub fn assistant(
    model: impl LlmProvider,
    settings: &Settings,
    book: Book,
) -> omniassist_axum::Result<Assistant> {
    let mut limits = Limits::default();
    if let Some(lifetime) = settings.approval_lifetime {
        limits.approval_lifetime = lifetime;
    }
    let chats = Chats::default();
    let store = chats.clone();
    let mut builder = Assistant::builder(model)
        .allow_anonymous()
        .system_prompt("You keep the ledger. Use the tools; never invent figures.")
        .state(book)
        .state(chats)
        .history_loader(chats::load)
        .on_finish(move |run| std::future::ready(store.save(&run)))
        .limits(limits);
    if let Some(keys) = &settings.seal_keys {
        builder = builder.seal_keys(keys.clone());
    }
    if settings.trusting {
        builder = builder.trust_client_history();
    }
    tools::all().into_iter().fold(builder, |builder, tool| builder.tool(tool)).build()
}

/// Mounts the assistant in the ledger.
pub fn router(assistant: &Assistant, book: Book) -> Router {
    journal(book)
        .nest_service("/assistant", omniassist_axum::router(assistant.clone()))
        .layer(middleware::from_fn(who))
}

/// Returns the route of the ledger without an assistant.
pub fn journal(book: Book) -> Router {
    Router::new().route("/journal", get(entries)).with_state(book)
}

/// Returns the user from the value of [`USER`]. A real application checks a login instead.
#[must_use]
pub fn principal(user: Option<&str>) -> Option<Principal> {
    user.map(Principal::new)
}

async fn who(mut request: Request, next: Next) -> Response {
    let user = request.headers().get(USER).and_then(|name| name.to_str().ok());
    if let Some(principal) = principal(user) {
        request.extensions_mut().insert(principal);
    }
    next.run(request).await
}

#[derive(Deserialize)]
struct Page {
    /// The number of the oldest entries to skip.
    #[serde(default)]
    from: usize,
}

async fn entries(State(book): State<Book>, Query(page): Query<Page>) -> Json<Vec<Entry>> {
    Json(book.journal(page.from))
}
