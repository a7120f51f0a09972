//! How the assistant is built and mounted.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use axum::Router;
use omniassist_axum::seal::SealKeys;
use omniassist_axum::{Assistant, LlmProvider, OpenAiEndpoint};

use crate::api::{self, Answering};
use crate::config::Config;
use crate::model::Chosen;
use crate::store::Store;
use crate::{discovery, model, tools};

const SYSTEM_PROMPT: &str = "You are the assistant in the back office of a small shop for office furniture. \
     Use the tools for everything about orders, customers and tickets; never invent data. \
     When a tool fails, say why. Answer briefly.";

/// What the environment says, and the model that was found by it.
pub struct Settings {
    config: Config,
    chosen: Chosen,
}

impl Settings {
    /// Reads the environment, and looks for a model server where it leaves that open.
    ///
    /// # Errors
    ///
    /// When a variable has a value that it cannot have, or the server that one names has no model.
    pub async fn from_env() -> Result<Self, Box<dyn Error + Send + Sync>> {
        let config = Config::read(|name| std::env::var(name).ok())?;
        let chosen = model::choose(config.source.clone(), &discovery::USUAL).await?;
        Ok(Self { config, chosen })
    }

    /// Where to listen on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.config.port
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("config", &self.config).finish_non_exhaustive()
    }
}

/// The back office and its assistant, ready to be served.
#[derive(Debug)]
pub struct BackOffice {
    store: Store,
    assistant: Assistant,
    answering: Answering,
}

impl BackOffice {
    /// Opens the database and builds the assistant.
    ///
    /// # Errors
    ///
    /// When either cannot be done.
    pub async fn open(settings: Settings) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let Settings { config, chosen } = settings;
        let path = config.database.clone();
        let store = tokio::task::spawn_blocking(move || Store::open(&path)).await?;
        let store =
            store.map_err(|error| format!("QUICKSTART_DB: {}: {error}", config.database.display()))?;
        let assistant = assistant(chosen.provider, store.clone(), config.show_work, config.seal_keys)?;
        tracing::info!(model = %chosen.answering.model, "{}", chosen.answering.note);
        Ok(Self { store, assistant, answering: chosen.answering })
    }

    /// The assistant by itself.
    #[must_use]
    pub fn assistant(&self) -> &Assistant {
        &self.assistant
    }

    /// The back office without its assistant, and without the guard that stands before both.
    pub fn own_routes(&self) -> Router {
        api::router(self.store.clone(), &self.answering)
    }

    /// All of it, the assistant at `/assistant`.
    pub fn router(&self) -> Router {
        router(&self.assistant, self.own_routes())
    }
}

/// The assistant: a model, what it is told, the host's data and the tools that work on it. `show_work`: whether
/// OpenAI's clients are told of its tools and its reasoning. Without keys it makes one.
pub(crate) fn assistant(
    provider: Arc<dyn LlmProvider>,
    store: Store,
    show_work: bool,
    seal_keys: Option<SealKeys>,
) -> omniassist_axum::Result<Assistant> {
    let openai = OpenAiEndpoint::new().show_reasoning(show_work).show_server_tools(show_work);
    let builder = Assistant::builder(provider).allow_anonymous().system_prompt(SYSTEM_PROMPT).state(store);
    let mut builder = builder.openai_endpoint(openai).object(tools::ticket_object());
    if let Some(keys) = seal_keys {
        builder = builder.seal_keys(keys);
    }
    tools::all().into_iter().fold(builder, |builder, tool| builder.tool(tool)).build()
}

/// The back office that was there before, and the assistant mounted in it.
pub(crate) fn router(assistant: &Assistant, own_routes: Router) -> Router {
    own_routes
        .nest_service("/assistant", omniassist_axum::router(assistant.clone()))
        .layer(axum::middleware::from_fn(api::guard))
}
