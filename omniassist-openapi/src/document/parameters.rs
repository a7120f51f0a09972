//! The parameters of an operation.

use super::node::Node;
use super::operation::{Location, Parameter, Style, Wire};
use crate::OpenApiError;

/// Returns the parameters of an operation. Those of its path come first, unless the operation has one of the same name and
/// location.
pub(super) fn parameters(path: &Node<'_>, operation: &Node<'_>) -> Result<Vec<Parameter>, OpenApiError> {
    let mut all = list(path)?;
    for own in list(operation)? {
        match all.iter_mut().find(|other| is_same(other, &own)) {
            Some(other) => *other = own,
            None => all.push(own),
        }
    }
    Ok(all)
}

fn is_same(one: &Parameter, other: &Parameter) -> bool {
    one.location == other.location
        && match one.location {
            Location::Header => one.name.eq_ignore_ascii_case(&other.name),
            _ => one.name == other.name,
        }
}

fn list(node: &Node<'_>) -> Result<Vec<Parameter>, OpenApiError> {
    let mut all: Vec<Parameter> = Vec::new();
    for item in node.items("parameters")? {
        let node = item.clone().resolved()?;
        let parameter = parameter(&node)?;
        if all.iter().any(|other| is_same(other, &parameter)) {
            return Err(item.error(format!(
                "the {} parameter {:?} is there twice",
                parameter.location.name(),
                parameter.name
            )));
        }
        all.push(parameter);
    }
    Ok(all)
}

fn parameter(node: &Node<'_>) -> Result<Parameter, OpenApiError> {
    let name = node.needed("name")?;
    let location = match node.needed("in")? {
        "path" => Location::Path,
        "query" => Location::Query,
        "header" => Location::Header,
        "cookie" => Location::Cookie,
        other => {
            return Err(
                node.error(format!("`in` is {other:?}, and must be `path`, `query`, `header` or `cookie`"))
            );
        }
    };
    let required = node.flag("required")?.unwrap_or(false);
    if location == Location::Path && !required {
        return Err(node.error("a path parameter must be `required`"));
    }
    let (wire, schema) = match (node.field("schema"), node.field("content")) {
        (Some(schema), None) => (wire(node, Some(location))?, schema),
        (None, Some(content)) => {
            let mut types = content.fields()?;
            let (Some((_, media_type)), true) = (types.pop(), types.is_empty()) else {
                return Err(content.error("it must have one media type"));
            };
            let schema = media_type.field("schema").ok_or_else(|| media_type.error("it has no `schema`"))?;
            (Wire::Json, schema)
        }
        _ => return Err(node.error("it must have either a `schema` or a `content`")),
    };
    if !schema.value.is_object() && !schema.value.is_boolean() {
        return Err(schema.error("a schema must be an object"));
    }
    let description = node.text("description")?.map(str::to_owned);
    Ok(Parameter {
        name: name.to_owned(),
        location,
        wire,
        required,
        schema: schema.value.clone(),
        description,
    })
}

/// Returns the form of a parameter, or of a field of a form, which has no location.
pub(super) fn wire(node: &Node<'_>, location: Option<Location>) -> Result<Wire, OpenApiError> {
    let style = match node.text("style")? {
        None => match location {
            Some(Location::Path | Location::Header) => Style::Simple,
            Some(Location::Query | Location::Cookie) | None => Style::Form,
        },
        Some("simple") => Style::Simple,
        Some("label") => Style::Label,
        Some("matrix") => Style::Matrix,
        Some("form") => Style::Form,
        Some("spaceDelimited") => Style::SpaceDelimited,
        Some("pipeDelimited") => Style::PipeDelimited,
        Some("deepObject") => Style::DeepObject,
        Some(other) => return Err(node.error(format!("the style {other:?} is not known"))),
    };
    let fits = match location {
        Some(Location::Path) => matches!(style, Style::Simple | Style::Label | Style::Matrix),
        Some(Location::Header) => style == Style::Simple,
        Some(Location::Cookie) => style == Style::Form,
        Some(Location::Query) | None => !matches!(style, Style::Simple | Style::Label | Style::Matrix),
    };
    if !fits {
        let place = location.map_or("form", Location::name);
        return Err(node.error(format!("its style does not fit a {place} parameter")));
    }
    let explode = node.flag("explode")?.unwrap_or(style == Style::Form);
    Ok(Wire::Style { style, explode })
}
