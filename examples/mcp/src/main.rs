//! An assistant with the tools of two public MCP servers, which is an MCP server itself. `bash examples/mcp/start.sh` installs
//! the servers and starts it. Without a key, the demo of the quickstart answers.
//!
//! ```sh
//! curl -N http://127.0.0.1:3000/assistant -H 'content-type: application/json' \
//!   -d '{"messages":[{"id":"m1","role":"user","content":"Get the current time in timezone Europe/Rome"}]}'
//! node examples/mcp/client.mjs http://127.0.0.1:3000/assistant/mcp # the official client calls the tools of the assistant
//! ```

use std::error::Error;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;

use axum::Router;
use omniassist_axum::Assistant;
use omniassist_mcp::Expose;
use omniassist_mcp::client::{McpApproval, McpServer};
use quickstart::Settings;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let settings = Settings::from_env().await?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("servers");

    // A process gets the variables of its command and the `PATH`, and no others of this host.
    let script = folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let everything = McpServer::stdio("everything", Command::new("node").arg(script).arg("stdio"));
    let python = folder.join(".python/bin/python");
    let time = McpServer::stdio("time", Command::new(python).args(["-m", "mcp_server_time"]));

    // Every call of a foreign tool needs an approval, unless the host says otherwise, as it does here for both servers.
    let assistant = Assistant::builder(settings.model())
        .tool_source(everything.approval(McpApproval::Never))
        .tool_source(time.approval(McpApproval::Never))
        .mcp_server(Expose::tools().named("gateway"))
        .allow_anonymous()
        .build()?;

    let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port())).await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    serving::serve_axum(listener, serving::stopped(), app).await.shutdown().await;
    Ok(())
}
