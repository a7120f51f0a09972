//! Deferred tools: a model receives their definitions only after it has searched for them.

use std::sync::Arc;

use omniassist_core::{Limits, Message, Text, ToolChoice, ToolSide, ToolSpec};

use super::{Snapshot, ToolSnapshot, Tools};
use crate::Result;
use crate::tool::call::RegisteredTool;
use crate::tool::context::StateMap;
use crate::tool::search::{DeferAbove, Found, LoadedTools, MAX_FOUND, Search, TOOL_SEARCH};

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
        let search = self.inner.search.as_deref()?;
        self.eager(search).map(|_| search)
    }

    /// Returns the descriptions that are sent without a search, if the others are deferred.
    fn eager(&self, search: &Search) -> Option<&[Arc<ToolSpec>]> {
        let find = || {
            let tools = &self.inner.tools;
            let ours = || tools.values().filter(|tool| tool.spec().side == ToolSide::Server);
            let is_deferred = tools.len() > search.above
                && ours().count() > search.above
                && ours().any(|tool| !tool.is_eager());
            let is_eager = |spec: &ToolSpec| tools.get(&spec.name).is_none_or(|tool| tool.is_eager());
            is_deferred.then(|| self.specs_where(is_eager))
        };
        self.inner.eager.get_or_init(find).as_deref()
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
        self.inner.registered.search(query, &self.inner.tools)
    }

    /// Returns the loaded tools of a conversation, if tools are deferred.
    pub(crate) fn loaded_by(&self, messages: &[Message]) -> Option<LoadedTools> {
        self.deferral().map(|search| LoadedTools::by(messages, search.above))
    }

    /// Returns the descriptions for one model call. These are all descriptions, unless tools are deferred. The search
    /// then comes first and the loaded tools of the conversation come last, in that order. The beginning therefore
    /// stays the same, and a provider can cache it.
    pub(crate) fn offered(&self, loaded: Option<&LoadedTools>, choice: &ToolChoice) -> Arc<[Arc<ToolSpec>]> {
        let eager = self.inner.search.as_deref().and_then(|search| self.eager(search));
        let Some((loaded, eager)) = loaded.zip(eager) else { return self.specs() };
        let mut names: Vec<_> = loaded.names().collect();
        if let ToolChoice::Tool(name) = choice {
            names.extend(Some(name).filter(|name| !names.contains(name)));
        }
        let deferred = |name: &Text| self.inner.tools.get(name).filter(|tool| !tool.is_eager());
        let deferred = names.into_iter().filter_map(deferred).map(|tool| tool.spec());
        let search = self.search_tool().map(|tool| tool.spec());
        search.into_iter().chain(eager).chain(deferred).map(Arc::clone).collect()
    }
}
