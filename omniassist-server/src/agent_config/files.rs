use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tokio::task::spawn_blocking;

use super::blueprint::is_agent_name;
use super::error::{AgentConfigError, Kind};
use super::{AgentConfig, AgentFuture, AgentLoader, AgentSummary};
use crate::{Principal, one_line, sync};

/// The bytes of the largest file.
const MOST: u64 = 1024 * 1024;

type BoxError = Box<dyn StdError + Send + Sync>;

/// Agents in files: `agents/sales.toml` or `agents/sales.json` configures the agent `sales`, for all users. It needs the
/// feature `agent-files`.
///
/// ```toml
/// # agents/sales.toml
/// description = "Answers questions about offers."
/// prompt = "You sell the lamps of {{shop}}."
/// tools = ["discount"]
/// delegates = ["stock"]
/// maxSteps = 8
/// ```
///
/// A file is read again when an agent is used after the [`ttl`](super::AgentCatalog::ttl). While a changed file has an error,
/// the agent stays as it was, and the log names the error. Other files of the folder, and its subfolders, are ignored. A
/// file has at most 1 MiB.
#[derive(Debug, Clone)]
pub struct FileAgents {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// The last good entry of each file, for lists.
    listed: Mutex<BTreeMap<String, Option<AgentSummary>>>,
}

impl FileAgents {
    /// Creates a loader of the files of a folder. The folder is read when an agent is used.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { inner: Arc::new(Inner { folder: folder.into(), listed: Mutex::default() }) }
    }
}

impl AgentLoader for FileAgents {
    fn load<'a>(&'a self, id: &'a str, _principal: &'a Principal) -> AgentFuture<'a, Option<AgentConfig>> {
        let (inner, id) = (Arc::clone(&self.inner), id.to_owned());
        Box::pin(async move { spawn_blocking(move || inner.load(&id)).await? })
    }

    fn list<'a>(&'a self, _principal: &'a Principal) -> AgentFuture<'a, Vec<AgentSummary>> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move { spawn_blocking(move || inner.list()).await? })
    }

    fn is_per_principal(&self) -> bool {
        false
    }
}

impl Inner {
    fn load(&self, id: &str) -> Result<Option<AgentConfig>, BoxError> {
        match self.files()?.get(id) {
            Some(files) => Ok(Some(read(id, files)?)),
            None => Ok(None),
        }
    }

    fn list(&self) -> Result<Vec<AgentSummary>, BoxError> {
        let mut listed = sync::lock(&self.listed);
        let files = self.files()?;
        listed.retain(|id, _| files.contains_key(id));
        for (id, files) in &files {
            let summary = read(id, files).and_then(|config| {
                let summary = AgentSummary::of(&config)?;
                Ok((!config.is_internal()).then_some(summary))
            });
            match summary {
                Ok(summary) => drop(listed.insert(id.clone(), summary)),
                Err(error) => {
                    tracing::error!(agent = id, error = %one_line::chain(&error), "a file has no agent");
                }
            }
        }
        Ok(listed.values().flatten().cloned().collect())
    }

    /// Returns the files of each agent. The names are compared exactly, also where the file system ignores case.
    fn files(&self) -> Result<BTreeMap<String, Vec<PathBuf>>, AgentConfigError> {
        let failed = |error: io::Error| {
            AgentConfigError::new("", Kind::Syntax).with_source(error).in_file(&self.folder)
        };
        let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let is_config = path.extension().is_some_and(|name| name == "toml" || name == "json");
            match path.file_stem().and_then(|name| name.to_str()) {
                Some(id) if is_config && is_agent_name(id) => {
                    files.entry(id.to_owned()).or_default().push(path);
                }
                _ => {}
            }
        }
        Ok(files)
    }
}

fn read(id: &str, files: &[PathBuf]) -> Result<AgentConfig, AgentConfigError> {
    let [file] = files else {
        let file = files.first().cloned().unwrap_or_default();
        return Err(AgentConfigError::new("", Kind::TwoFiles).in_file(file));
    };
    read_file(id, file).map_err(|error| error.in_file(file))
}

fn read_file(id: &str, file: &Path) -> Result<AgentConfig, AgentConfigError> {
    let unreadable = |error: io::Error| AgentConfigError::new("", Kind::Syntax).with_source(error);
    let mut text = String::new();
    let opened = File::open(file).map_err(unreadable)?;
    opened.take(MOST + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MOST {
        return Err(AgentConfigError::new("", Kind::TooMany { what: "bytes", most: 1024 * 1024 }));
    }
    let config = match file.extension() {
        Some(toml) if toml == "toml" => AgentConfig::from_toml(&text)?,
        _ => AgentConfig::from_json(&text)?,
    };
    config.of_file(id, file)
}
