//! The arguments of a tool: one object for all parts of a request.

use std::collections::{BTreeMap, BTreeSet};

use omniassist_server::core::secret::is_secret_name;
use serde_json::{Map, Value, json};

use crate::document::{Body, BodyKind, Location, Operation, Parameter, Wire};
use crate::schema::{Definitions, as_object};
use crate::{OpenApiError, name, text};

/// The arguments of an operation, and their places in a request.
pub(crate) struct Arguments {
    pub(crate) schema: Value,
    pub(crate) parameters: Vec<Slot>,
    pub(crate) body: Option<BodyPlan>,
    /// The names that properties within arguments have in a request, by those in the schema.
    pub(crate) renamed: BTreeMap<String, String>,
}

/// An argument that is a parameter.
pub(crate) struct Slot {
    pub(crate) argument: String,
    pub(crate) name: String,
    pub(crate) location: Location,
    pub(crate) wire: Wire,
}

pub(crate) struct BodyPlan {
    pub(crate) media_type: String,
    pub(crate) kind: BodyKind,
    pub(crate) required: bool,
    pub(crate) content: Content,
}

pub(crate) enum Content {
    /// The argument of this name is the body.
    Whole(String),
    /// The body is an object of these arguments, each with the name of its field.
    Fields(Vec<(String, String)>),
}

/// A property of the arguments before it has its name.
struct Candidate {
    original: String,
    part: &'static str,
    required: bool,
    schema: Value,
}

impl Arguments {
    /// Makes one object of all parameters and the body. Parameters that are `bound` to credentials are left out.
    ///
    /// # Errors
    ///
    /// Returns an error of the document, and inside the reason why the operation can have no arguments.
    pub(crate) fn of(
        operation: &Operation,
        bound: &[(Location, String)],
        mut definitions: Definitions<'_>,
    ) -> Result<Result<Self, String>, OpenApiError> {
        let mut parameters = Vec::new();
        for parameter in &operation.parameters {
            match treatment(parameter, bound) {
                Treatment::Offer => parameters.push(parameter),
                Treatment::LeaveOut => {}
                Treatment::Refuse(reason) => {
                    return Ok(Err(format!(
                        "its {} parameter {:?} {reason}",
                        parameter.location.name(),
                        parameter.name
                    )));
                }
            }
        }
        let mut candidates: Vec<Candidate> = Vec::new();
        for parameter in &parameters {
            candidates.push(Candidate {
                original: parameter.name.clone(),
                part: parameter.location.name(),
                required: parameter.required,
                schema: described(definitions.convert(&parameter.schema), parameter.description.as_deref()),
            });
        }
        if let Some(Body { kind: BodyKind::Multipart(parts), schema, .. }) = &operation.body
            && let Some(file) = definitions.needed_file(schema, parts)
        {
            return Ok(Err(format!("its body needs the file {file:?}")));
        }
        let fields =
            operation.body.as_ref().map(|body| body_candidates(body, &mut definitions, &mut candidates));
        let mut names = names(&candidates).into_iter();
        let (definitions, renamed) = match definitions.finish()? {
            Ok(finished) => finished,
            Err(reason) => return Ok(Err(reason)),
        };
        let schema = schema(&candidates, names.as_slice(), definitions);
        let slots = parameters.into_iter().zip(names.by_ref());
        let parameters = slots.map(|(parameter, argument)| Slot {
            argument,
            name: parameter.name.clone(),
            location: parameter.location,
            wire: parameter.wire,
        });
        let parameters = parameters.collect();
        let body = operation.body.as_ref().zip(fields).map(|(body, fields)| BodyPlan {
            media_type: body.media_type.clone(),
            kind: body.kind.clone(),
            required: body.required,
            content: match fields {
                Some(fields) => Content::Fields(names.zip(fields).collect()),
                None => Content::Whole(names.next().unwrap_or_default()),
            },
        });
        Ok(Ok(Self { schema, parameters, body, renamed }))
    }
}

