//! The body of an operation.

use std::collections::BTreeMap;

use http::HeaderValue;

use super::node::Node;
use super::operation::{Body, BodyKind, Parts};
use super::parameters::wire;
use crate::OpenApiError;

/// The media types of texts that begin with `application/`.
const TEXTS: [&str; 12] = [
    "*",
    "graphql",
    "javascript",
    "json",
    "jsonl",
    "ndjson",
    "sql",
    "x-ndjson",
    "x-www-form-urlencoded",
    "x-yaml",
    "xml",
    "yaml",
];

/// Returns the body in the first form that tools can write: JSON, a form, parts, text. `Err(true)` inside stands for a required
/// body in other forms only, `Err(false)` for an optional one.
pub(super) fn body(operation: &Node<'_>) -> Result<Option<Result<Body, bool>>, OpenApiError> {
    let Some(node) = operation.field("requestBody") else { return Ok(None) };
    let node = node.resolved()?;
    let required = node.flag("required")?.unwrap_or(false);
    let content = node.field("content").ok_or_else(|| node.error("it has no `content`"))?;
    let mut found: Option<(u8, Body)> = None;
    for (media_type, content) in content.fields()? {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let (rank, kind) = match essence.as_str() {
            "application/json" => (0, BodyKind::Json),
            // A list of changes is harder to write than the changed fields.
            "application/json-patch+json" => (2, BodyKind::Json),
            json if json.ends_with("+json") => (1, BodyKind::Json),
            "*/*" | "application/*" => (3, BodyKind::Json),
            "application/x-www-form-urlencoded" => (4, BodyKind::Form(encoding(&content)?)),
            "multipart/form-data" => (5, BodyKind::Multipart(parts(&content)?)),
            text if text.starts_with("text/") => (6, BodyKind::Text),
            _ => continue,
        };
        let schema = content.field("schema");
        if let Some(schema) =
            schema.as_ref().filter(|schema| !schema.value.is_object() && !schema.value.is_boolean())
        {
            return Err(schema.error("a schema must be an object"));
        }
        if found.as_ref().is_some_and(|(other, _)| *other <= rank) {
            continue;
        }
        let media_type = match rank {
            3 => "application/json",
            _ if essence == "text/*" => "text/plain; charset=utf-8",
            _ => media_type,
        };
        let schema = schema.map_or_else(|| serde_json::json!({}), |schema| schema.value.clone());
        let description = node.text("description")?.map(str::to_owned);
        found = Some((rank, Body { media_type: media_type.to_owned(), kind, required, schema, description }));
    }
    Ok(Some(found.map(|(_, body)| body).ok_or(required)))
}

fn encoding(content: &Node<'_>) -> Result<BTreeMap<String, super::operation::Wire>, OpenApiError> {
    let Some(encoding) = content.field("encoding") else { return Ok(BTreeMap::new()) };
    let fields = encoding.fields()?.into_iter();
    let styled =
        fields.filter(|(_, field)| field.field("style").is_some() || field.field("explode").is_some());
    styled.map(|(name, field)| Ok((name.to_owned(), wire(&field, None)?))).collect()
}

/// Returns the parts of a form that have a media type, each with the first that models can write.
fn parts(content: &Node<'_>) -> Result<Parts, OpenApiError> {
    let mut parts = Parts::default();
    let Some(encoding) = content.field("encoding") else { return Ok(parts) };
    for (name, field) in encoding.fields()? {
        let given = field.text("contentType")?.unwrap_or_default();
        let mut given = given.split(',').map(str::trim).filter(|media_type| !media_type.is_empty());
        match given.clone().find(|media_type| is_text(media_type)) {
            None if given.next().is_none() => {}
            None => drop(parts.files.insert(name.to_owned())),
            Some(text) if text.contains('*') || HeaderValue::from_str(text).is_err() => {}
            Some(text) => drop(parts.texts.insert(name.to_owned(), text.to_owned())),
        }
    }
    Ok(parts)
}

/// Returns `true` for a media type, or a range of them, whose content models can write.
pub(crate) fn is_text(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.split_once('/') {
        Some(("text" | "*", _)) | None => true,
        Some(("application", name)) if TEXTS.contains(&name) => true,
        Some((_, name)) => ["+json", "+xml", "+yaml"].iter().any(|suffix| name.ends_with(suffix)),
    }
}
