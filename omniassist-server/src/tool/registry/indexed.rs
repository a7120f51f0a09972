use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use omniassist_core::Text;
use omniassist_core::tool_search::{SearchIndex, SearchText};

use crate::tool::call::RegisteredTool;

/// Tools by their names.
pub(super) type ToolMap = BTreeMap<Text, Arc<RegisteredTool>>;

/// The registered tools of one revision, with the index that all runs of it share. A run may have fewer tools, and further
/// ones of its own.
#[derive(Default)]
pub(super) struct IndexedTools {
    tools: Arc<ToolMap>,
    /// Made by the first search.
    index: OnceLock<SearchIndex>,
}

impl IndexedTools {
    pub(super) fn of(tools: &Arc<ToolMap>) -> Self {
        Self { tools: Arc::clone(tools), index: OnceLock::new() }
    }

    /// Returns the tools of `among` that match a query, best first.
    pub(super) fn search<'a>(&self, query: &str, among: &'a ToolMap) -> Vec<&'a Arc<RegisteredTool>> {
        let texts = || SearchIndex::new(self.tools.values().map(|tool| tool.search_text()));
        let index = self.index.get_or_init(texts);
        // Both maps have the same order.
        let (mut found, mut others) = (Vec::with_capacity(self.tools.len()), Vec::new());
        let mut rest = among.iter().peekable();
        for (name, tool) in self.tools.iter() {
            while let Some((_, other)) = rest.next_if(|(other, _)| *other < name) {
                others.push(other);
            }
            let same = rest.next_if(|(other, _)| *other == name).map(|(_, other)| other);
            let (same, replaced) = match same {
                Some(other) if !Arc::ptr_eq(other, tool) => (None, Some(other)),
                same => (same, None),
            };
            found.push(same);
            others.extend(replaced);
        }
        others.extend(rest.map(|(_, other)| other));

        let texts: Vec<SearchText> = others.iter().map(|tool| tool.search_text()).collect();
        let texts: Vec<&SearchText> = texts.iter().collect();
        let best = index.rank(query, |tool| found.get(tool).is_some_and(Option::is_some), &texts);
        let tools: Vec<Option<_>> = found.iter().copied().chain(others.into_iter().map(Some)).collect();
        best.into_iter().filter_map(|index| tools.get(index).copied().flatten()).collect()
    }
}
