//! The tools of a document's operations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use omniassist_server::Tool;
use omniassist_server::core::Limits;
use omniassist_server::tool::{StateMap, Tools};

use crate::arguments::Arguments;
use crate::auth::{Auth, Form};
use crate::document::{Document, Location, Operation, Scheme};
use crate::schema::{Definitions, Detail};
use crate::selection::{Selection, none};
use crate::selector::Selector;
use crate::settings::Connection;
use crate::tools::{Finding, OpenApiTools};
use crate::{OpenApiError, endpoint, glob, name};

/// A document, and the settings of its tools.
pub(crate) struct Plan<'a> {
    pub(crate) name: &'a str,
    pub(crate) document: &'a Document,
    pub(crate) auth: &'a BTreeMap<String, Auth>,
    pub(crate) selectors: Vec<(&'a str, Selector)>,
    pub(crate) connection: Arc<Connection>,
}

/// Reads the selectors of a document's operations.
pub(crate) fn selectors<'a>(
    selectors: &'a [(String, String)],
    document: &Document,
) -> Result<Vec<(&'a str, Selector)>, OpenApiError> {
    let read = selectors.iter().map(|(pattern, selector)| {
        if !document.operations.iter().any(|operation| glob::matches(pattern, &operation.id)) {
            return Err(none("select", pattern));
        }
        Ok((pattern.as_str(), selector.parse()?))
    });
    read.collect()
}

/// A tool, and the reason why its schema has not all details.
type Made = (Tool, Option<String>);

impl<'a> Plan<'a> {
    /// Checks that credentials fit the schemes that they are for, and that some operation uses each. Others would silently
    /// not be sent.
    pub(crate) fn check_auth(&self) -> Result<(), OpenApiError> {
        let operations = self.document.operations.iter();
        let used: BTreeSet<&String> =
            operations.flat_map(|operation| self.alternatives(operation)).flatten().collect();
        for (name, auth) in self.auth {
            let wrong = |reason: &str| Err(OpenApiError::configuration(format!("`auth`: {name:?} {reason}")));
            let form = match self.document.schemes.get(name) {
                None => return wrong("is no security scheme of the document"),
                Some(Scheme::Unsupported) => return wrong("is a scheme that tools cannot use"),
                Some(Scheme::ApiKey { .. }) => Form::ApiKey,
                Some(Scheme::Bearer) => Form::Bearer,
                Some(Scheme::Basic) => Form::Basic,
            };
            if ![form, Form::Any].contains(&auth.form) {
                return wrong(match form {
                    Form::ApiKey => "needs `Auth::api_key` or `Auth::per_principal`",
                    Form::Basic => "needs `Auth::basic` or `Auth::per_principal`",
                    Form::Bearer | Form::Any => "needs `Auth::bearer` or `Auth::per_principal`",
                });
            }
            if !used.contains(name) {
                return wrong(
                    "is in the `security` of no operation; send credentials to all with `secret_header`",
                );
            }
        }
        Ok(())
    }

