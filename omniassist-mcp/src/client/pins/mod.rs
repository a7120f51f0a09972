//! The definitions of tools that the application has accepted.

mod change;
mod file;
mod policy;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use omniassist_core::{JsonText, Text};
use tokio::sync::watch;

use super::McpError;
use super::definition::Definition;
use crate::sync::lock;
use file::PinFile;
pub use policy::PinPolicy;

/// The definitions of tools that the application has accepted. Clones share them.
///
/// A definition is the name, the title, the description, the schemas of input and output, and the annotations. A server that
/// changes one after it was accepted could turn a tool that was harmless into another.
///
/// ```
/// use omniassist_mcp::client::{McpServer, PinPolicy, Pins};
///
/// let pins = Pins::memory(PinPolicy::Ask);
/// let docs = McpServer::http("docs", "https://mcp.example.com/mcp").pins(pins.clone());
/// // When an operator has read them:
/// for tool in pins.pending() {
///     println!("{} of {}: {}", tool.name, tool.server, tool.definition);
///     pins.accept(&tool)?;
/// }
/// # let _ = docs;
/// # Ok::<(), omniassist_mcp::client::McpError>(())
/// ```
#[derive(Clone)]
pub struct Pins {
    inner: Arc<Inner>,
}

struct Inner {
    policy: PinPolicy,
    file: Option<PinFile>,
    kept: Mutex<Kept>,
    /// Counts the tools that were accepted.
    accepted: watch::Sender<u64>,
}

#[derive(Default)]
struct Kept {
    /// The canonical definitions by server and name.
    pinned: Pinned,
    pending: BTreeMap<(Text, Text), JsonText>,
}

type Pinned = BTreeMap<Text, BTreeMap<Text, JsonText>>;

/// A tool that waits until the application accepts it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PendingTool {
    /// The name of the server.
    pub server: Text,
    /// The name that the server gives the tool.
    pub name: Text,
    /// Its definition, as the server sent it.
    pub definition: JsonText,
    /// The definition that was accepted before, if there was one.
    pub accepted: Option<JsonText>,
}

/// The decision about a tool.
pub(super) enum Checked {
    Offered,
    /// Withheld, with the reason.
    Withheld(&'static str),
}

impl Pins {
    /// Keeps the pins in memory. After a restart every tool is new.
    #[must_use]
    pub fn memory(policy: PinPolicy) -> Self {
        Self::new(policy, None, Pinned::new())
    }

    /// Keeps the pins in a file. A file that does not exist has no pins. It is read now, and again for a tool that is new or
    /// changed. It is replaced when a tool is accepted.
    ///
    /// Processes can share it, and keep the pins of each other. A tool that one has accepted is offered by another when that
    /// one next reads the list of the server. They lock a file beside it, which has the same name with `.guard` at its end.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn file(path: impl Into<PathBuf>, policy: PinPolicy) -> Result<Self, McpError> {
        let file = PinFile::new(path.into());
        let pinned = file.read()?;
        Ok(Self::new(policy, Some(file), pinned))
    }

    fn new(policy: PinPolicy, file: Option<PinFile>, pinned: Pinned) -> Self {
        let kept = Mutex::new(Kept { pinned, pending: BTreeMap::new() });
        Self { inner: Arc::new(Inner { policy, file, kept, accepted: watch::Sender::new(0) }) }
    }

    /// Returns the tools that wait, sorted by server and name.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingTool> {
        let kept = self.lock();
        let pending = kept.pending.iter().map(|((server, name), definition)| PendingTool {
            server: server.clone(),
            name: name.clone(),
            definition: definition.clone(),
            accepted: kept.pinned.get(server).and_then(|tools| tools.get(name)).cloned(),
        });
        pending.collect()
    }

    /// Accepts a tool with exactly this definition. The next run has it, as long as the server has not changed it again.
    ///
    /// # Errors
    ///
    /// Returns an error if the server offers another definition by now, or the file cannot be written. Nothing is accepted
    /// then.
    pub fn accept(&self, tool: &PendingTool) -> Result<(), McpError> {
        {
            let mut kept = self.lock();
            let key = (tool.server.clone(), tool.name.clone());
            if kept.pending.get(&key).is_none_or(|pending| pending.as_str() != tool.definition.as_str()) {
                return Err(McpError::unknown_tool());
            }
            self.inner.change(&mut kept.pinned, |pinned| {
                let of_server = pinned.entry(tool.server.clone()).or_default();
                of_server.insert(tool.name.clone(), tool.definition.clone());
            })?;
            kept.pending.remove(&key);
        }
        self.inner.accepted.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Waits for tools that are accepted.
    pub(super) fn accepted(&self) -> watch::Receiver<u64> {
        self.inner.accepted.subscribe()
    }

    /// Decides about the tools of a server. The results are in their order.
    pub(super) fn check(&self, server: &Text, tools: &[Arc<Definition>]) -> Vec<Checked> {
        if self.inner.policy == PinPolicy::Trust {
            return tools.iter().map(|_| Checked::Offered).collect();
        }
        let mut kept = self.lock();
        kept.pending.retain(|(of, _), _| of != server);
        if !tools.iter().all(|tool| kept.has(server, tool)) {
            self.inner.read_again(&mut kept.pinned);
        }
        let mut seen = Vec::new();
        let checked = tools.iter().map(|tool| {
            if kept.has(server, tool) {
                return Checked::Offered;
            }
            let pinned = kept.pinned.get(server).and_then(|tools| tools.get(&tool.name));
            let reason = match pinned {
                None => "it is new, and was not accepted yet",
                Some(pinned) => {
                    change::log(server, tool, pinned);
                    "its definition has changed, and was not accepted yet"
                }
            };
            if self.inner.policy == PinPolicy::Ask {
                kept.pending.insert((server.clone(), tool.name.clone()), tool.canonical.clone());
                return Checked::Withheld(reason);
            }
            seen.push((tool.name.clone(), tool.canonical.clone()));
            Checked::Offered
        });
        let checked = checked.collect();
        if !seen.is_empty() {
            let saved = self.inner.change(&mut kept.pinned, |pinned| {
                pinned.entry(server.clone()).or_default().extend(seen);
            });
            if let Err(error) = saved {
                tracing::error!(server = server.as_str(), error = ?error, "the pins of an MCP server are not saved");
            }
        }
        checked
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        lock(&self.inner.kept)
    }
}

impl Inner {
    /// Changes the pins, and what the file has.
    fn change(&self, pinned: &mut Pinned, change: impl FnOnce(&mut Pinned)) -> Result<(), McpError> {
        match &self.file {
            Some(file) => *pinned = file.change(change)?,
            None => change(pinned),
        }
        Ok(())
    }

    /// Reads the pins again that another process may have changed.
    fn read_again(&self, pinned: &mut Pinned) {
        match self.file.as_ref().map(PinFile::read) {
            Some(Ok(read)) => *pinned = read,
            Some(Err(error)) => {
                tracing::error!(error = ?error, "the pins of MCP servers cannot be read again");
            }
            None => {}
        }
    }
}

impl Kept {
    /// Returns `true` if a tool of a server was accepted with exactly this definition.
    fn has(&self, server: &Text, tool: &Definition) -> bool {
        let pinned = self.pinned.get(server).and_then(|tools| tools.get(&tool.name));
        pinned.is_some_and(|pinned| pinned.as_str() == tool.canonical.as_str())
    }
}

impl fmt::Debug for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pins").field("policy", &self.inner.policy).finish_non_exhaustive()
    }
}
