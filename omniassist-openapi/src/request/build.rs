use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use omniassist_server::ToolError;
use serde_json::{Map, Value};

use super::style::{in_header, in_pairs};
use super::{body, path};
use crate::arguments::Arguments;
use crate::document::{Location, Template};

/// A request before it has credentials.
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The server and the path.
    pub(crate) url: String,
    /// Encoded names and values.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) cookies: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Makes a request of the arguments. `server` is a URL without a slash at its end.
pub(crate) fn build(
    method: &Method,
    server: &str,
    template: &Template,
    plan: &Arguments,
    arguments: &Map<String, Value>,
) -> Result<Request, ToolError> {
    let arguments = &restored(arguments, &plan.renamed);
    let path = path::fill(template, &plan.parameters, arguments)?;
    let mut request = Request {
        method: method.clone(),
        url: format!("{server}{path}"),
        query: Vec::new(),
        cookies: Vec::new(),
        headers: HeaderMap::new(),
        body: Bytes::new(),
    };
    for slot in &plan.parameters {
        let Some(value) = arguments.get(&slot.argument).filter(|value| !value.is_null()) else { continue };
        match slot.location {
            Location::Path => {}
            Location::Query => request.query.extend(in_pairs(&slot.name, value, slot.wire)?),
            Location::Cookie => request.cookies.extend(in_pairs(&slot.name, value, slot.wire)?),
            Location::Header => {
                let unfit = || {
                    ToolError::new(format!(
                        "The argument for the header `{}` has characters that a header cannot have.",
                        slot.name
                    ))
                };
                let text = in_header(&slot.name, value, slot.wire)?;
                if !text.is_ascii() {
                    return Err(unfit());
                }
                let name = HeaderName::from_bytes(slot.name.as_bytes()).map_err(|_| unfit())?;
                request.headers.insert(name, HeaderValue::from_str(&text).map_err(|_| unfit())?);
            }
        }
    }
    if let Some(plan) = &plan.body
        && let Some((media_type, body)) = body::write(plan, arguments)?
    {
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_str(&media_type)?);
        request.body = body;
    }
    Ok(request)
}

/// Returns the path of a request with its arguments, encoded.
pub(crate) fn path_of(
    template: &Template,
    plan: &Arguments,
    arguments: &Map<String, Value>,
) -> Result<String, ToolError> {
    path::fill(template, &plan.parameters, &restored(arguments, &plan.renamed))
}

/// Returns the arguments with the names that the properties within them have in a request.
fn restored<'a>(
    arguments: &'a Map<String, Value>,
    renamed: &BTreeMap<String, String>,
) -> Cow<'a, Map<String, Value>> {
    if renamed.is_empty() {
        return Cow::Borrowed(arguments);
    }
    let arguments = arguments.iter().map(|(name, value)| (name.clone(), restored_value(value, renamed)));
    Cow::Owned(arguments.collect())
}

fn restored_value(value: &Value, renamed: &BTreeMap<String, String>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| restored_value(item, renamed)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                (renamed.get(name).unwrap_or(name).clone(), restored_value(value, renamed))
            });
            Value::Object(fields.collect())
        }
        value => value.clone(),
    }
}
