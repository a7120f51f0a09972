use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use omniassist_axum::agents::Explore;
use omniassist_axum::store::StoreError;
use omniassist_axum::{
    Assistant, AssistantBuilder, Error, LlmProvider, OpenAiChatProvider, Principal, SqliteStore, TreeLimits,
};

use crate::agents;
use crate::demo::Demo;

const FILES: [(&str, &str, &str); 3] = [
    ("/", "text/html; charset=utf-8", include_str!("../page/index.html")),
    ("/page.js", "text/javascript; charset=utf-8", include_str!("../page/page.js")),
    ("/style.css", "text/css; charset=utf-8", include_str!("../page/style.css")),
];

/// The pause between two words of the demo.
const PACE: Duration = Duration::from_millis(40);

/// Returns the model that the environment names, or the demo.
///
/// # Errors
///
/// Returns an error if the provider refuses its settings.
pub fn model() -> Result<Arc<dyn LlmProvider>, Error> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (key, url) = (variable("OPENAI_API_KEY"), variable("OPENAI_BASE_URL"));
    if key.is_none() && url.is_none() {
        return Ok(Arc::new(Demo { pace: PACE }));
    }
    let mut builder = OpenAiChatProvider::builder();
    if let Some(key) = key {
        builder = builder.api_key(key);
    }
    if let Some(url) = url {
        builder = builder.base_url(url);
    }
    if let Some(model) = variable("OMNIASSIST_MODEL") {
        builder = builder.model(model);
    }
    let is_constrained = variable("OMNIASSIST_CONSTRAINED_TOOLS").as_deref() == Some("1");
    Ok(Arc::new(builder.constrained_tools(is_constrained).build()?))
}

/// Opens the file of the chats that `RESEARCH_DESK_CHATS` names. Returns `None` if it names none.
///
/// # Errors
///
/// Returns an error if the file cannot be opened.
pub fn chats() -> Result<Option<SqliteStore>, StoreError> {
    let path = std::env::var_os("RESEARCH_DESK_CHATS").filter(|path| !path.is_empty());
    path.map(SqliteStore::open).transpose()
}

/// Returns the assistant. Its users need no login, as it listens on this machine only. With a store, there is one user, and the
/// trees of a connection with `?chat=` stay readable.
///
/// # Errors
///
/// Returns an error if the limits allow nothing.
pub fn assistant(model: Arc<dyn LlmProvider>, chats: Option<SqliteStore>) -> Result<Assistant, Error> {
    let builder = Assistant::builder(model)
        .system_prompt("You research questions. Answer in a few sentences.")
        .tree(TreeLimits::new().tokens(200_000).model_calls(60))
        .prepare_step(agents::prepare_step)
        .explore(Explore::new().depth(1));
    let builder = match chats {
        Some(store) => builder.store(store).authenticate(async |_| Ok(Some(Principal::new("local")))),
        None => builder.allow_anonymous(),
    };
    agents::all().into_iter().fold(builder, AssistantBuilder::agent).build()
}

/// Returns the application: the page, and the assistant below `/assistant`.
pub fn app(assistant: Assistant) -> Router {
    let mut router = Router::new();
    for (path, kind, text) in FILES {
        router = router.route(path, get(move || async move { ([(CONTENT_TYPE, kind)], text) }));
    }
    router.nest_service("/assistant", omniassist_axum::router(assistant))
}
