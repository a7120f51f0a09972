//! An application with an assistant.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::response::Html;
use axum::routing::get;
use axum::serve::Listener;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use omniassist_axum::{Args, Assistant, OpenAiProvider, Principal, RunContext, State, Tool, ToolError};
use tokio::net::TcpListener;

/// The page of the application: the chat, in the whole window. The assistant serves the script.
const PAGE: &str = r#"<!doctype html>
<script type="module" src="/assistant/widget.js"></script>
<omniassist-chat mode="page"></omniassist-chat>"#;

/// The data of the application. Any type that is `Clone + Send + Sync` works.
#[derive(Clone)]
struct Db(Arc<HashMap<u32, String>>);

/// The arguments of the tool. The model reads the doc comments of the fields.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct OrderQuery {
    /// Number of the order.
    number: u32,
}

/// A tool: an async function whose parameters are extractors. It returns any `Serialize` type.
async fn order_status(
    Args(query): Args<OrderQuery>,
    State(db): State<Db>, // `omniassist_axum::State`, not `axum::extract::State`
    user: Principal,
) -> Result<String, ToolError> {
    tracing::info!(user = user.id(), "looks up an order"); // anonymous users have the id ""
    // The model and the user read this text. `?` takes every `Error` type; its text goes to the log only.
    db.0.get(&query.number).cloned().ok_or_else(|| ToolError::new("There is no such order."))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt::init();
    let db = Db(Arc::new(HashMap::from([(1001, "delivered".to_owned())])));

    let assistant = Assistant::builder(OpenAiProvider::from_env()?)
        .system_prompt(|run: &RunContext| format!("You help {}.", run.principal()))
        .state(db)
        .tool(Tool::new("order_status", "Look up an order by its number", order_status))
        .allow_anonymous() // serves everybody; see "Users and keys"
        .build()?;

    let app = Router::new()
        .nest_service("/assistant", omniassist_axum::router(assistant))
        .route("/", get(|| async { Html(PAGE) }));

    // `axum::serve` has no timeouts for clients that send nothing, so hyper serves the application.
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30));
    let mut listener = TcpListener::bind("127.0.0.1:3000").await?;
    loop {
        let (socket, peer) = Listener::accept(&mut listener).await;
        let _ = socket.set_nodelay(true); // sends each token at once
        let app = app.clone().layer(Extension(ConnectInfo(peer)));
        let service = TowerToHyperService::new(app);
        let connection = http.serve_connection(TokioIo::new(socket), service).with_upgrades();
        tokio::spawn(async move { drop(connection.await) });
    }
}
