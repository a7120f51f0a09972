//! The operations of a document.

use std::collections::BTreeMap;

use http::Method;
use serde_json::Value;

use super::Document;
use super::body::body;
use super::node::Node;
use super::operation::{Location, Operation};
use super::parameters::parameters;
use super::security::{self, Scheme};
use super::template::Template;
use crate::OpenApiError;

const NOT_JSON: &str = "it is not valid JSON; convert a YAML document to JSON first";

const METHODS: [(&str, Method); 8] = [
    ("get", Method::GET),
    ("head", Method::HEAD),
    ("post", Method::POST),
    ("put", Method::PUT),
    ("patch", Method::PATCH),
    ("delete", Method::DELETE),
    ("options", Method::OPTIONS),
    ("trace", Method::TRACE),
];

impl Document {
    pub(crate) fn read(text: &str) -> Result<Self, OpenApiError> {
        let root: Value = serde_json::from_str(text)
            .map_err(|error| OpenApiError::document("", NOT_JSON).with_source(error))?;
        let node = Node::root(&root);
        node.fields()?;
        if node.field("swagger").is_some() {
            return Err(node.error("it is a Swagger 2.0 document; convert it to OpenAPI 3"));
        }
        let is_3_0 = match node.needed("openapi")? {
            version if version.starts_with("3.0.") => true,
            version if version.starts_with("3.1.") => false,
            version => {
                let reason = format!("the version is {version:?}, and must be 3.0 or 3.1");
                return Err(OpenApiError::document("/openapi", reason));
            }
        };
        let schemes = security::schemes(&node)?;
        let security = security::requirements(&node, &schemes)?.unwrap_or_default();
        let paths = node.field("paths").ok_or_else(|| node.error("it has no `paths`"))?;
        let mut operations = Vec::new();
        for (path, item) in paths.fields()? {
            if path.starts_with("x-") {
                continue;
            }
            let template = Template::parse(path).map_err(|reason| item.error(reason))?;
            let item = item.resolved()?;
            for (name, method) in METHODS {
                if let Some(node) = item.field(name) {
                    operations.push(operation(method, &template, &item, &node, &schemes)?);
                }
            }
        }
        Ok(Self { is_3_0, operations, schemes, security, root })
    }
}

fn operation(
    method: Method,
    template: &Template,
    path: &Node<'_>,
    node: &Node<'_>,
    schemes: &BTreeMap<String, Scheme>,
) -> Result<Operation, OpenApiError> {
    node.fields()?;
    let parameters = parameters(path, node)?;
    let declared =
        |name: &str| parameters.iter().any(|own| own.location == Location::Path && own.name == name);
    if let Some(name) = template.names().find(|name| !declared(name)) {
        return Err(node.error(format!("the path parameter {name:?} is not declared")));
    }
    let unused = parameters.iter().find(|parameter| {
        parameter.location == Location::Path && !template.names().any(|name| name == parameter.name)
    });
    if let Some(parameter) = unused {
        return Err(node.error(format!("the path has no placeholder {:?}", parameter.name)));
    }
    let tags = node
        .items("tags")?
        .into_iter()
        .map(|tag| tag.value.as_str().map(str::to_owned).ok_or_else(|| tag.error("a tag must be a string")));
    let tags = tags.collect::<Result<Vec<_>, _>>()?;
    let takes_body = !matches!(method, Method::GET | Method::HEAD);
    let (body, mut obstacle) = match body(node)? {
        None => (None, None),
        Some(_) if !takes_body => (None, None),
        Some(Ok(body)) => (Some(body), None),
        Some(Err(false)) => (None, None),
        Some(Err(true)) => (None, Some("its body is neither JSON nor a form nor text")),
    };
    if method == Method::TRACE {
        obstacle = Some("tools do not use the method TRACE");
    } else if node.field("servers").or_else(|| path.field("servers")).is_some() {
        obstacle = Some("it has servers of its own");
    } else if template.has_query() {
        obstacle = Some("its path has a query or a fragment");
    }
    Ok(Operation {
        id: node.text("operationId")?.map_or_else(|| format!("{method} {}", template.text), str::to_owned),
        method,
        template: template.clone(),
        pointer: node.pointer.clone(),
        tags,
        summary: node.text("summary")?.or(path.text("summary")?).map(str::to_owned),
        description: node.text("description")?.or(path.text("description")?).map(str::to_owned),
        parameters,
        body,
        security: security::requirements(node, schemes)?,
        obstacle,
    })
}
