//! The deferred tools that a conversation has loaded.

use std::collections::HashSet;

use omniassist_core::message::{Message, Part, ToolState};
use omniassist_core::{JsonText, Text, TranscriptItem};

use super::tool_search::{Found, TOOL_SEARCH};

/// The minimum number of tools that can be loaded at a time.
const MIN_LOADED: usize = 20;

/// The tools that a search found and those that were called, in the order in which they were loaded.
///
/// The list is derived from the whole conversation, including the part outside of a history window, so every server
/// derives the same list. At most `max` tools are loaded. When one more is loaded, only the `max / 2` most recently
/// used tools stay. The definitions therefore do not change with each further tool, and a provider can cache them.
#[derive(Debug)]
pub(crate) struct LoadedTools {
    max: usize,
    tools: Vec<Use>,
    /// The calls that were read.
    read: HashSet<Text>,
    uses: usize,
}

#[derive(Debug)]
struct Use {
    name: Text,
    last: usize,
}

impl LoadedTools {
    /// Reads the posted messages of a run.
    pub(in crate::tool) fn by(messages: &[Message], max: usize) -> Self {
        let (read, tools) = (HashSet::new(), Vec::new());
        let mut loaded = Self { max: max.max(MIN_LOADED), tools, read, uses: 0 };
        for part in messages.iter().flat_map(|message| &message.parts) {
            let Part::Tool(call) = part else { continue };
            let output = match &call.state {
                ToolState::OutputAvailable { output, .. } => Some(output),
                _ => None,
            };
            loaded.take(&call.call_id, &call.name, output);
        }
        loaded
    }

    /// Reads the calls of a transcript that were not read before.
    pub(crate) fn read(&mut self, transcript: &[TranscriptItem]) {
        let (mut searches, search) = (HashSet::new(), Text::from_static(TOOL_SEARCH));
        for item in transcript {
            match item {
                TranscriptItem::Call(call) if call.name == search => drop(searches.insert(&call.id)),
                TranscriptItem::Call(call) => self.take(&call.id, &call.name, None),
                TranscriptItem::Result(result) if searches.contains(&result.call_id) => {
                    self.take(&result.call_id, &search, Some(&result.output));
                }
                _ => {}
            }
        }
    }

    /// Returns the names in the order in which they were loaded.
    pub(in crate::tool) fn names(&self) -> impl Iterator<Item = &Text> {
        self.tools.iter().map(|tool| &tool.name)
    }

    fn take(&mut self, id: &Text, name: &Text, output: Option<&JsonText>) {
        if !self.read.insert(id.clone()) {
            return;
        }
        if *name != TOOL_SEARCH {
            return self.load(name.clone());
        }
        let found: Found = output.and_then(|output| output.to().ok()).unwrap_or_default();
        found.into_names().for_each(|name| self.load(name));
    }

    fn load(&mut self, name: Text) {
        self.uses += 1;
        match self.tools.iter_mut().find(|tool| tool.name == name) {
            Some(tool) => tool.last = self.uses,
            None => self.tools.push(Use { name, last: self.uses }),
        }
        if self.tools.len() > self.max {
            let mut uses: Vec<_> = self.tools.iter().map(|tool| tool.last).collect();
            uses.sort_unstable();
            let oldest = uses.get(uses.len() - self.max / 2).copied().unwrap_or_default();
            self.tools.retain(|tool| tool.last >= oldest);
        }
    }
}
