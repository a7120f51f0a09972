//! Three servers on one PostgreSQL and one Redis, behind a proxy, with a page that kills them: `cargo run -p cluster`, then
//! open <http://127.0.0.1:3000>.
//!
//! Ask for something, and kill the server that writes the answer. Another server goes on with it, and the page shows its
//! rest. An approval counts once, whichever server gets it. Stop works through any server.
//!
//! | command | what |
//! |---|---|
//! | `cluster` | all of it, on port 3000 or `PORT`. `CLUSTER_STORE=sqlite:PATH` uses a file in place of PostgreSQL and Redis. |
//! | `cluster server STORE PORT` | one server, with the Redis of `CLUSTER_REDIS` if it is set |
//! | `cluster proxy PORT ADDRESS…` | the proxy alone, for other servers |
//! | `cluster database` | the database alone, until its standard input is closed |

mod database;
mod demo;
mod page;
mod proxy;
mod server;
mod servers;
mod store;

use std::error::Error;
use std::io::{self, Write};
use std::net::SocketAddr;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;
use tracing_subscriber::EnvFilter;

use proxy::Proxy;
use servers::Servers;
use store::Store;

const SERVERS: usize = 3;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => cluster().await,
        ["server", store, port] => server::serve(Store::parse(store)?, port.parse()?).await,
        ["proxy", port, servers @ ..] => {
            let servers =
                servers.iter().map(|server| server.parse()).collect::<Result<Vec<SocketAddr>, _>>()?;
            listen(port.parse()?, Proxy::new(servers).router()).await
        }
        ["database"] => {
            let postgres = spawn_blocking(database::start).await?;
            writeln!(io::stdout(), "{}", postgres.url("postgres"))?;
            server::input_closed().await;
            Ok(())
        }
        _ => Err("usage: cluster [server STORE PORT | proxy PORT ADDRESS… | database]".into()),
    }
}

async fn cluster() -> Result<(), Box<dyn Error + Send + Sync>> {
    let port = serving::port(3000)?;
    // Kept until the servers have ended.
    let mut own = None;
    let (store, redis) = match std::env::var("CLUSTER_STORE") {
        Ok(store) => {
            Store::parse(&store)?;
            (store, std::env::var(store::REDIS).ok())
        }
        Err(_) => {
            let started = spawn_blocking(|| (database::start(), database::start_redis())).await?;
            let (postgres, redis) = own.insert(started);
            (postgres.url("postgres"), Some(redis.url()))
        }
    };
    let servers = Servers::start(&store, redis.as_deref(), SERVERS).await?;
    listen(port, page::router(servers)).await?;
    drop(own);
    Ok(())
}

/// Serves on 127.0.0.1 until Ctrl-C. The routes have no login, so they must not have a public address.
async fn listen(port: u16, app: Router) -> Result<(), Box<dyn Error + Send + Sync>> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    serving::serve_axum(listener, serving::stopped(), app).await;
    Ok(())
}
