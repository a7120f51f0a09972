use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use super::entry::{Entries, Entry};
use super::form::Form;
use super::navigation::Navigation;
use super::redact::Redactor;
use super::write::{self, Caps};
use super::{Compressed, ContextBlock, ContextReceipt, ContextSummariser, ContextTemplate, generic, name};
use crate::{ContextMessage, Text};

/// How many context messages are kept.
pub const DEFAULT_WINDOW: usize = 20;
/// Bytes of a block, delimiters included, above which a summary is asked for.
pub const DEFAULT_MAX_BYTES: usize = 4096;
/// Bytes of one value that are shown.
pub const DEFAULT_MAX_VALUE_BYTES: usize = 512;
/// Bytes of one bullet that are shown.
pub const DEFAULT_MAX_ENTRY_BYTES: usize = 2048;
/// Fields of one form, or keys of one object, that are shown.
pub const DEFAULT_MAX_FIELDS: usize = 64;

/// Compresses application context by rules; see the [module](super) for the rules.
///
/// A compressor is its own builder: each method takes it and gives it back. Cloning shares everything, so one is made
/// at start-up and used by every request.
///
/// ```
/// use omniassist_core::ContextMessage;
/// use omniassist_core::context::ContextCompressor;
/// use serde_json::json;
///
/// let compressor = ContextCompressor::new().window(50).max_bytes(8192);
/// assert!(compressor.compress(&[]).block().is_none());
///
/// let flag = ContextMessage::new("1", "feature_flag", json!({"name": "dark", "on": true}));
/// let block = compressor.compress(&[flag.clone(), flag]).into_block().unwrap();
/// assert!(block.as_str().contains("\n- feature_flag: name = \"dark\", on = true ×2\n"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct ContextCompressor {
    config: Arc<Config>,
}

#[derive(Clone)]
struct Config {
    window: usize,
    max_bytes: usize,
    caps: Caps,
    redact: BTreeSet<String>,
    templates: BTreeMap<Text, Arc<dyn ContextTemplate>>,
}

impl ContextCompressor {
    /// A compressor with the defaults of this module.
    pub fn new() -> Self {
        let config = Config {
            window: DEFAULT_WINDOW,
            max_bytes: DEFAULT_MAX_BYTES,
            caps: Caps {
                value: DEFAULT_MAX_VALUE_BYTES,
                entry: DEFAULT_MAX_ENTRY_BYTES,
                fields: DEFAULT_MAX_FIELDS,
            },
            redact: BTreeSet::new(),
            templates: BTreeMap::new(),
        };
        Self { config: Arc::new(config) }
    }

    /// How many messages are kept, counted from the last. Default 20; with 0 there is never a block.
    pub fn window(self, messages: usize) -> Self {
        self.set(|config| config.window = messages)
    }

    /// The length of a block in bytes, delimiters included, above which a summary is asked for. Default 4096: a block
    /// of 4096 bytes is left alone, one of 4097 is not.
    pub fn max_bytes(self, bytes: usize) -> Self {
        self.set(|config| config.max_bytes = bytes)
    }

    /// How many bytes of one value are shown; the rest is counted behind it. Default 512.
    pub fn max_value_bytes(self, bytes: usize) -> Self {
        self.set(|config| config.caps.value = bytes)
    }

    /// How many bytes of one bullet are shown; the rest is counted behind it. Default 2048.
    pub fn max_entry_bytes(self, bytes: usize) -> Self {
        self.set(|config| config.caps.entry = bytes)
    }

    /// How many fields of a form, or keys of an object, are shown; the rest is counted behind them. Default 64.
    pub fn max_fields(self, fields: usize) -> Self {
        self.set(|config| config.caps.fields = fields)
    }

    /// Renders messages of this `type` by the template; replaces an earlier one, and the built-in one of `navigation`
    /// or `form`.
    pub fn template(self, kind: impl Into<Text>, template: impl ContextTemplate + 'static) -> Self {
        let kind = kind.into();
        let template = Arc::new(template);
        self.set(|config| {
            config.templates.insert(kind, template);
        })
    }

    /// Adds names of fields and keys whose values are secret, at any depth and in query strings. Case, `-`, `_` and
    /// spaces make no difference; of a path such as `user[email]` the last part counts as well.
    pub fn redact(self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.set(|config| {
            for listed in names {
                let mut squashed = String::new();
                name::squash(listed.as_ref(), &mut squashed);
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

    /// Compresses messages, oldest first, in time linear in their size. The same messages give the same bytes.
    pub fn compress(&self, messages: &[ContextMessage]) -> Compressed {
        let config = &*self.config;
        let dropped = messages.len().saturating_sub(config.window);
        let window = messages.get(dropped..).unwrap_or_default();
        let mut redactor = Redactor::new(&config.redact);
        window.iter().for_each(|message| redactor.learn(&message.data));
        let clean: Vec<_> = window.iter().map(|message| redactor.clean(message)).collect();

        let mut entries = Entries::default();
        let mut left_out = 0;
        for (message, clean) in window.iter().zip(&clean) {
            match config.entry(clean.as_ref().unwrap_or(message)) {
                Some(entry) => entries.push(entry),
                None => left_out += 1,
            }
        }
        let receipt = ContextReceipt {
            received: messages.len(),
            kept: entries.kept(),
            merged: window.len() - left_out - entries.kept(),
            dropped: dropped + left_out,
            redacted: redactor.count(),
            bytes_before: messages.iter().map(json_bytes).sum(),
            ..ContextReceipt::default()
        };
        let block = (entries.kept() > 0).then(|| {
            let mut out = ContextBlock::open(128 * entries.kept());
            entries.write(&mut out, config.caps);
            ContextBlock::close(out)
        });
        Compressed::new(block, receipt, config.max_bytes)
    }

    /// Compresses messages and, where the block is too long, asks the summariser once. It cannot fail: without a
    /// summary the block of the rules stays, and [`Compressed::summary_error`] says why. Dropping the future gives up
    /// both.
    pub async fn compress_with(
        &self,
        messages: &[ContextMessage],
        summariser: &dyn ContextSummariser,
    ) -> Compressed {
        let compressed = self.compress(messages);
        let Some(request) = compressed.summary_request() else { return compressed };
        match summariser.summarise(request).await {
            Ok(summary) => compressed.with_summary(summary),
            Err(error) => compressed.with_failed_summary(error),
        }
    }
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
        built_in.or_else(|| Some(Entry::Line(generic::line(&message.kind, &message.data, self.caps))))
    }
}

impl Redactor<'_> {
    /// The message without its secrets; `None` where it has none.
    fn clean(&mut self, message: &ContextMessage) -> Option<ContextMessage> {
        let kind = self.label(&message.kind);
        let data = self.value(&message.data, message.kind == "navigation");
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
            .field("max_bytes", &self.config.max_bytes)
            .field("caps", &self.config.caps)
            .field("redact", &self.config.redact)
            .field("templates", &self.config.templates.keys())
            .finish()
    }
}

/// Counts what is written to it.
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn json_bytes(message: &ContextMessage) -> usize {
    let mut counter = Counter(0);
    // Neither the counter nor a `Value` can fail to be written.
    let _ = serde_json::to_writer(&mut counter, message);
    counter.0
}
