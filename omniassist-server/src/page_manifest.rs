use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Error, Result};

/// The version of the format.
const VERSION: u32 = 1;

/// The pages, forms and schemas of a web application, as the scanner and the Vite plugin of the npm folder
/// `omniassist-client` list them in `routes.json`.
///
/// [`AssistantBuilder::pages`](crate::AssistantBuilder::pages) adds it to `GET /manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageManifest {
    version: u32,
    routes: Vec<PageRoute>,
    #[serde(default)]
    forms: Vec<PageForm>,
    #[serde(default)]
    schemas: BTreeMap<String, Map<String, Value>>,
}

/// A page, with parameters in its path such as `/orders/:id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PageRoute {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    params: Vec<String>,
}

/// A form that the assistant may fill, with the JSON Schema of its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PageForm {
    form: String,
    schema: Map<String, Value>,
}

impl PageManifest {
    /// Reads the text of `routes.json`. Members that are not known are ignored.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, a member is missing or has another type, or the version is not 1. The error names
    /// the path of the member.
    pub fn from_json(text: &str) -> Result<Self> {
        let error =
            |path: &str| Error::configuration(format!("the manifest of the pages is not valid at `{path}`"));
        let mut json = serde_json::Deserializer::from_str(text);
        let pages: Self = serde_path_to_error::deserialize(&mut json)
            .map_err(|source| error(&source.path().to_string()).with_source(source.into_inner()))?;
        json.end().map_err(|source| error(".").with_source(source))?;
        match pages.version {
            VERSION => Ok(pages),
            _ => Err(error("version")),
        }
    }
}
