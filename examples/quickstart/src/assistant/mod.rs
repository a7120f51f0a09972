//! The code that the back office got for its assistant.
//!
//! `tools` turns functions of the back office into tools, `components.rs` names what the model can show, `handbook.rs`
//! is a second agent, and [`build`] registers them. The other files choose the model from the environment, so that the
//! example runs with any provider and also without one; an application that has a provider needs
//! `OpenAiProvider::from_env()?` instead of them.

mod chats;
mod components;
mod config;
mod demo;
mod discovery;
mod handbook;
mod model;
mod tools;

use std::sync::Arc;

use omniassist_axum::playground::Playground;
use omniassist_axum::seal::SealKeys;
use omniassist_axum::{Assistant, Limits, LlmProvider, OpenAiEndpoint, Principal};

use crate::back_office::Store;

use chats::Chats;
pub(crate) use chats::ChatsAt;
pub(crate) use config::Config;
pub use config::HELP;
#[cfg(test)]
pub(crate) use demo::{Demo, LABEL};
pub(crate) use discovery::USUAL_PORTS;
pub(crate) use model::{Chosen, choose};
pub use tools::explain;

const SYSTEM_PROMPT: &str = "You are the assistant in the back office of a small shop for office furniture. \
     Use the tools for everything about orders, customers and tickets; never invent data. \
     When a tool fails, say why. Show figures of several rows as a table that the user can tick, and compare them \
     in a chart; do not repeat what these show. Answer briefly.";

/// The parts of the assistant that users and developers see.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    /// `true` if the model can show tables, charts and forms.
    pub(crate) components: bool,
    /// `true` if clients of the OpenAI endpoint also receive the reasoning and the calls of server tools.
    pub(crate) work: bool,
    /// `true` if developers get a page.
    pub(crate) playground: bool,
}

/// Builds the assistant from a model, a system prompt, the data of the back office and the tools that work on it.
///
/// Without `seal_keys`, the assistant makes a key that lasts as long as this process. Without `chats`, each client keeps its
/// own conversations. `runs` is the number of runs at the same time, since there is one user.
pub(crate) fn build(
    provider: Arc<dyn LlmProvider>,
    store: Store,
    shown: Shown,
    seal_keys: Option<SealKeys>,
    chats: Option<Chats>,
    runs: usize,
) -> omniassist_axum::Result<Assistant> {
    let openai = OpenAiEndpoint::new().show_reasoning(shown.work).show_server_tools(shown.work);
    let tools = tools::all(&store);
    let builder = Assistant::builder(provider).system_prompt(SYSTEM_PROMPT).state(store);
    let mut limits = Limits::default();
    limits.max_runs_per_principal = runs;
    let builder = builder.limits(limits).openai_endpoint(openai).object(tools::ticket_object());
    let mut builder = builder.agent(handbook::handbook());
    if let Some(keys) = seal_keys {
        builder = builder.seal_keys(keys);
    }
    builder = match chats {
        // Whoever reaches this server sits at this machine, so there is one user. Chats of anonymous users are not stored.
        // An application that has a login returns its user here.
        Some(chats) => chats.add_to(builder).authenticate(async |_| Ok(Some(Principal::new("local")))),
        None => builder.allow_anonymous(),
    };
    if shown.playground {
        builder = builder.playground(Playground::new());
    }
    let components = shown.components.then(components::all).into_iter().flatten();
    let tools = tools.into_iter().chain(components);
    tools.fold(builder, |builder, tool| builder.tool(tool)).build()
}
