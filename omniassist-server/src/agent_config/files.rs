use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{self, Path, PathBuf};
use std::sync::{Arc, Mutex};

use tokio::task::spawn_blocking;
use tracing::{Span, dispatcher};

use super::blueprint::is_agent_name;
use super::error::{AgentConfigError, Kind};
use super::log_once::{LogOnce, hash};
use super::{AgentConfig, AgentFuture, AgentLoader, AgentSummary};
use crate::one_line::OneLine;
use crate::{BoxError, Principal, one_line, sync};

/// The bytes of the largest file.
const MAX_FILE: u64 = 1024 * 1024;

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
/// the agent stays as it was, and the log names the error, once for each version of the file. A list has the agents whose
/// files have no error, or had none before. Without the folder there are no agents.
///
/// [`build`](crate::AssistantBuilder::build) reads all files, and logs their errors. Other files of the folder are ignored,
/// with a warning; subfolders, and names that begin with a dot, without one. A file has at most 1 MiB.
#[derive(Debug, Clone)]
pub struct FileAgents {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// The last good entry of each file, for lists.
    listed: Mutex<BTreeMap<String, Option<AgentSummary>>>,
    /// The errors of agents, and the files that are ignored, that are in the log.
    failed: LogOnce<String>,
    ignored: LogOnce<OsString>,
}

impl FileAgents {
    /// Creates a loader of the files of a folder. The folder is read when an agent is used.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let (folder, listed) = (folder.into(), Mutex::default());
        let (failed, ignored) = (LogOnce::default(), LogOnce::default());
        Self { inner: Arc::new(Inner { folder, listed, failed, ignored }) }
    }

    /// Reads on a thread that may wait for the disk, and logs as the caller does.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Inner) -> Result<T, AgentConfigError> + Send + 'static,
    ) -> Result<T, BoxError> {
        let inner = Arc::clone(&self.inner);
        let (log, span) = (dispatcher::get_default(Clone::clone), Span::current());
        let read = move || dispatcher::with_default(&log, || span.in_scope(|| read(&inner)));
        Ok(spawn_blocking(read).await??)
    }
}

impl AgentLoader for FileAgents {
    fn load<'a>(&'a self, id: &'a str, _principal: &'a Principal) -> AgentFuture<'a, Option<AgentConfig>> {
        let id = id.to_owned();
        Box::pin(self.read(move |inner| inner.load(&id)))
    }

    fn list<'a>(&'a self, _principal: &'a Principal) -> AgentFuture<'a, Vec<AgentSummary>> {
        Box::pin(self.read(Inner::list))
    }

    fn is_per_principal(&self) -> bool {
        false
    }

    fn at_build(&self) -> Vec<Result<AgentConfig, AgentConfigError>> {
        match self.inner.files() {
            Ok(files) => files.iter().map(|(id, files)| self.inner.read(id, files)).collect(),
            Err(error) => vec![Err(error)],
        }
    }
}

impl Inner {
    fn load(&self, id: &str) -> Result<Option<AgentConfig>, AgentConfigError> {
        self.files()?.get(id).map(|files| self.read(id, files)).transpose()
    }

    fn list(&self) -> Result<Vec<AgentSummary>, AgentConfigError> {
        let mut listed = sync::lock(&self.listed);
        let files = self.files()?;
        listed.retain(|id, _| files.contains_key(id));
        for (id, files) in &files {
            if let Ok(config) = self.read(id, files)
                && let Ok(summary) = AgentSummary::of(&config)
            {
                listed.insert(id.clone(), (!config.is_internal()).then_some(summary));
            }
        }
        Ok(listed.values().flatten().cloned().collect())
    }

    /// Reads the configuration of an agent, and logs its error once for each version of the file.
    fn read(&self, id: &str, files: &[PathBuf]) -> Result<AgentConfig, AgentConfigError> {
        let read = read(id, files).and_then(|config| match config.blueprints() {
            Ok(_) => Ok(config),
            Err(error) => Err(config.name_in(error)),
        });
        read.map_err(|error| {
            if self.failed.is_new(id.to_owned(), error.fingerprint()) {
                tracing::error!(agent = id, error = %one_line::chain(&error), "a file has no agent");
            }
            error.with_id(id.into()).logged()
        })
        .inspect(|_| self.failed.forget(&id.to_owned()))
    }

    /// Returns the files of each agent. The names are compared exactly, also where the file system ignores case.
    fn files(&self) -> Result<BTreeMap<String, Vec<PathBuf>>, AgentConfigError> {
        let failed = |error: io::Error| {
            let is_missing = error.kind() == io::ErrorKind::NotFound;
            let kind = if is_missing { Kind::NoFolder } else { Kind::Unreadable };
            let folder = path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
            AgentConfigError::new("", kind).with_source(error).in_file(folder)
        };
        let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let is_config = path.extension().is_some_and(|name| name == "toml" || name == "json");
            match path.file_stem().and_then(|name| name.to_str()) {
                Some(id) if is_config && is_agent_name(id) => {
                    files.entry(id.to_owned()).or_default().push(path);
                }
                _ => self.ignore(&path, is_config),
            }
        }
        Ok(files)
    }

    /// Warns of a file that configures no agent, once.
    fn ignore(&self, path: &Path, is_config: bool) {
        let Some(name) = path.file_name() else { return };
        if name.as_encoded_bytes().starts_with(b".") || path.is_dir() || !self.ignored.is_new(name.into(), ())
        {
            return;
        }
        let reason = match is_config {
            true => "its name is not 1 to 64 of [A-Za-z0-9_-], or is default, stop or stream",
            false => "it does not end with .toml or .json",
        };
        tracing::warn!(file = %OneLine(path.display()), reason, "a file in the folder of agents is ignored");
    }
}

fn read(id: &str, files: &[PathBuf]) -> Result<AgentConfig, AgentConfigError> {
    let [file] = files else {
        let file = files.iter().min().cloned().unwrap_or_default();
        return Err(AgentConfigError::new("", Kind::TwoFiles).in_file(file));
    };
    let mut content = 0;
    read_file(id, file, &mut content).map_err(|error| error.in_file(file).of_content(content))
}

/// Reads a file, and sets a hash of its text, which an error has too.
fn read_file(id: &str, file: &Path, content: &mut u64) -> Result<AgentConfig, AgentConfigError> {
    let unreadable = |error: io::Error| AgentConfigError::new("", Kind::Unreadable).with_source(error);
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(unreadable)?;
    opened.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    *content = hash(&bytes);
    if bytes.len() as u64 > MAX_FILE {
        return Err(AgentConfigError::new("", Kind::TooMany { what: "bytes", most: 1024 * 1024 }));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| AgentConfigError::new("", Kind::Syntax).with_source(error.utf8_error()))?;
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let config = match file.extension() {
        Some(toml) if toml == "toml" => AgentConfig::from_toml(text)?,
        _ => AgentConfig::from_json(text)?,
    };
    config.of_file(id, file, *content)
}
