//! The components among the tools of a run.

use std::sync::Arc;

use omniassist_core::{Text, ToolSpec};

use super::ToolSnapshot;

impl ToolSnapshot {
    /// Returns `true` for the name of a component's tool.
    pub(super) fn shows_component(&self, name: &str) -> bool {
        self.get(name).is_some_and(|tool| tool.component().is_some())
    }

    /// Returns the tools without the components that a client does not show. `shown` are the names of those that it does,
    /// or `None` for all. A client that declares tools with the names of components shows only those.
    pub(crate) fn with_shown_components(&self, shown: Option<&[Text]>, declared: &[Arc<ToolSpec>]) -> Self {
        let declares = declared.iter().any(|spec| self.shows_component(&spec.name));
        if shown.is_none() && !declares {
            return self.clone();
        }
        self.hiding(|tool| {
            let Some(component) = tool.component() else { return false };
            let is_shown = shown.is_none_or(|shown| shown.contains(&component.name));
            !is_shown || declares && !declared.iter().any(|spec| spec.name == tool.spec().name)
        })
    }
}