    /// Returns the alternatives of schemes for an operation.
    fn alternatives<'o>(&self, operation: &'o Operation) -> &'o [Vec<String>]
    where
        'a: 'o,
    {
        operation.security.as_ref().unwrap_or(&self.document.security)
    }

    pub(crate) fn tools(&self, selection: &Selection) -> Result<OpenApiTools, OpenApiError> {
        let name = self.name.to_owned();
        let mut made = OpenApiTools { name, tools: Vec::new(), skipped: Vec::new(), loosened: Vec::new() };
        let operations = &self.document.operations;
        let (mut taken, names) = (BTreeSet::new(), names(self.name, operations));
        for (operation, name) in operations.iter().zip(names) {
            let is_new = taken.insert(name.clone());
            if !selection.holds(operation) {
                continue;
            }
            let finding = |reason: String| Finding {
                operation: operation.id.clone(),
                pointer: operation.pointer.clone(),
                reason,
            };
            let tool = match &operation.obstacle {
                Some(obstacle) => Err(obstacle.to_string()),
                None if !is_new => Err(format!("another operation has the name {name:?}")),
                None => self.tool(operation, &name)?,
            };
            match tool {
                Ok((tool, loosened)) => {
                    made.tools.push(tool);
                    let remark = operation.remark.map(str::to_owned);
                    made.loosened.extend(remark.into_iter().chain(loosened).map(finding));
                }
                Err(reason) => made.skipped.push(finding(reason)),
            }
        }
        let (tools, skipped) = (made.tools.len(), made.skipped.len());
        tracing::debug!(document = self.name, tools, skipped, "made tools of an OpenAPI document");
        Ok(made)
    }

    /// Makes a tool with as many details of the schema as the registry takes.
    fn tool(&self, operation: &Operation, name: &str) -> Result<Result<Made, String>, OpenApiError> {
        let credentials = match self.credentials(operation) {
            Ok(credentials) => credentials,
            Err(reason) => return Ok(Err(reason)),
        };
        let secret_headers = self.connection.headers.iter();
        let secret_headers = secret_headers.map(|(name, _)| (Location::Header, name.as_str().to_owned()));
        let of_schemes = self.document.schemes.values().filter_map(bound);
        let bound: Vec<(Location, String)> = of_schemes.chain(secret_headers).collect();
        let selector = self.selectors.iter().find(|(pattern, _)| glob::matches(pattern, &operation.id));
        let mut first = None;
        for detail in Detail::STEPS {
            let Document { root, is_3_0, .. } = self.document;
            let definitions = Definitions::new(root, *is_3_0, detail, &operation.pointer);
            let arguments = match Arguments::of(operation, &bound, definitions)? {
                Ok(arguments) => arguments,
                Err(reason) => return Ok(Err(reason)),
            };
            let selector = selector.map(|(_, selector)| selector.clone());
            let (name, credentials) = (name.to_owned(), credentials.clone());
            let tool = endpoint::tool(name, operation, arguments, &self.connection, credentials, selector);
            match Tools::new(StateMap::new(), Limits::default()).register(tool.clone()) {
                Ok(()) => return Ok(Ok((tool, first))),
                Err(error) => first = first.or(Some(error.to_string())),
            }
        }
        Ok(Err(first.unwrap_or_default()))
    }

    /// Returns the credentials of an operation: those of the first alternative that is complete, and none if no alternative
    /// is needed.
    fn credentials(&self, operation: &Operation) -> Result<Vec<(Scheme, Auth)>, String> {
        let alternatives = self.alternatives(operation);
        let complete =
            |alternative: &&Vec<String>| alternative.iter().all(|name| self.auth.contains_key(name));
        let usable = || alternatives.iter().filter(complete);
        let chosen = usable().find(|alternative| !alternative.is_empty()).or_else(|| usable().next());
        let Some(chosen) = chosen else {
            if alternatives.is_empty() {
                return Ok(Vec::new());
            }
            let listed = |alternatives: &[&Vec<String>]| {
                let names: Vec<String> =
                    alternatives.iter().map(|alternative| alternative.join(" and ")).collect();
                names.join(", or ")
            };
            let is_supported = |name: &String| self.document.schemes.get(name) != Some(&Scheme::Unsupported);
            let all: Vec<&Vec<String>> = alternatives.iter().collect();
            let settable: Vec<&Vec<String>> =
                alternatives.iter().filter(|alternative| alternative.iter().all(is_supported)).collect();
            if settable.is_empty() {
                return Err(format!("tools cannot use its security: {}", listed(&all)));
            }
            let names = listed(&settable);
            return Err(format!("there are no credentials for its security: {names}; set them with `auth`"));
        };
        let pairs = chosen
            .iter()
            .map(|name| self.document.schemes.get(name).cloned().zip(self.auth.get(name).cloned()));
        Ok(pairs.flatten().collect())
    }
}

/// Returns the parameter that a scheme's credentials take.
fn bound(scheme: &Scheme) -> Option<(Location, String)> {
    match scheme {
        Scheme::ApiKey { location, name } => Some((*location, name.clone())),
        Scheme::Bearer | Scheme::Basic => Some((Location::Header, "authorization".to_owned())),
        Scheme::Unsupported => None,
    }
}

/// Returns the name of each operation's tool. It depends on the document alone, and not on the selected operations.
fn names(prefix: &str, operations: &[Operation]) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for operation in operations {
        *counts.entry(operation.id.as_str()).or_insert(0_usize) += 1;
    }
    let name = |operation: &Operation| {
        let id = &operation.id;
        if counts.get(id.as_str()).is_some_and(|count| *count > 1) {
            let of = format!("{} {}", operation.method, operation.template.text);
            return name::marked(&format!("{prefix}_{id}"), &of, "");
        }
        name::safe(&format!("{prefix}_{id}"), "")
    };
    operations.iter().map(name).collect()
}
