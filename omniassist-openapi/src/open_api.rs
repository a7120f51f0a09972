use std::collections::BTreeMap;
use std::fmt;

use http::Method;

use crate::document::Document;
use crate::lower::{self, Plan};
use crate::selection::Selection;
use crate::server::{Server, redacted};
use crate::settings::{Settings, connection_setters};
use crate::{Auth, OpenApiError, OpenApiTools};

/// The maximum length of the name of a document.
const MAX_NAME: usize = 16;

/// A document of OpenAPI 3.0 or 3.1, whose operations become tools.
///
/// The document says how requests are written. The host's code says which server they are sent to, and with which
/// credentials.
///
/// ```
/// use omniassist_openapi::{Auth, OpenApi};
///
/// let text = r#"{
///     "openapi": "3.1.0",
///     "paths": {
///         "/orders/{id}": {
///             "get": {
///                 "operationId": "getOrder",
///                 "summary": "Look up an order",
///                 "parameters": [
///                     {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}
///                 ]
///             }
///         }
///     }
/// }"#;
/// let tools = OpenApi::from_json("erp", text)?.server("https://erp.example.com/v2").only(["get*"]).tools()?;
/// assert!(tools.skipped().is_empty());
/// assert_eq!(tools.tools()[0].name(), "erp_getOrder");
/// # Ok::<(), omniassist_openapi::OpenApiError>(())
/// ```
#[must_use = "it has no tools until they are made"]
pub struct OpenApi {
    name: String,
    document: Document,
    server: Option<String>,
    auth: BTreeMap<String, Auth>,
    selection: Selection,
    selectors: Vec<(String, String)>,
    settings: Settings,
}

impl OpenApi {
    /// Reads a document. The names of its tools begin with `name`, which has 1 to 16 of `a` to `z`, `0` to `9` and `-`,
    /// a letter first. A `_` follows it.
    ///
    /// # Errors
    ///
    /// Returns an error with the place in the document: it is not JSON, has another version, or an operation is malformed.
    pub fn from_json(name: impl Into<String>, text: &str) -> Result<Self, OpenApiError> {
        let name = name.into();
        let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let begins = name.bytes().next().is_some_and(|first| first.is_ascii_lowercase());
        if !begins || name.len() > MAX_NAME || !name.bytes().all(is_allowed) {
            let reason = format!(
                "the name {name:?} must be 1 to {MAX_NAME} of `a` to `z`, digits and `-`, and begin with a letter"
            );
            return Err(OpenApiError::configuration(reason));
        }
        Ok(Self {
            name,
            document: Document::read(text)?,
            server: None,
            auth: BTreeMap::new(),
            selection: Selection::default(),
            selectors: Vec::new(),
            settings: Settings::default(),
        })
    }

    /// Sets the URL before the paths of the document, such as `https://erp.example.com/v2`. The `servers` of the document are
    /// not used. There is no default; it must be set.
    pub fn server(mut self, url: impl Into<String>) -> Self {
        self.server = Some(url.into());
        self
    }

    /// Sets the credentials of a security scheme of the document. An operation uses the first alternative of its `security`
    /// for which all credentials are set, and is skipped if there is none. Parameters that are credentials are not offered to
    /// the model. Default: none.
    pub fn auth(mut self, scheme: impl Into<String>, auth: Auth) -> Self {
        self.auth.insert(scheme.into(), auth);
        self
    }

    /// Selects operations by id: those that match one of the patterns, in which `*` stands for any characters. An operation
    /// without an id has that of its method and path, as in `GET /orders/*`. Default: all.
    pub fn only<P: Into<String>>(mut self, patterns: impl IntoIterator<Item = P>) -> Self {
        self.selection.only = Some(patterns.into_iter().map(Into::into).collect());
        self
    }

    /// Leaves out the operations whose id matches one of the patterns. Default: none.
    pub fn except<P: Into<String>>(mut self, patterns: impl IntoIterator<Item = P>) -> Self {
        self.selection.except.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Selects operations that have one of these tags. Default: all.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.selection.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// Selects operations of these methods. Default: all but `TRACE`.
    pub fn methods(mut self, methods: impl IntoIterator<Item = Method>) -> Self {
        self.selection.methods = Some(methods.into_iter().collect());
        self
    }

    /// Sets the part of a JSON response that the model reads, for the operations whose id matches a pattern; see
    /// [`HttpTool::select`](crate::HttpTool::select). The first pattern that matches counts. Default: the whole response.
    pub fn select(mut self, pattern: impl Into<String>, selector: impl Into<String>) -> Self {
        self.selectors.push((pattern.into(), selector.into()));
        self
    }

    /// Makes the tools of the selected operations. An operation that cannot be a tool is
    /// [skipped](OpenApiTools::skipped).
    ///
    /// # Errors
    ///
    /// Returns an error in these cases:
    ///
    /// - There is no server, or its URL is refused.
    /// - A setting names something that the document does not have.
    /// - Credentials do not fit their scheme, or no operation of the document uses the scheme.
    /// - A reference of a selected operation leads nowhere.
    pub fn tools(self) -> Result<OpenApiTools, OpenApiError> {
        let server = self.server.as_deref();
        let server =
            server.ok_or_else(|| OpenApiError::configuration("there is no server; set it with `server`"))?;
        self.selection.check(&self.document.operations)?;
        let plan = Plan {
            name: &self.name,
            document: &self.document,
            auth: &self.auth,
            selectors: lower::selectors(&self.selectors, &self.document)?,
            connection: self.settings.connect(Server::parse(server)?)?,
        };
        plan.check_auth()?;
        plan.tools(&self.selection)
    }
}

connection_setters!(OpenApi);

impl fmt::Debug for OpenApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenApi")
            .field("name", &self.name)
            .field("operations", &self.document.operations.len())
            .field("server", &self.server.as_deref().map(redacted))
            .finish_non_exhaustive()
    }
}
