//! The reader of documents: OpenAPI 3.0 and 3.1 as JSON.
//!
//! It reads what a tool needs: parameters, bodies, security, and the place of each schema. Responses, examples, callbacks and
//! links are ignored.

mod body;
mod node;
mod operation;
mod parameters;
mod read;
mod security;
mod template;

use std::collections::BTreeMap;

pub(crate) use body::is_text;
pub(crate) use node::target;
pub(crate) use operation::{Body, BodyKind, Location, Operation, Parameter, Parts, Style, Wire};
pub(crate) use security::Scheme;
use serde_json::Value;
pub(crate) use template::{Piece, Template};

/// A document that was read.
pub(crate) struct Document {
    pub(crate) root: Value,
    /// `true` for OpenAPI 3.0, whose schemas are not JSON Schema.
    pub(crate) is_3_0: bool,
    pub(crate) operations: Vec<Operation>,
    pub(crate) schemes: BTreeMap<String, Scheme>,
    /// The alternatives of schemes for operations without their own.
    pub(crate) security: Vec<Vec<String>>,
}
