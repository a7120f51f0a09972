use std::fmt;
use std::sync::Arc;

use omniassist_core::Text;

use super::ToolSource;
use crate::RunContext;
use crate::tool::Tool;
use crate::visibility::Visibility;

/// A source with the choice of its tools. Cloning gives another handle to the source. Every [`ToolSource`] converts into one
/// that offers all its tools to all callers.
#[derive(Clone)]
#[must_use = "a source does nothing until it is attached"]
pub struct AttachedSource {
    pub(in crate::tool) source: Arc<dyn ToolSource>,
    pub(in crate::tool) filter: Filter,
}

/// The choice of a source's tools.
#[derive(Clone, Default)]
pub(in crate::tool) struct Filter {
    only: Option<Vec<Text>>,
    except: Vec<Text>,
    visibility: Option<Visibility>,
}

impl AttachedSource {
    /// Creates an attachment that offers all tools to all callers.
    pub fn new(source: impl ToolSource) -> Self {
        Self { source: Arc::new(source), filter: Filter::default() }
    }

    /// Offers only the tools with these names. Default: all.
    ///
    /// The names are those of the source, without the prefix. A `*` at the end stands for any end: `get_*`.
    pub fn only<N: Into<Text>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.filter.only = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Does not offer the tools with these names, given as for [`only`](Self::only). Default: none. It has precedence.
    pub fn except<N: Into<Text>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.filter.except = names.into_iter().map(Into::into).collect();
        self
    }

    /// Offers the tools only to callers for whom the condition is true. Default: to all.
    ///
    /// For the others, the source and its tools do not exist; see [`Tool::visible_to`]. A condition of a single tool applies
    /// too.
    pub fn visible_to(mut self, condition: impl Fn(&RunContext) -> bool + Send + Sync + 'static) -> Self {
        self.filter.visibility = Some(Visibility::new(condition));
        self
    }
}

impl<S: ToolSource> From<S> for AttachedSource {
    fn from(source: S) -> Self {
        Self::new(source)
    }
}

impl Filter {
    /// Returns `true` if a tool with this name may be offered.
    pub(in crate::tool) fn selects(&self, name: &str) -> bool {
        let is_one = |names: &[Text]| names.iter().any(|pattern| matches(pattern, name));
        self.only.as_deref().is_none_or(is_one) && !is_one(&self.except)
    }

    /// Returns `true` if the source exists for a caller.
    pub(in crate::tool) fn is_visible_to(&self, source: &str, caller: &RunContext) -> bool {
        self.visibility.as_ref().is_none_or(|visibility| visibility.holds(source, caller))
    }

    /// Adds the condition of the source to that of a tool.
    pub(in crate::tool) fn applied_to(&self, mut tool: Tool) -> Tool {
        let own = tool.settings.visibility.take();
        tool.settings.visibility = match (self.visibility.clone(), own) {
            (Some(of_source), Some(of_tool)) => {
                let name = Text::from(tool.name());
                Some(Visibility::new(move |caller| {
                    of_source.holds(&name, caller) && of_tool.holds(&name, caller)
                }))
            }
            (of_source, of_tool) => of_source.or(of_tool),
        };
        tool
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |beginning| name.starts_with(beginning))
}

impl fmt::Debug for AttachedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttachedSource").field("name", &self.source.name()).finish_non_exhaustive()
    }
}
