use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::entry::{Entries, Entry};
use super::form::Form;
use super::navigation::Navigation;
use super::redact::Redactor;
use super::write;
use super::{Compressed, ContextReceipt, ContextTemplate, generic, json};
use crate::secret::squash;
use crate::{ContextMessage, Text};

/// The default number of client messages that are kept.
pub const DEFAULT_WINDOW: usize = 20;
/// The default number of host messages that are kept.
pub const DEFAULT_HOST_WINDOW: usize = 20;
/// The default size limit of the client's block including its delimiters, in bytes.
pub const DEFAULT_MAX_BYTES: usize = 4096;
/// Compresses application context by rules; see the [module](super) for the rules.
///
/// A compressor is its own builder. Cloning is cheap: create one at start-up, and use it for every request.
#[derive(Clone)]
#[must_use]
pub struct ContextCompressor {
    config: Arc<Config>,
}

#[derive(Clone)]
struct Config {
    window: usize,
    host_window: usize,
    max_bytes: usize,
    redact: BTreeSet<String>,
    templates: BTreeMap<Text, Arc<dyn ContextTemplate>>,
}

impl ContextCompressor {
    /// Creates a compressor with the defaults of this module.
    pub fn new() -> Self {
        let config = Config {
            window: DEFAULT_WINDOW,
            host_window: DEFAULT_HOST_WINDOW,
            max_bytes: DEFAULT_MAX_BYTES,
            redact: BTreeSet::new(),
            templates: BTreeMap::new(),
        };
        Self { config: Arc::new(config) }
    }

    /// Sets how many of the client's messages are kept, counted from the last. Default: 20. With 0, the client's
    /// context is dropped.
    pub fn window(self, messages: usize) -> Self {
        self.set(|config| config.window = messages)
    }

    /// Sets how many of the host's messages are kept, counted from the last. They do not count towards
    /// [`window`](Self::window). Default: 20.
    pub fn host_window(self, messages: usize) -> Self {
        self.set(|config| config.host_window = messages)
    }

    /// Sets the size limit of the client's block including its delimiters, in bytes. A longer block needs a summary.
    /// Default: 4096.
    pub fn max_bytes(self, bytes: usize) -> Self {
        self.set(|config| config.max_bytes = bytes)
    }

    /// Sets the template for messages of this `type`. It replaces an earlier template, and the built-in ones of
    /// `navigation` and `form`.
    pub fn template(self, kind: impl Into<Text>, template: impl ContextTemplate + 'static) -> Self {
        let kind = kind.into();
        let template = Arc::new(template);
        self.set(|config| {
            config.templates.insert(kind, template);
        })
    }

    /// Adds names of fields and keys whose values are secret, at any depth and in query strings. Case, `-`, `_` and
    /// spaces are ignored. In a path such as `user[email]`, the last part counts too.
    pub fn redact(self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.set(|config| {
            for listed in names {
                let mut squashed = String::new();
                squash(listed.as_ref(), &mut squashed);
                if !squashed.is_empty() {
                    config.redact.insert(squashed);
                }
            }
        })
    }

    fn set(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(Arc::make_mut(&mut self.config));
        self
    }

    /// Compresses the messages of a client, oldest first. The same messages give the same bytes. The time is linear in
    /// their size.
    pub fn compress(&self, messages: &[ContextMessage]) -> Compressed {
        self.compress_with_host(&[], messages)
    }

    /// Compresses the messages of the host and of a client.
    ///
    /// The host's bullets come first. They have a separate window, are not merged with the client's, and stay when
    /// a summary replaces the client's, so a client cannot displace them.
    pub fn compress_with_host(&self, host: &[ContextMessage], client: &[ContextMessage]) -> Compressed {
        let config = &*self.config;
        let windows = [last(host, config.host_window), last(client, config.window)];
        let mut redactor = Redactor::new(&config.redact);
        windows.iter().copied().flatten().for_each(|message| redactor.learn(&message.data));
        let mut kept = 0;
        let mut left_out = 0;
        let [host_lines, client_lines] = windows.map(|window| {
            let clean: Vec<_> = window.iter().map(|message| redactor.clean(message)).collect();
            let mut entries = Entries::default();
            for (message, clean) in window.iter().zip(&clean) {
                match config.entry(clean.as_ref().unwrap_or(message)) {
                    Some(entry) => entries.push(entry),
                    None => left_out += 1,
                }
            }
            kept += entries.kept();
            let mut lines = String::with_capacity(128 * entries.kept());
            entries.write(&mut lines);
            lines
        });
        let received = host.len() + client.len();
        let shown = windows.iter().map(|window| window.len()).sum::<usize>() - left_out;
        let receipt = ContextReceipt {
            received,
            kept,
            merged: shown - kept,
            dropped: received - shown,
            redacted: redactor.count(),
            bytes_before: host.iter().chain(client).map(json::size).sum(),
            ..ContextReceipt::default()
        };
        Compressed::new(host_lines, &client_lines, receipt, config.max_bytes)
    }
}

/// Returns the last `count` messages.
fn last(messages: &[ContextMessage], count: usize) -> &[ContextMessage] {
    messages.get(messages.len().saturating_sub(count)..).unwrap_or_default()
}

impl Config {
    fn entry<'a>(&self, message: &'a ContextMessage) -> Option<Entry<'a>> {
        if let Some(template) = self.templates.get(&message.kind) {
            let text = template.render(message)?;
            let mut line = String::with_capacity(text.len());
            write::line(&mut line, &text);
            return Some(Entry::Line(line));
        }
        let built_in = match message.kind.as_str() {
            "navigation" => Navigation::read(&message.data).map(Entry::Navigation),
            "form" => Form::read(&message.data).map(Entry::Form),
            _ => None,
        };
        built_in.or_else(|| Some(Entry::Line(generic::line(&message.kind, &message.data))))
    }
}

impl Redactor<'_> {
    /// Returns the message without its secrets, or `None` if it has none.
    fn clean(&mut self, message: &ContextMessage) -> Option<ContextMessage> {
        let kind = self.label(&message.kind);
        let data = self.data(&message.kind, &message.data);
        if kind.is_none() && data.is_none() {
            return None;
        }
        Some(ContextMessage {
            id: message.id.clone(),
            kind: kind.map_or_else(|| message.kind.clone(), Text::from),
            data: data.unwrap_or_else(|| message.data.clone()),
        })
    }
}

impl Default for ContextCompressor {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ContextCompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextCompressor")
            .field("window", &self.config.window)
            .field("host_window", &self.config.host_window)
            .field("max_bytes", &self.config.max_bytes)
            .field("redact", &self.config.redact)
            .field("templates", &self.config.templates.keys())
            .finish()
    }
}
