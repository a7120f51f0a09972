//! The sources that are attached to a registry, and the tools that they offer.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use omniassist_core::Text;

use super::indexed::ToolMap;
use super::{Inner, Tools};
use crate::tool::Tool;
use crate::tool::call::RegisteredTool;
use crate::tool::source::{
    AttachedSource, Attachment, Filter, OfferedTools, SourceSlot, SourceState, SourceStatus, ToolSource,
    WithheldTool, check_source_name, source_tool_name,
};
use crate::{CancellationToken, Error, Result, RunContext, panics, sync};

impl Tools {
    /// Attaches a [source](crate::tool::source) of tools. Runs that have begun do not see its tools. It does not wait for them.
    ///
    /// # Errors
    ///
    /// Returns an error if the name of the source is not allowed, or a source of this name is attached already.
    pub fn attach(&self, source: impl Into<AttachedSource>) -> Result<()> {
        let AttachedSource { source, filter } = source.into();
        let name = Text::from(source.name());
        check_source_name(&name).map_err(|rule| refused(&name, rule))?;
        let detached = CancellationToken::new();
        {
            let mut sources = sync::lock(&self.inner.sources);
            if sources.contains_key(&name) {
                return Err(refused(&name, "a source of this name is attached already"));
            }
            sources.insert(name.clone(), Attachment::new(Arc::clone(&source), filter, detached.clone()));
        }
        let registry = Registry { inner: Arc::downgrade(&self.inner), detached: detached.clone() };
        let slot = SourceSlot::new(Arc::new(registry), name, detached);
        let attached = panics::catch("the attachment of a source of tools", || source.attach(slot));
        attached.ok_or_else(|| refused(source.name(), "it panicked"))
    }

    /// Detaches a source. Returns `true` if it was attached. Runs that have begun keep its tools.
    #[expect(clippy::must_use_candidate, reason = "callers may ignore whether the source was attached")]
    pub fn detach(&self, name: &str) -> bool {
        let mut sources = sync::lock(&self.inner.sources);
        let detached = sources.remove(name);
        if detached.is_some() {
            self.inner.replace(name, BTreeMap::new());
        }
        detached.is_some()
    }

    /// Returns the sources with their states, sorted by name.
    #[must_use]
    pub fn sources(&self) -> Vec<SourceStatus> {
        self.statuses(|_, _| true)
    }

    /// Returns the sources that exist for a caller, with their states for this caller.
    pub(crate) async fn sources_for(&self, caller: impl FnOnce() -> RunContext) -> Vec<SourceStatus> {
        let attached = self.attached();
        if attached.is_empty() {
            return Vec::new();
        }
        let caller = &caller();
        let mut statuses = self.statuses(|name, filter| filter.is_visible_to(name, caller));
        let states = statuses.iter_mut().filter_map(|status| Some((attached.get(&status.name)?, status)));
        let states = states.map(|(source, status)| async move {
            let state = panics::catch_async("the state of a source of tools", source.state_for(caller)).await;
            if let Some(state) = state.flatten() {
                status.state = state;
            }
        });
        futures_util::future::join_all(states).await;
        statuses
    }

    /// Returns a source that has apps, if it exists for a caller.
    pub(crate) fn with_apps(&self, name: &str, caller: &RunContext) -> Option<Arc<dyn ToolSource>> {
        let sources = sync::lock(&self.inner.sources);
        let attached = sources.get(name).filter(|attached| attached.filter.is_visible_to(name, caller))?;
        attached.source.apps().is_some().then(|| Arc::clone(&attached.source))
    }

    fn attached(&self) -> BTreeMap<Text, Arc<dyn ToolSource>> {
        let sources = sync::lock(&self.inner.sources);
        sources.iter().map(|(name, attached)| (name.clone(), Arc::clone(&attached.source))).collect()
    }

    fn statuses(&self, selects: impl Fn(&str, &Filter) -> bool) -> Vec<SourceStatus> {
        let sources = sync::lock(&self.inner.sources);
        let tools = self.snapshot();
        let sources = sources.iter().filter(|(name, attached)| selects(name, &attached.filter));
        let status = |(name, attached): (&Text, &Attachment)| SourceStatus {
            name: name.clone(),
            state: attached.state.clone(),
            tools: tools.of_source(name).map(|tool| tool.spec().name.clone()).collect(),
            withheld: attached.withheld.clone(),
        };
        sources.map(status).collect()
    }

