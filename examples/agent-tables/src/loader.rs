use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use omniassist_axum::agent_config::{AgentFuture, AgentSummary, Edge, EdgeKind, Node};
use omniassist_axum::{AgentConfig, AgentLoader, Principal};
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Result, Row};
use serde_json::Value;

/// The data of a node is JSON. A new version has another number, for the log.
const SCHEMA: &str = "
    create table if not exists agent (
        owner text not null, id text not null, version integer not null default 1, description text not null,
        primary key (owner, id));
    create table if not exists node (
        owner text not null, agent text not null, id text not null, type text not null, data text not null default '{}',
        primary key (owner, agent, id), foreign key (owner, agent) references agent);
    create table if not exists edge (
        owner text not null, agent text not null, source text not null, target text not null,
        kind text not null default 'delegate' check (kind in ('delegate', 'handoff')),
        primary key (owner, agent, source, target), foreign key (owner, agent) references agent);";

/// The agents of all customers. Each customer has its own.
#[derive(Debug, Clone)]
pub struct TableAgents(Arc<Mutex<Connection>>);

impl TableAgents {
    /// Opens the database.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Executes SQL that changes agents.
    ///
    /// # Errors
    ///
    /// Fails if the SQL does.
    pub fn execute(&self, sql: &str) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).execute_batch(sql)
    }

    /// Reads on a thread that may wait for the disk.
    fn read<'a, T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> AgentFuture<'a, T> {
        let connection = Arc::clone(&self.0);
        Box::pin(async move {
            let read = move || read(&connection.lock().unwrap_or_else(PoisonError::into_inner));
            Ok(tokio::task::spawn_blocking(read).await??)
        })
    }
}

impl AgentLoader for TableAgents {
    fn load<'a>(&'a self, id: &'a str, principal: &'a Principal) -> AgentFuture<'a, Option<AgentConfig>> {
        let (owner, id) = (principal.id().to_owned(), id.to_owned());
        self.read(move |tables| load(tables, &owner, &id))
    }

    fn list<'a>(&'a self, principal: &'a Principal) -> AgentFuture<'a, Vec<AgentSummary>> {
        let owner = principal.id().to_owned();
        self.read(move |tables| {
            let mut query =
                tables.prepare("select id, description from agent where owner = ?1 order by id")?;
            let summary = |row: &Row<'_>| Ok(AgentSummary::new(text(row, 0)?, text(row, 1)?));
            query.query_map([owner], summary)?.collect()
        })
    }
}

fn load(tables: &Connection, owner: &str, id: &str) -> Result<Option<AgentConfig>> {
    let key = [owner, id];
    let find = "select version, description from agent where owner = ?1 and id = ?2";
    let found = tables.query_row(find, key, |row| Ok((row.get::<_, i64>(0)?, text(row, 1)?))).optional()?;
    let Some((version, description)) = found else { return Ok(None) };
    let mut nodes =
        tables.prepare("select id, type, data from node where owner = ?1 and agent = ?2 order by rowid")?;
    let nodes = nodes.query_map(key, node)?.collect::<Result<_>>()?;
    let mut edges = tables
        .prepare("select source, target, kind from edge where owner = ?1 and agent = ?2 order by rowid")?;
    let edges = edges.query_map(key, edge)?.collect::<Result<_>>()?;
    let config = AgentConfig::graph(id, nodes, edges);
    Ok(Some(config.with_version(version.to_string()).with_description(description)))
}

fn node(row: &Row<'_>) -> Result<Node> {
    let data: Value = serde_json::from_str(&text(row, 2)?)
        .map_err(|error| Error::FromSqlConversionFailure(2, Type::Text, error.into()))?;
    Ok(Node::new(text(row, 0)?, text(row, 1)?, data))
}

fn edge(row: &Row<'_>) -> Result<Edge> {
    let kind = if text(row, 2)? == "handoff" { EdgeKind::Handoff } else { EdgeKind::Delegate };
    Ok(Edge::new(text(row, 0)?, text(row, 1)?).with_kind(kind))
}

fn text(row: &Row<'_>, column: usize) -> Result<String> {
    row.get(column)
}
