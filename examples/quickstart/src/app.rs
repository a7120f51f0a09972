//! The back office and its assistant as one application.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn;
use omniassist_axum::{Assistant, LlmProvider};

use crate::assistant::{self, ChatsAt, Chosen, Config, Shown, USUAL_PORTS};
use crate::back_office::{self, Store};

/// The settings of the environment, and the model that they lead to.
pub struct Settings {
    config: Config,
    chosen: Chosen,
}

impl Settings {
    /// Reads the environment. Looks for a model server on this machine if no variable names a model.
    ///
    /// # Errors
    ///
    /// Fails if a variable has an invalid value, or if the server that a variable names lists no model.
    pub async fn from_env() -> Result<Self, Box<dyn Error + Send + Sync>> {
        let config = Config::read(|name| std::env::var(name).ok())?;
        let chosen = assistant::choose(config.source.clone(), &USUAL_PORTS).await?;
        Ok(Self { config, chosen })
    }

    /// Stores no chats. Default: the database that `QUICKSTART_CHATS` names, or the file `assistant.db`.
    #[must_use]
    pub fn stateless(mut self) -> Self {
        self.config.chats = None;
        self
    }

    /// Returns the place of the chats for people, unless they are not stored.
    #[must_use]
    pub fn chats(&self) -> Option<String> {
        self.config.chats.as_ref().map(ChatsAt::to_string)
    }

    /// Returns the port on 127.0.0.1 to listen on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.config.port
    }

    /// Returns the model.
    #[must_use]
    pub fn model(&self) -> Arc<dyn LlmProvider> {
        Arc::clone(&self.chosen.provider)
    }

    /// Returns the description of the model for people.
    #[must_use]
    pub fn model_note(&self) -> &str {
        &self.chosen.note
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
    own_routes: Router,
    assistant: Assistant,
}

impl BackOffice {
    /// Opens the databases and builds the assistant.
    ///
    /// # Errors
    ///
    /// Fails if a database cannot be opened or the assistant cannot be built.
    pub async fn open(settings: Settings) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let Settings { config, chosen } = settings;
        let (shop, chats) = (config.database, config.chats);
        let open =
            move || Store::open(&shop).map_err(|error| format!("QUICKSTART_DB: {}: {error}", shop.display()));
        let store = tokio::task::spawn_blocking(open).await??;
        let chats = match chats {
            Some(place) => Some(place.open().await?),
            None => None,
        };
        let own_routes = back_office::router(store.clone(), &chosen.model, &chosen.note);
        // A model whose tool calls must be constrained is small, and more tools make it choose worse.
        let components = !config.source.constrains_tools();
        let shown = Shown { components, work: config.show_work, playground: config.playground };
        let Chosen { provider, model, note } = chosen;
        let assistant = assistant::build(provider, store, shown, config.seal_keys, chats, config.runs)?;
        tracing::info!(%model, "{note}");
        Ok(Self { own_routes, assistant })
    }

    /// Returns the assistant without the back office.
    #[must_use]
    pub fn assistant(&self) -> &Assistant {
        &self.assistant
    }

    /// Returns the routes of the back office without the assistant and without the check of the `Host` header.
    pub fn own_routes(&self) -> Router {
        self.own_routes.clone()
    }

    /// Returns the whole application, with the assistant at `/assistant`.
    pub fn router(&self) -> Router {
        router(&self.assistant, self.own_routes())
    }
}

/// Mounts the assistant in the back office.
pub(crate) fn router(assistant: &Assistant, own_routes: Router) -> Router {
    own_routes
        .nest_service("/assistant", omniassist_axum::router(assistant.clone()))
        .layer(from_fn(back_office::guard))
}
