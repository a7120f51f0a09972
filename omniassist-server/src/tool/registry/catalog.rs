//! The tools of a run, as the run machine sees them.

use std::fmt;

use omniassist_core::run::{CallLabel, Gate, ToolCatalog};
use omniassist_core::{JsonText, Text, ToolSide};

use super::ToolSnapshot;

impl ToolCatalog for ToolSnapshot {
    fn side(&self, name: &str) -> Option<ToolSide> {
        self.side(name)
    }

    fn check(&self, name: &str, arguments: &JsonText) -> Result<(), Text> {
        self.check(name, arguments)
    }

    fn gate(&self, name: &str, arguments: &JsonText) -> Gate {
        self.get(name).map_or(Gate::Open, |tool| tool.gate(arguments, &self.principal))
    }

    fn label(&self, name: &str, arguments: Option<&JsonText>) -> CallLabel {
        self.get(name).map(|tool| tool.label(arguments)).unwrap_or_default()
    }

    fn check_output(&self, name: &str, arguments: &JsonText, output: &JsonText) -> Result<(), Text> {
        self.get(name).map_or(Ok(()), |tool| tool.check_output(arguments, output))
    }
}

impl fmt::Debug for ToolSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolSnapshot").field(&self.inner.tools.keys()).finish()
    }
}