/// Adds the fields of a body, and returns their names; or adds the whole body as one.
fn body_candidates(
    body: &Body,
    definitions: &mut Definitions<'_>,
    candidates: &mut Vec<Candidate>,
) -> Option<Vec<String>> {
    let flat = match body.kind {
        BodyKind::Multipart(_) => definitions.flat(&body.schema),
        _ => None,
    };
    let resolved = flat.unwrap_or_else(|| definitions.resolved(&body.schema).clone());
    let object = match body.kind {
        BodyKind::Text => None,
        // Fields that an optional body needs are needed only with the body.
        _ => as_object(&resolved).filter(|(_, required)| body.required || required.is_empty()),
    };
    let Some((fields, required)) = object else {
        let schema = match &body.kind {
            BodyKind::Text => json!({ "type": "string" }),
            BodyKind::Multipart(parts) => {
                let without_files = definitions.without_files(&resolved, parts);
                definitions.convert(&without_files)
            }
            _ => definitions.convert(&body.schema),
        };
        candidates.push(Candidate {
            original: "body".to_owned(),
            part: "body",
            required: body.required,
            schema: described(schema, body.description.as_deref()),
        });
        return None;
    };
    let mut names = Vec::new();
    for (name, schema) in fields {
        let is_bytes =
            matches!(&body.kind, BodyKind::Multipart(parts) if definitions.is_file(name, schema, parts));
        if definitions.is_read_only(schema) || *schema == Value::Bool(false) || is_bytes {
            continue;
        }
        names.push(name.clone());
        candidates.push(Candidate {
            original: name.clone(),
            part: "body",
            required: required.contains(&name.as_str()),
            schema: definitions.convert(schema),
        });
    }
    Some(names)
}

enum Treatment {
    Offer,
    LeaveOut,
    Refuse(&'static str),
}

/// Returns what is done with a parameter: some are not for models to choose.
fn treatment(parameter: &Parameter, bound: &[(Location, String)]) -> Treatment {
    let name = parameter.name.to_ascii_lowercase();
    let is_header = parameter.location == Location::Header;
    let is_bound = bound.iter().any(|(location, other)| {
        *location == parameter.location
            && if is_header { other.eq_ignore_ascii_case(&name) } else { *other == parameter.name }
    });
    // The standard says to ignore these headers.
    if is_bound || (is_header && ["accept", "content-type", "authorization"].contains(&name.as_str())) {
        return Treatment::LeaveOut;
    }
    let is_of_connection = is_header
        && (name.starts_with("proxy-")
            || name.starts_with("x-forwarded-")
            || [
                "connection",
                "content-encoding",
                "content-length",
                "cookie",
                "expect",
                "forwarded",
                "host",
                "keep-alive",
                "te",
                "trailer",
                "transfer-encoding",
                "upgrade",
            ]
            .contains(&name.as_str()));
    let is_secret = match parameter.location {
        Location::Header | Location::Cookie => is_secret_name(&name),
        Location::Query => {
            let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
            ["accesstoken", "apikey", "authorization", "clientsecret", "password"].contains(&letters.as_str())
        }
        Location::Path => false,
    };
    match (is_of_connection, is_secret, parameter.required) {
        (false, false, _) => Treatment::Offer,
        (_, _, false) => Treatment::LeaveOut,
        (true, _, true) => Treatment::Refuse("belongs to the connection"),
        (false, true, true) => Treatment::Refuse("holds a secret; send it with `secret_header` or `auth`"),
    }
}

/// Returns a schema with the description of a parameter.
fn described(mut schema: Value, description: Option<&str>) -> Value {
    let description = description.map(text::description).filter(|description| !description.is_empty());
    if schema == Value::Bool(true) {
        schema = json!({});
    }
    if let (Value::Object(keywords), Some(description)) = (&mut schema, description) {
        keywords.insert("description".to_owned(), description.into());
    }
    schema
}

/// Returns the names of the arguments. Those of the same name in several parts of the request begin with the part.
fn names(candidates: &[Candidate]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut name = |candidate: &Candidate| {
        let own = &candidate.original;
        let is_shared = candidates.iter().filter(|other| other.original == *own).count() > 1;
        let full = if is_shared { format!("{}_{own}", candidate.part) } else { own.clone() };
        let mut safe = name::safe(&full, ".");
        if taken.contains(&safe) {
            safe = name::marked(&full, &format!("{} {own}", candidate.part), ".");
        }
        taken.insert(safe.clone());
        safe
    };
    candidates.iter().map(&mut name).collect()
}

fn schema(candidates: &[Candidate], names: &[String], definitions: Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (candidate, name) in candidates.iter().zip(names) {
        properties.insert(name.clone(), candidate.schema.clone());
        if candidate.required {
            required.push(Value::from(name.clone()));
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if let Value::Object(keywords) = &mut schema {
        if !required.is_empty() {
            keywords.insert("required".to_owned(), required.into());
        }
        if !definitions.is_empty() {
            keywords.insert("$defs".to_owned(), definitions.into());
        }
    }
    schema
}
