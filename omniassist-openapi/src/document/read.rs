//! The operations of a document.

use std::borrow::Cow;
use std::collections::BTreeMap;

use http::Method;
use serde_json::Value;

use super::Document;
use super::body::body;
use super::node::Node;
use super::operation::{Body, Location, Operation, Parameter};
use super::parameters::parameters;
use super::security::{self, Scheme};
use super::template::Template;
use crate::OpenApiError;

const NOT_JSON: &str = "it is not valid JSON; convert a YAML document to JSON first";

/// The mark that some editors write before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

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
        let root: Value = serde_json::from_str(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
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
                let reason = format!("the version is {version:?}, and must be 3.0.x or 3.1.x");
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
            if let Some(reason) = outside(&item) {
                operations.push(unread(&template, &item, reason));
                continue;
            }
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

/// Returns the reason why something that refers to another document cannot be read.
fn outside(node: &Node<'_>) -> Option<Cow<'static, str>> {
    node.outside().map(|reference| format!("it refers to {reference:?}, outside of the document").into())
}

/// Returns what stands for the operations of a path that is in another document.
fn unread(template: &Template, path: &Node<'_>, obstacle: Cow<'static, str>) -> Operation {
    Operation {
        id: template.text.clone(),
        method: Method::GET,
        template: template.clone(),
        pointer: path.pointer.clone(),
        tags: Vec::new(),
        summary: None,
        description: None,
        parameters: Vec::new(),
        body: None,
        security: None,
        obstacle: Some(obstacle),
        remark: None,
    }
}

/// Returns the parameters of an operation, which are those of its path too.
fn of_path(template: &Template, path: &Node<'_>, node: &Node<'_>) -> Result<Vec<Parameter>, OpenApiError> {
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
    Ok(parameters)
}

fn operation(
    method: Method,
    template: &Template,
    path: &Node<'_>,
    node: &Node<'_>,
    schemes: &BTreeMap<String, Scheme>,
) -> Result<Operation, OpenApiError> {
    node.fields()?;
    let tags = node
        .items("tags")?
        .into_iter()
        .map(|tag| tag.value.as_str().map(str::to_owned).ok_or_else(|| tag.error("a tag must be a string")));
    let mut operation = Operation {
        id: node.text("operationId")?.map_or_else(|| format!("{method} {}", template.text), str::to_owned),
        method,
        template: template.clone(),
        pointer: node.pointer.clone(),
        tags: tags.collect::<Result<Vec<_>, _>>()?,
        summary: node.text("summary")?.or(path.text("summary")?).map(str::to_owned),
        description: node.text("description")?.or(path.text("description")?).map(str::to_owned),
        parameters: Vec::new(),
        body: None,
        security: security::requirements(node, schemes)?,
        obstacle: None,
        remark: None,
    };
    let parts = path.items("parameters")?.into_iter().chain(node.items("parameters")?);
    operation.obstacle = parts.chain(node.field("requestBody")).find_map(|part| outside(&part));
    if operation.obstacle.is_some() {
        return Ok(operation);
    }
    operation.parameters = of_path(template, path, node)?;
    let takes_body = !matches!(operation.method, Method::GET | Method::HEAD);
    match body(node)? {
        Some(Ok(body)) if takes_body => operation.body = Some(body),
        Some(Err(true)) if takes_body => {
            operation.obstacle = Some("its body is neither JSON nor a form nor text".into());
        }
        Some(Ok(Body { required: true, .. }) | Err(true)) => {
            operation.remark = Some("its required body is left out: GET and HEAD have none");
        }
        _ => {}
    }
    if operation.method == Method::TRACE {
        operation.obstacle = Some("tools do not use the method TRACE".into());
    } else if node.field("servers").or_else(|| path.field("servers")).is_some() {
        operation.obstacle = Some("it has servers of its own".into());
    } else if template.has_query() {
        operation.obstacle = Some("its path has a query or a fragment".into());
    }
    Ok(operation)
}
