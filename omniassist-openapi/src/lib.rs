//! Tools that call HTTP services: of OpenAPI documents ([`OpenApi`]), and of single operations ([`HttpTool`]).
//!
//! ```
//! use omniassist_openapi::{Auth, OpenApi};
//! use omniassist_server::Assistant;
//! use omniassist_server::testing::ScriptedProvider;
//!
//! let document = r#"{
//!     "openapi": "3.0.3",
//!     "security": [{"token": []}],
//!     "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
//!     "paths": {
//!         "/articles/{article}/stock": {
//!             "get": {
//!                 "operationId": "getStock",
//!                 "summary": "Stock of an article",
//!                 "parameters": [
//!                     {"name": "article", "in": "path", "required": true, "schema": {"type": "string"}}
//!                 ]
//!             }
//!         }
//!     }
//! }"#;
//! let tools = OpenApi::from_json("erp", document)?
//!     .server("https://erp.internal/v2")
//!     .allow_hosts(["erp.internal"])
//!     .auth("token", Auth::bearer("secret"))
//!     .select("getStock", "/sites/*/{name,pieces}")
//!     .tools()?;
//! for skipped in tools.skipped() {
//!     eprintln!("{}: {}", skipped.operation(), skipped.reason());
//! }
//! let assistant = Assistant::builder(ScriptedProvider::new()).tool_source(tools).build()?;
//! assert_eq!(assistant.tools().names(), ["erp_getStock"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Requests
//!
//! The server is fixed in code. Neither the document nor the model can change it, and redirects are not followed. An argument
//! in the path is percent-encoded, cannot be empty, and cannot be `.` or `..`. Only public addresses are contacted, unless
//! `allow_hosts` names the host; see [`outbound`](omniassist_server::outbound).
//!
//! The parameters of all locations and the fields of the body are one object of arguments. Names that are in several parts
//! of a request begin with the part: `path_id`, `query_id`, `header_id`, `cookie_id`, `body_id`. A name that models cannot
//! write, such as `filter[id]`, is changed and ends in `_` and six digits of a hash. So is that of a property within an
//! argument, such as `@odata.type`. The server receives the original names. All styles of OpenAPI are written as RFC
//! 6570 does. The standard leaves these cases open:
//!
//! - An exploded list or object in a cookie becomes several cookies.
//! - `deepObject` continues with further brackets for objects within objects, and with the index for items of lists, as in
//!   `items[0][price]=5`.
//! - `allowReserved` has no effect: reserved characters are always encoded.
//! - A list or an object within a list can only be sent in a JSON body. Elsewhere, it is an error for the model.
//!
//! A field that is `readOnly` is not needed, also if another part of an `allOf` requires it. A `oneOf` with a discriminator
//! becomes an `anyOf`.
//!
//! # Responses
//!
//! The model reads a JSON response as it is, or the part that `select` names. It reads other text as a string. A status
//! other than 200 to 299 is an error with the beginning of the body. Credentials of at least 6 bytes are removed from what a
//! server repeats. A number of more than 64 bits keeps its digits, unless a credential is removed.
//! An integer of more than 64 bits in an argument is an error for the model.
//!
//! # Approvals
//!
//! Calls of all methods but `GET` and `HEAD` need the user's approval. The tools of these two are
//! [`read_only`](omniassist_server::Tool::read_only).
//!
//! # Documents
//!
//! Documents are JSON. YAML must be converted first: its aliases can make a small text very large. The crate `serde-saphyr`
//! limits them. Its `from_str::<serde_json::Value>(yaml)?.to_string()` is the text for [`OpenApi::from_json`]. The default
//! budget is 250,000 nodes; the largest public documents need a larger one.
//!
//! An operation of a valid document is skipped if it cannot be a tool. [`OpenApiTools::skipped`] returns such operations with
//! the reasons, and they are logged when the tools are attached. The reasons concern its body: one that is required and is
//! neither JSON nor a form nor text, or a form that needs a file. Others are a server of its own, credentials that are not set,
//! a reference to another document, and a schema that providers refuse. An optional body of another type is left out.
//!
//! A part of a form that is a file is left out, because models cannot write bytes. Its schema says so, also behind a reference
//! or in an `allOf`, or its `encoding` has only media types such as `image/*`.
//!
//! The reader is our own. The crates `openapiv3` and `oas3` read one version each, and their types drop the schema keywords
//! that they do not know.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod arguments;
mod auth;
mod document;
mod endpoint;
mod error;
mod glob;
mod http_tool;
mod lower;
mod name;
mod open_api;
mod request;
mod response;
mod schema;
mod selection;
mod selector;
mod server;
mod settings;
mod text;
mod tools;

pub use auth::Auth;
pub use error::OpenApiError;
pub use http_tool::HttpTool;
pub use open_api::OpenApi;
pub use tools::{Finding, OpenApiTools};
