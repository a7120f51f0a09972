//! The parts of an operation, as requests need them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde_json::Value;

use super::Template;

/// An operation of a document, or of the host's code.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The operation id, or `GET /path`.
    pub(crate) id: String,
    pub(crate) method: Method,
    pub(crate) template: Template,
    pub(crate) pointer: String,
    pub(crate) tags: Vec<String>,
    pub(crate) summary: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    /// The alternatives of schemes; `None` for those of the document.
    pub(crate) security: Option<Vec<Vec<String>>>,
    /// The reason why the operation cannot be a tool.
    pub(crate) obstacle: Option<Cow<'static, str>>,
    /// A part that requests leave out.
    pub(crate) remark: Option<&'static str>,
}

/// The part of a request that a parameter is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Location {
    Path,
    Query,
    Header,
    Cookie,
}

impl Location {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
}

/// The form of a value in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Style { style: Style, explode: bool },
    Json,
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) location: Location,
    pub(crate) wire: Wire,
    pub(crate) required: bool,
    pub(crate) schema: Value,
    pub(crate) description: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) media_type: String,
    pub(crate) kind: BodyKind,
    pub(crate) required: bool,
    pub(crate) schema: Value,
    pub(crate) description: Option<String>,
}

/// The parts of a form that have a media type of their own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    /// The media types of texts.
    pub(crate) texts: BTreeMap<String, String>,
    /// The names of parts that have only media types of bytes, such as `image/*`.
    pub(crate) files: BTreeSet<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum BodyKind {
    Json,
    /// A form, with the fields that have a form of their own.
    Form(BTreeMap<String, Wire>),
    Multipart(Parts),
    Text,
}
