//! Deferred tools: a model receives their definitions only after it has searched for them.

use std::sync::Arc;

use omniassist_core::tool_search::rank;
use omniassist_core::{Limits, Message, Text, ToolChoice, ToolSide, ToolSpec};

use super::{Snapshot, ToolSnapshot, Tools};
use crate::Result;
use crate::tool::loaded::Loaded;
use crate::tool::registered::RegisteredTool;
use crate::tool::search::{DeferAbove, Found, MAX_FOUND, Search, TOOL_SEARCH};
use crate::tool::state::StateMap;

impl Tools {
    /// Creates an empty registry that defers tools above a number of tools.
    pub(crate) fn searchable(
        state: impl Into<Arc<StateMap>>,
        limits: Limits,
        above: DeferAbove,
    ) -> Result<Self> {
        let search = above.0.map(|above| Search::new(above, &limits)).transpose()?;
        Ok(Self::with_search(state, limits, search.map(Arc::new)))
    }
}

impl ToolSnapshot {
    /// Returns the search, if there are enough server tools to defer them.
    fn deferral(&self) -> Option<&Search> {
        let Snapshot { search, tools, .. } = &*self.inner;
        let search = search.as_deref().filter(|search| tools.len() > search.above)?;
        let ours = || tools.values().filter(|tool| tool.spec().side == ToolSide::Server);
        (ours().count() > search.above && ours().any(|tool| !tool.is_eager())).then_some(search)
    }

    /// Returns the tool that searches, if tools are deferred and it is not hidden.
    pub(super) fn search_tool(&self) -> Option<&Arc<RegisteredTool>> {
        let search = self.deferral()?;
        (!self.inner.hidden.contains(TOOL_SEARCH)).then_some(&search.tool)
    }

    /// Returns the same tools without the search. They stay deferred.
    pub(crate) fn without_search(&self) -> Self {
        let mut inner = Snapshot::clone(&self.inner);
        inner.hidden.insert(Text::from_static(TOOL_SEARCH));
        Self { inner: Arc::new(inner), principal: self.principal.clone() }
    }

    /// Returns the tool with exactly this name, ready to be started.
    pub(crate) fn to_start(&self, name: &str) -> Option<Arc<RegisteredTool>> {
        let tool = self.get(name)?;
        match self.deferral().filter(|search| Arc::ptr_eq(&search.tool, tool)) {
            None => Some(Arc::clone(tool)),
            Some(search) => {
                let tools = self.clone();
                Some(search.bind(move |query| tools.find(query), &self.inner.limits))
            }
        }
    }

    fn find(&self, query: &str) -> Found {
        let best = self.search(query);
        if best.is_empty() {
            return Found::nothing(&self.listed_names());
        }
        Found::of(best.into_iter().take(MAX_FOUND).map(AsRef::as_ref))
    }

    /// Returns the tools that match a query, best first, as the built-in
    /// [`tool_search`](crate::AssistantBuilder::defer_tools_above) finds them. English words are compared with names,
    /// titles, tags, descriptions and examples.
    #[must_use]
    pub fn search(&self, query: &str) -> Vec<&Arc<RegisteredTool>> {
        let tools: Vec<_> = self.inner.tools.values().collect();
        let texts: Vec<_> = tools.iter().map(|tool| tool.search_text()).collect();
        rank(query, &texts).into_iter().filter_map(|index| tools.get(index).copied()).collect()
    }

    /// Returns the loaded tools of a conversation, if tools are deferred.
    pub(crate) fn loaded_by(&self, messages: &[Message]) -> Option<Loaded> {
        self.deferral().map(|search| Loaded::by(messages, search.above))
    }

    /// Returns the descriptions for one model call. These are all descriptions, unless tools are deferred. The search
    /// then comes first and the loaded tools of the conversation come last, in that order. The beginning therefore
    /// stays the same, and a provider can cache it.
    pub(crate) fn offered(&self, loaded: Option<&Loaded>, choice: &ToolChoice) -> Arc<[Arc<ToolSpec>]> {
        let Some(loaded) = loaded.filter(|_| self.deferral().is_some()) else { return self.specs() };
        let (eager, deferred): (Vec<_>, Vec<_>) =
            self.inner.specs.iter().partition(|spec| self.get(&spec.name).is_none_or(|tool| tool.is_eager()));
        let mut names: Vec<_> = loaded.names().collect();
        if let ToolChoice::Tool(name) = choice {
            names.extend(Some(name).filter(|name| !names.contains(name)));
        }
        let find = |name: &Text| deferred.iter().copied().find(|spec| spec.name == *name);
        let search = self.search_tool().map(|tool| tool.spec());
        let specs = search.into_iter().chain(eager).chain(names.into_iter().filter_map(find));
        specs.map(Arc::clone).collect()
    }
}
