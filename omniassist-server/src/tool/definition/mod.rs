//! Tools as the host defines them.

mod approval;
mod browser;
mod component;
pub(super) mod form;
mod handler;
pub(super) mod label;
mod tool;

pub use approval::{Approval, ApprovalDecision};
pub use browser::BrowserTools;
pub(super) use component::{CheckedSchema, RegisteredComponent};
pub(crate) use component::{ComponentParts, WriteText};
pub use component::{Environment, TextArea};
pub(crate) use handler::up_to_8_types;
pub use handler::{
    AsyncResult, IntoToolError, IntoToolOutput, ToolFuture, ToolHandler, ToolOutput, ToolParameters,
};
pub use tool::Tool;
pub(super) use tool::ToolSettings;
