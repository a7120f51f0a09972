//! An assistant whose agents are in tables. Each customer has its own.
//!
//! ```sh
//! OPENAI_API_KEY=sk-… cargo run -p agent-tables
//!
//! # In another terminal: the agents of the customer `ann`, and a question to one of them.
//! curl http://127.0.0.1:3000/assistant/agents -H 'x-customer: ann'
//! curl -N http://127.0.0.1:3000/assistant/api/run/sales -H 'x-customer: ann' -H 'content-type: application/json' \
//!   -d '{"messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Any discount?"}]}]}'
//!
//! # Another prompt. It is used after 30 s; the server logs the new version, or what is wrong with it.
//! sqlite3 agents.sqlite3 "update node set data = json_set(data, '$.prompt', 'You advise.') where agent = 'sales' and id = 'a';
//!   update agent set version = version + 1 where id = 'sales'"
//! ```
//!
//! Requests without the header get 401, and other customers have no agent.

use std::error::Error;
use std::io::{self, Write};

use agent_tables::TableAgents;
use axum::Router;
use omniassist_axum::tool::BrowserTools;
use omniassist_axum::{AgentCatalog, Assistant, AuthRequest, OpenAiProvider, Principal, Tool, ToolError};
use serving::{serve_axum, stopped};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

/// The agent of the customer `ann`, unless she has one.
const AGENTS: &str = r#"
    insert or ignore into agent (owner, id, description) values ('ann', 'sales', 'Sells lamps.');
    insert or ignore into node (owner, agent, id, type, data) values
        ('ann', 'sales', 'a', 'agent', '{"prompt": "You sell the lamps of {{shop}}.", "maxSteps": 8}'),
        ('ann', 'sales', 't', 'tool', '{"name": "discount"}'),
        ('ann', 'sales', 'b', 'agent', '{"name": "writer", "description": "Writes a letter.", "prompt": "You write letters."}');
    insert or ignore into edge (owner, agent, source, target) values
        ('ann', 'sales', 'a', 't'), ('ann', 'sales', 'a', 'b');"#;

async fn discount() -> Result<&'static str, ToolError> {
    Ok("10 %")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    let agents = TableAgents::open("agents.sqlite3")?;
    agents.execute(AGENTS)?;
    let catalog = AgentCatalog::new(agents)
        .tool(Tool::new("discount", "Returns the current discount", discount))
        .tools(BrowserTools::all())
        .placeholder("shop", "Bright Lamps");
    let assistant = Assistant::builder(OpenAiProvider::from_env()?)
        .agents(catalog)
        // In place of a login.
        .authenticate(async |request: AuthRequest| {
            let customer = request.headers().get("x-customer").and_then(|name| name.to_str().ok());
            Ok(customer.map(Principal::new))
        })
        .build()?;
    let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant.clone()));
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    let connections = serve_axum(listener, stopped(), app).await;
    assistant.shutdown().await;
    connections.shutdown().await;
    Ok(())
}
