use std::error::Error as StdError;
use std::fmt;
use std::path::{Path, PathBuf};

use omniassist_core::Text;

use super::cache::Unavailable;
use super::log_once::hash;
use crate::{BoxError, one_line};

/// The most names that an error lists.
const LISTED: usize = 20;

/// The error of a configuration that no agent can be made of.
///
/// Its text names the file, the JSON path of what is wrong, and the remedy:
/// `agents/sales.toml: tools[1]: there is no tool "discont"; there are: discount, offers`.
pub struct AgentConfigError {
    inner: Box<Inner>,
}

struct Inner {
    kind: Kind,
    path: String,
    file: Option<PathBuf>,
    /// The id of the configuration.
    id: Text,
    /// A hash of the text of the file, so that the log tells each version once.
    content: u64,
    is_logged: bool,
    source: Option<BoxError>,
}

/// The reason of an [`AgentConfigError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The text is not JSON or TOML. The source says where.
    Syntax,
    /// The file cannot be read. The source says why.
    #[cfg(feature = "agent-files")]
    Unreadable,
    /// The folder does not exist.
    #[cfg(feature = "agent-files")]
    NoFolder,
    /// A value has another type, or is missing. The source says which.
    Shape,
    /// A key that has no meaning, the one that is perhaps meant, and those that there are.
    UnknownKey { meant: Option<&'static str>, known: Vec<&'static str> },
    /// The type of a node.
    UnknownType(Text),
    /// The type of a node, or the kind of an edge, that this version cannot run.
    NotAvailable(Text),
    /// A name of something that code has not registered.
    Unknown { what: &'static str, name: Text, known: Vec<Text> },
    /// A name that two have.
    Twice(Text),
    /// A name of an agent that a URL and a model cannot use.
    Name(Text),
    /// The configuration has another id than the one that was asked for.
    OtherId { asked: Text, id: Text },
    /// A text that is missing, or empty.
    Empty,
    /// A limit of configurations.
    TooMany { what: &'static str, most: usize },
    /// A graph does not say which of its agents answers.
    NoEntry,
    /// An edge that leads from something else than an agent, or to its own source.
    Edge,
    /// `{{` without an end.
    OpenPlaceholder,
    /// Two files have the configuration.
    #[cfg(feature = "agent-files")]
    TwoFiles,
    /// The agent or a tool cannot be registered. The source says why.
    Refused,
}

impl AgentConfigError {
    pub(crate) fn new(path: impl Into<String>, kind: Kind) -> Self {
        let (file, id, content, is_logged, source) = Default::default();
        Self { inner: Box::new(Inner { kind, path: path.into(), file, id, content, is_logged, source }) }
    }

    pub(crate) fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Adds the id of the configuration.
    pub(super) fn with_id(mut self, id: Text) -> Self {
        self.inner.id = id;
        self
    }

    /// Adds a hash of the text of the file.
    pub(super) fn of_content(mut self, content: u64) -> Self {
        self.inner.content = content;
        self
    }

    /// Marks the error as one that the log has.
    #[cfg(feature = "agent-files")]
    pub(super) fn logged(mut self) -> Self {
        self.inner.is_logged = true;
        self
    }

    /// Returns the id of the configuration. It is empty if it is not known.
    pub(crate) fn id(&self) -> &Text {
        &self.inner.id
    }

    /// Returns a hash of the error and of the version of its file. The names that there are do not count: they change with
    /// other agents.
    pub(crate) fn fingerprint(&self) -> u64 {
        let Inner { content, path, .. } = &*self.inner;
        match &self.inner.kind {
            Kind::Unknown { what, name, .. } => hash((content, path, what, name)),
            _ => hash((content, one_line::chain(self).to_string())),
        }
    }

    pub(crate) fn is_logged(&self) -> bool {
        self.inner.is_logged
    }

    /// Returns what the error means for those who want to use the agent.
    pub(crate) fn reason(&self) -> Unavailable {
        match self.inner.kind {
            #[cfg(feature = "agent-files")]
            Kind::NoFolder => Unavailable::NoSource,
            #[cfg(feature = "agent-files")]
            Kind::Unreadable => Unavailable::Failing,
            _ => Unavailable::Invalid,
        }
    }

    /// Adds the file of the configuration. Default: none.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.inner.file = Some(file.into());
        self
    }

    /// Returns the JSON path of what is wrong, such as `nodes[1].data.name`. It is empty for a text that cannot be read.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.inner.path
    }

    /// Returns the file of the configuration, if it has one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.inner.file.as_deref()
    }

    /// Returns `true` if the text is not JSON or TOML.
    #[must_use]
    pub fn is_syntax(&self) -> bool {
        self.inner.kind == Kind::Syntax
    }

    /// Returns `true` if the configuration names a tool, a provider, an agent, a placeholder or a node that does not exist.
    #[must_use]
    pub fn is_unknown_name(&self) -> bool {
        matches!(self.inner.kind, Kind::Unknown { .. })
    }

    /// Returns `true` if the configuration needs something that this version does not have.
    #[must_use]
    pub fn is_not_available(&self) -> bool {
        matches!(self.inner.kind, Kind::NotAvailable(_))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax => f.write_str("the text cannot be read"),
            #[cfg(feature = "agent-files")]
            Self::Unreadable => f.write_str("it cannot be read"),
            #[cfg(feature = "agent-files")]
            Self::NoFolder => f.write_str("there is no such folder, and so none of its agents"),
            Self::Shape => f.write_str("the value does not fit"),
            Self::UnknownKey { meant: Some(meant), .. } => {
                write!(f, "this key has no meaning; write {meant:?}")
            }
            Self::UnknownKey { meant: None, known } => {
                f.write_str("this key has no meaning here")?;
                list(known.iter().copied(), f)
            }
            Self::UnknownType(name) => {
                write!(f, "there is no type {:?} of nodes; there are: agent, tool", &**name)
            }
            Self::NotAvailable(name) => write!(f, "{:?} is not available in this build", &**name),
            Self::Unknown { what, name, known } => {
                write!(f, "there is no {what} {:?}", &**name)?;
                match known.is_empty() {
                    true => f.write_str("; none is registered"),
                    false => list(known.iter().map(Text::as_str), f),
                }
            }
            Self::Twice(name) => write!(f, "{:?} is taken", &**name),
            Self::Name(name) => write!(
                f,
                "{:?} cannot be the name of an agent: write 1 to 64 of [A-Za-z0-9_-], and not default, stop or stream",
                &**name
            ),
            Self::OtherId { asked, id } => {
                write!(f, "the configuration of {:?} has another id, {:?}", &**asked, &**id)
            }
            Self::Empty => f.write_str("the text is missing or empty"),
            Self::TooMany { what, most } => write!(f, "at most {most} {what} are allowed"),
            Self::NoEntry => f.write_str(
                "no single agent answers: give one the id of the configuration, or let edges lead to all others",
            ),
            Self::Edge => f.write_str("an edge leads from an agent to a tool or to another agent"),
            Self::OpenPlaceholder => f.write_str("`{{` has no `}}`"),
            #[cfg(feature = "agent-files")]
            Self::TwoFiles => f.write_str("the agent has a TOML file and a JSON file"),
            Self::Refused => f.write_str("the agent cannot be registered"),
        }
    }
}

/// Lists the names that there are.
fn list<'a>(names: impl ExactSizeIterator<Item = &'a str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("; there are: ")?;
    let more = names.len().saturating_sub(LISTED);
    for (at, name) in names.take(LISTED).enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        write!(f, "{comma}{name}")?;
    }
    match more {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}

impl fmt::Display for AgentConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner.file {
            Some(file) => write!(f, "{}: ", file.display())?,
            None if self.inner.id.is_empty() => {}
            None => write!(f, "the agent {:?}: ", &*self.inner.id)?,
        }
        if !self.inner.path.is_empty() {
            write!(f, "{}: ", self.inner.path)?;
        }
        write!(f, "{}", self.inner.kind)
    }
}

impl fmt::Debug for AgentConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("AgentConfigError");
        shown.field("message", &format_args!("{self}"));
        if let Some(source) = &self.inner.source {
            shown.field("source", source);
        }
        shown.finish()
    }
}

impl StdError for AgentConfigError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