    /// Waits until the sources have offered their tools for a caller. Returns `false` if a source refuses the run.
    pub(crate) async fn are_ready(&self, caller: impl FnOnce() -> RunContext) -> bool {
        let sources = self.attached();
        if sources.is_empty() {
            return true;
        }
        let caller = &caller();
        let waits = sources.iter().map(|(name, source)| async move {
            let ready = panics::catch_async("the preparation of a source of tools", source.ready(caller));
            let is_ready = ready.await.unwrap_or(false);
            if !is_ready {
                tracing::warn!(
                    source = name.as_str(),
                    "a run is refused, because a source has no tools for it"
                );
            }
            is_ready
        });
        futures_util::future::join_all(waits).await.into_iter().all(|is_ready| is_ready)
    }
}

impl Inner {
    /// Replaces the tools of a source.
    fn replace(&self, source: &str, offered: ToolMap) {
        let mut current = sync::write(&self.current);
        let mut tools = ToolMap::clone(&current.inner.tools);
        tools.retain(|_, tool| tool.source().is_none_or(|of| of != source));
        for (name, tool) in offered {
            // A tool of the application may have been registered meanwhile.
            tools.entry(name).or_insert(tool);
        }
        *current = current.with_registered(tools);
    }

    /// Checks the tools of a source. Returns those that are offered, and those that are not.
    fn checked(
        &self,
        source: &Text,
        filter: &Filter,
        tools: Vec<Tool>,
        mut withheld: Vec<WithheldTool>,
    ) -> (ToolMap, Vec<WithheldTool>) {
        let current = sync::read(&self.current).clone();
        let mut offered = BTreeMap::new();
        for tool in tools {
            let original = Text::from(tool.name());
            if !filter.selects(&original) {
                continue;
            }
            let name = source_tool_name(source, &original);
            let is_own = current.get(&name).is_some_and(|tool| tool.source().is_none());
            let reason = match offered.contains_key(&name) {
                _ if is_own => "the application has a tool of this name",
                true => "the source has another tool of this name",
                false => {
                    let tool = filter.applied_to(tool).rename(name.clone());
                    match RegisteredTool::check(tool, &self.state, &current.inner.limits) {
                        Ok(tool) => drop(offered.insert(name, Arc::new(tool.of_source(source.clone())))),
                        Err(error) => withheld.push(WithheldTool::new(original, error.to_string())),
                    }
                    continue;
                }
            };
            withheld.push(WithheldTool::new(original, reason));
        }
        (offered, withheld)
    }
}

/// The registry of one attachment. It does not keep the tools alive.
struct Registry {
    inner: Weak<Inner>,
    detached: CancellationToken,
}

impl Registry {
    /// Changes the source, unless it was detached.
    fn with<T>(&self, inner: &Inner, source: &str, change: impl FnOnce(&mut Attachment) -> T) -> Option<T> {
        let mut sources = sync::lock(&inner.sources);
        sources.get_mut(source).filter(|_| !self.detached.is_cancelled()).map(change)
    }
}

impl OfferedTools for Registry {
    fn offer(&self, source: &Text, tools: Vec<Tool>, withheld: Vec<WithheldTool>) -> Vec<WithheldTool> {
        let Some(inner) = self.inner.upgrade() else { return Vec::new() };
        let filter = self.with(&inner, source, |attached| attached.filter.clone());
        let Some(filter) = filter else { return Vec::new() };
        let (offered, withheld) = inner.checked(source, &filter, tools, withheld);
        let changed = self.with(&inner, source, |attached| {
            for WithheldTool { name, reason } in
                withheld.iter().filter(|one| !attached.withheld.contains(one))
            {
                tracing::warn!(source = source.as_str(), tool = name.as_str(), %reason, "a tool is withheld");
            }
            attached.state = SourceState::Ready;
            attached.withheld.clone_from(&withheld);
            inner.replace(source, offered);
        });
        changed.map_or_else(Vec::new, |()| withheld)
    }

    fn set_state(&self, source: &Text, state: SourceState) {
        if let Some(inner) = self.inner.upgrade() {
            self.with(&inner, source, |attached| attached.state = state);
        }
    }
}

fn refused(source: &str, reason: &'static str) -> Error {
    Error::configuration(format!("the source of tools `{source}` cannot be attached: {reason}"))
}
