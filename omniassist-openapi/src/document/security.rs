//! The security schemes of a document.

use std::collections::BTreeMap;

use super::node::Node;
use super::operation::Location;
use crate::OpenApiError;

/// The place of credentials in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scheme {
    ApiKey {
        location: Location,
        name: String,
    },
    Bearer,
    Basic,
    /// A scheme that tools cannot use, such as client certificates.
    Unsupported,
}

pub(super) fn schemes(root: &Node<'_>) -> Result<BTreeMap<String, Scheme>, OpenApiError> {
    let declared = root.field("components").and_then(|components| components.field("securitySchemes"));
    let Some(declared) = declared else { return Ok(BTreeMap::new()) };
    declared
        .fields()?
        .into_iter()
        .map(|(name, node)| Ok((name.to_owned(), scheme(&node.resolved()?)?)))
        .collect()
}

fn scheme(node: &Node<'_>) -> Result<Scheme, OpenApiError> {
    Ok(match node.needed("type")? {
        "apiKey" => {
            let location = match node.needed("in")? {
                "query" => Location::Query,
                "header" => Location::Header,
                "cookie" => Location::Cookie,
                _ => return Err(node.error("`in` of an API key must be `query`, `header` or `cookie`")),
            };
            Scheme::ApiKey { location, name: node.needed("name")?.to_owned() }
        }
        "http" => match node.needed("scheme")?.to_ascii_lowercase().as_str() {
            "bearer" => Scheme::Bearer,
            "basic" => Scheme::Basic,
            _ => Scheme::Unsupported,
        },
        "oauth2" | "openIdConnect" => Scheme::Bearer,
        "mutualTLS" => Scheme::Unsupported,
        _ => return Err(node.error("the type of the security scheme is not known")),
    })
}

/// Returns the alternatives of the field `security`, each a list of schemes that are needed together.
pub(super) fn requirements(
    node: &Node<'_>,
    schemes: &BTreeMap<String, Scheme>,
) -> Result<Option<Vec<Vec<String>>>, OpenApiError> {
    if node.field("security").is_none() {
        return Ok(None);
    }
    let alternatives = node.items("security")?.into_iter().map(|alternative| {
        let names = alternative.fields()?.into_iter().map(|(name, node)| {
            if schemes.contains_key(name) {
                Ok(name.to_owned())
            } else {
                Err(node.error("there is no security scheme of this name"))
            }
        });
        names.collect::<Result<Vec<_>, _>>()
    });
    alternatives.collect::<Result<Vec<_>, _>>().map(Some)
}
