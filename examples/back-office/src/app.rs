//! The back office and its assistant.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use omniassist_axum::audit::{AuditLog, JsonLinesFile};
use omniassist_axum::core::filter::Pii;
use omniassist_axum::files::FolderStore;
use omniassist_axum::throttle::{Attempt, InMemoryTokenBudget};
use omniassist_axum::{Assistant, Principal};
use quickstart::{Settings, Store};

use crate::agents;
use crate::conversations::{self, Conversations};
use crate::decisions::{self, SmallModel};
use crate::staff::{self, Member, Suspended};
use crate::tools;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The back office and its assistant, ready to be served.
#[derive(Debug)]
pub struct BackOffice {
    own_routes: Router,
    assistant: Assistant,
}

impl BackOffice {
    /// Opens the files of the shop, and builds the assistant on the model of these settings.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be opened or a variable has an invalid value.
    pub fn open(settings: &Settings) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let folder = PathBuf::from(variable("BACK_OFFICE_DATA").unwrap_or("target/back-office".to_owned()));
        std::fs::create_dir_all(&folder)?;
        let tokens = variable("BACK_OFFICE_TOKENS").map_or(Ok(1_000_000), |tokens| tokens.parse())?;

        let conversations = Conversations::default();
        let saved = conversations.clone();
        let audit = JsonLinesFile::open(folder.join("audit.jsonl"))?.rotate(10 << 20, 5);
        let budget = InMemoryTokenBudget::new(tokens, DAY).per(branch);
        let mut assistant = Assistant::builder(settings.model())
            .authenticate(staff::sign_in)
            .state(Store::open(&folder.join("shop.sqlite3"))?)
            .state(Suspended::default())
            .state(SmallModel(variable("BACK_OFFICE_SMALL_MODEL")))
            .prepare(decisions::prepare)
            .input_guard(decisions::input_guard)
            .before_tool(decisions::before_tool)
            .after_tool(decisions::after_tool)
            .output_filter(Pii::new())
            .token_budget(budget)
            .files(FolderStore::open(folder.join("files"))?)
            .audit(AuditLog::new(audit).record_arguments(true))
            .on_finish(move |run| {
                let saved = saved.clone();
                async move { saved.save(run).await }
            })
            .seal_keys_from_env("OMNIASSIST_SEAL_KEYS")
            .agents(agents::in_files());
        for tool in tools::all() {
            assistant = assistant.tool(tool);
        }
        for agent in agents::all() {
            assistant = assistant.agent(agent);
        }
        let own_routes =
            Router::new().route("/conversations/{chat}", get(conversations::show)).with_state(conversations);
        Ok(Self { own_routes, assistant: assistant.build()? })
    }

    /// Returns the assistant.
    #[must_use]
    pub fn assistant(&self) -> &Assistant {
        &self.assistant
    }

    /// Returns the routes of the back office without the assistant.
    pub fn own_routes(&self) -> Router {
        self.own_routes.clone()
    }

    /// Returns the whole application, with the assistant at `/assistant`.
    pub fn router(&self) -> Router {
        self.own_routes().nest_service("/assistant", omniassist_axum::router(self.assistant.clone()))
    }
}

/// Returns the account that a run's tokens count for: the branch of its member.
fn branch(attempt: &Attempt<'_>) -> Principal {
    let member = Member::named(attempt.principal().id());
    member.map_or_else(Principal::anonymous, |member| Principal::new(format!("branch:{}", member.branch)))
}
