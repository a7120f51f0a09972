//! The built-in tool that finds deferred tools.

use std::sync::Arc;

use omniassist_core::{Limits, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Result;
use crate::tool::call::RegisteredTool;
use crate::tool::context::StateMap;
use crate::tool::output::cut_off;
use crate::tool::{Args, Json, Tool, ToolError};

/// The name of the tool.
pub(crate) const TOOL_SEARCH: &str = "tool_search";

const DESCRIPTION: &str = "Finds tools. You have many more tools than are listed here, for all parts of the \
    application. Search whenever no listed tool fits, and before you answer that you cannot do something. The tools \
    that are found can be called in your next step.";

/// The maximum number of tools that one search finds.
pub(in crate::tool) const MAX_FOUND: usize = 5;

/// The maximum number of bytes of a description in the output of a search. The definitions follow with the next model
/// call.
const MAX_DESCRIPTION_BYTES: usize = 200;

/// The number of server tools above which tools are deferred. `None`: never.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeferAbove(pub(crate) Option<usize>);

impl Default for DeferAbove {
    fn default() -> Self {
        Self(Some(40))
    }
}

/// The search of a registry.
pub(in crate::tool) struct Search {
    /// The tool as models and clients see it. It finds nothing before it is [bound](Self::bind).
    pub(in crate::tool) tool: Arc<RegisteredTool>,
    pub(in crate::tool) above: usize,
}

impl Search {
    pub(in crate::tool) fn new(above: usize, limits: &Limits) -> Result<Self> {
        Ok(Self { tool: registered(|_| Found::default(), limits)?, above })
    }

    /// Returns the tool that searches with this function.
    pub(in crate::tool) fn bind(
        &self,
        find: impl Fn(&str) -> Found + Send + Sync + 'static,
        limits: &Limits,
    ) -> Arc<RegisteredTool> {
        registered(find, limits).unwrap_or_else(|_| Arc::clone(&self.tool))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// The request of the user, in English words.
    query: String,
}

/// The output of a search.
#[derive(Default, Serialize, Deserialize)]
pub(in crate::tool) struct Found {
    tools: Vec<FoundTool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<Text>,
}

#[derive(Serialize, Deserialize)]
struct FoundTool {
    name: Text,
    description: Text,
}

impl Found {
    pub(in crate::tool) fn of<'a>(tools: impl Iterator<Item = &'a RegisteredTool>) -> Self {
        let found = |tool: &RegisteredTool| FoundTool {
            name: tool.spec().name.clone(),
            description: cut_off(tool.spec().description.to_string(), MAX_DESCRIPTION_BYTES).into(),
        };
        Self { tools: tools.map(found).collect(), note: None }
    }

    pub(super) fn into_names(self) -> impl Iterator<Item = Text> {
        self.tools.into_iter().map(|tool| tool.name)
    }

    /// Returns the output of a search without results.
    pub(in crate::tool) fn nothing(names: &str) -> Self {
        let note = format!("Nothing was found. Try other words, or call one of these by its name: {names}");
        Self { tools: Vec::new(), note: Some(note.into()) }
    }
}

fn registered(
    find: impl Fn(&str) -> Found + Send + Sync + 'static,
    limits: &Limits,
) -> Result<Arc<RegisteredTool>> {
    let search =
        move |Args(Query { query }): Args<Query>| std::future::ready(Ok::<_, ToolError>(Json(find(&query))));
    let tool = Tool::new(TOOL_SEARCH, DESCRIPTION, search)
        .title("Search tools")
        .summary(|query: &Query| query.query.clone())
        .example("Give customer 7 her money back", json!({ "query": "give customer her money back" }))
        .example("Is there a train to Rome at nine?", json!({ "query": "train to Rome at nine" }))
        .always_loaded()
        .read_only();
    RegisteredTool::check(tool, &Arc::new(StateMap::new()), limits).map(Arc::new)
}
