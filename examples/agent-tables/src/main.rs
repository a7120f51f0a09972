//! An assistant whose agents are in tables. Each customer has its own.
//!
//! Run `OPENAI_API_KEY=… cargo run -p agent-tables`, and post messages to `/assistant/api/run/sales` with the header
//! `x-customer: ann`. Change the prompt in `target/agents.db` with the `sqlite3` shell: it is used after 30 s.

use std::error::Error;

use agent_tables::TableAgents;
use axum::Router;
use omniassist_axum::tool::BrowserTools;
use omniassist_axum::{AgentCatalog, Assistant, AuthRequest, OpenAiProvider, Principal, Tool, ToolError};
use serving::{serve_axum, stopped};
use tokio::net::TcpListener;

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
    let agents = TableAgents::open("target/agents.db")?;
    agents.execute(AGENTS)?;
    let catalog = AgentCatalog::new(agents)
        .tool(Tool::new("discount", "Returns the current discount", discount))
        .tools(BrowserTools::all())
        .placeholder("shop", "Lamps Ltd.");
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
    let connections = serve_axum(listener, stopped(), app).await;
    assistant.shutdown().await;
    connections.shutdown().await;
    Ok(())
}
