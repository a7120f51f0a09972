//! A generated document in the style of the largest public ones: 1,200 operations on resources with many near-synonyms,
//! nested resources, the same resource in several scopes, long descriptions that share most of their words, and schemas with
//! circles.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::server::document;

pub(crate) const OPERATIONS: usize = 1_200;
const SCHEMAS: usize = 600;

/// Requests in users' words, each with the id of its operation, for the tuning of the search.
pub(crate) const TUNED: &str = include_str!("tuned.txt");

/// Requests that no tuning has used, by a writer who had not seen the search.
pub(crate) const HELD_OUT: &str = include_str!("held_out.txt");

/// The requests that were held out before. Their totals were read while an earlier search was tuned.
pub(crate) const READ_BEFORE: &str = include_str!("read_before.txt");

/// An operation of the document.
pub(crate) struct Operation {
    pub(crate) id: String,
    method: &'static str,
    path: String,
    pub(crate) summary: String,
    about: String,
    area: String,
}

/// Returns the name in texts, and the path, of a scope.
fn scope(name: &str) -> (&'static str, &'static str) {
    match name {
        "repo" => ("repository", "/repos/{owner}/{repo}"),
        "org" => ("organization", "/orgs/{org}"),
        "user" => ("authenticated user", "/user"),
        "ent" => ("enterprise", "/enterprises/{enterprise}"),
        "team" => ("team", "/orgs/{org}/teams/{team}"),
        "project" => ("project", "/projects/{project}"),
        "env" => ("environment", "/repos/{owner}/{repo}/environments/{environment}"),
        _ => ("", ""),
    }
}

/// Returns the verb, its form in a summary, the method, and the end of the path, of a letter of the table. A verb of the whole
/// collection comes with `true`.
fn verb(letter: char) -> (&'static str, &'static str, &'static str, &'static str, bool) {
    match letter {
        'l' => ("list", "List", "get", "", true),
        'g' => ("get", "Get", "get", "/{id}", false),
        'c' => ("create", "Create", "post", "", false),
        'u' => ("update", "Update", "patch", "/{id}", false),
        'd' | 'x' => match letter {
            'd' => ("delete", "Delete", "delete", "/{id}", false),
            _ => ("remove", "Remove", "delete", "/{id}", false),
        },
        'a' => ("add", "Add", "put", "/{id}", false),
        'k' => ("check", "Check", "get", "/{id}/check", false),
        's' => ("set", "Set all", "put", "", true),
        _ => panic!("{letter} is no verb"),
    }
}

fn with_article(noun: &str) -> String {
    let is_vowel = noun.starts_with(|first: char| "aeioAEIO".contains(first));
    format!("{} {noun}", if is_vowel || noun.starts_with("SSH") { "an" } else { "a" })
}

fn method(text: &str) -> &'static str {
    match text {
        "GET" => "get",
        "POST" => "post",
        "PUT" => "put",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => panic!("{text} is no method"),
    }
}

/// Returns the operations, in the order of the table.
pub(crate) fn operations() -> Vec<Operation> {
    let mut all = Vec::new();
    let lines = include_str!("resources.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [area, scopes, path, one, many, about, verbs] = columns[..] else { panic!("{line}") };
        for scope_name in scopes.split(',') {
            let (noun, base) = scope(scope_name);
            let of = match noun {
                "" => String::new(),
                "authenticated user" => " of the authenticated user".to_owned(),
                noun => format!(" of {}", with_article(noun)),
            };
            let suffix = noun.split(' ').next_back().filter(|last| !last.is_empty());
            let suffix = suffix.map(|last| format!("-for-{last}")).unwrap_or_default();
            let collection = format!("{base}/{path}");
            let mut add = |id: &str, method, path, summary| {
                let id = format!("{area}/{id}{suffix}");
                let (about, area) = (about.to_owned(), area.to_owned());
                all.push(Operation { id, method, path, summary, about, area });
            };
            let mut parts = verbs.split(';').map(str::trim);
            for letter in parts.next().unwrap_or_default().chars() {
                let (verb, shown, method, end, is_whole) = verb(letter);
                let noun = if is_whole { many } else { one };
                let object = if is_whole { noun.to_owned() } else { with_article(noun) };
                let id = format!("{verb}-{}", noun.to_lowercase().replace(' ', "-"));
                add(&id, method, format!("{collection}{end}"), format!("{shown} {object}{of}"));
            }
            for part in parts.filter(|part| !part.is_empty()) {
                let fields: Vec<&str> = part.splitn(4, ':').collect();
                let [id, verb, end, summary] = fields[..] else { panic!("{part}") };
                let path = match end.strip_prefix('.') {
                    Some("") => collection.clone(),
                    Some(end) => format!("{collection}/{end}"),
                    None => format!("{collection}/{{id}}/{end}"),
                };
                let of = if scopes.contains(',') { of.as_str() } else { "" };
                add(id, method(verb), path, format!("{summary}{of}"));
            }
        }
    }
    all
}

/// Returns the requests of a file, with the ids of their operations.
pub(crate) fn requests(text: &str) -> Vec<(&str, &str)> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_once(" | ").unwrap()).collect()
}

fn reference(index: usize, schemas: usize) -> Value {
    json!({ "$ref": format!("#/components/schemas/model-{}", index % schemas) })
}

/// Returns schemas that refer to earlier and later ones, so that there are many circles.
fn schemas(count: usize) -> Value {
    let model = |index: usize| {
        let mut fields = Map::new();
        fields.insert(
            "id".to_owned(),
            json!({ "type": "integer", "format": "int64", "readOnly": true, "example": index }),
        );
        for field in 0..12 {
            let value = match (index + field) % 6 {
                0 => {
                    json!({ "type": "string", "nullable": true, "description": "A field. ".repeat(8), "example": "x" })
                }
                1 => json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true }),
                2 => json!({ "type": "array", "items": { "type": "string", "format": "uri" } }),
                3 => json!({ "type": "string", "enum": ["open", "closed", "all"], "default": "open" }),
                4 => json!({ "type": "string", "pattern": "^[a-z0-9-]+$", "maxLength": 100 }),
                _ => json!({ "type": "object", "additionalProperties": { "type": "boolean" } }),
            };
            fields.insert(format!("field_{field}"), value);
        }
        if index.is_multiple_of(4) {
            fields.insert("next".to_owned(), reference(index * 7 + 1, count));
        }
        // Every tenth belongs to a circle; most have few references, as in public documents.
        if index.is_multiple_of(10) {
            fields.insert(
                "parent".to_owned(),
                json!({ "nullable": true, "allOf": [reference(index / 2, count)] }),
            );
            fields.insert("self".to_owned(), reference(index, count));
        }
        json!({ "type": "object", "required": ["id", "field_0"], "properties": fields })
    };
    Value::Object((0..count).map(|index| (format!("model-{index}"), model(index))).collect())
}

/// Returns what an operation says at length. Most of it is the same for all, as in documents of this size.
fn description(operation: &Operation) -> String {
    let Operation { about, area, method, summary, .. } = operation;
    let access = if *method == "get" { "read" } else { "write" };
    let pages = "The answer is divided into pages; the `Link` header names the next page. Use `per_page` for larger pages, \
        of at most 100 entries, and `page` to look at a certain one. ";
    let pages = if summary.starts_with("List") { pages } else { "" };
    format!(
        "{summary}.\n\n{about}\n\n{pages}The access token needs the permission `{area}: {access}`. Personal access tokens \
         (classic), fine-grained tokens and tokens of apps can be used with this endpoint. If the account of the caller has \
         no access, the answer is `404 Not Found` in place of `403 Forbidden`, so that the existence of private resources \
         is not revealed.\n\n> [!NOTE]\n> Too many requests in a short time may result in secondary rate limiting. See the \
         guides on rate limits and on best practices for users of the REST API. Enterprise servers may have other limits, \
         which the administrator of the organization sets.\n\nThis endpoint supports custom media types: raw, text, HTML \
         and full. See the page on media types for how to create a request with one of them, and for what to update in \
         clients of an earlier version. The examples show the answer for a repository, a team or a user."
    )
}

fn definition(index: usize, operation: &Operation, schemas: usize) -> Value {
    let reference = |index| reference(index, schemas);
    let parameter = |name: &str, location: &str, schema: Value| json!({ "name": name, "in": location, "required": location == "path", "schema": schema, "description": "A parameter. ".repeat(10) });
    let mut parameters = vec![
        parameter("per_page", "query", json!({ "type": "integer", "default": 30, "maximum": 100 })),
        parameter("labels[]", "query", json!({ "type": "array", "items": { "type": "string" } })),
        parameter("X-Trace", "header", json!({ "type": "string", "nullable": true })),
    ];
    for part in operation.path.split('{').skip(1) {
        let name = part.split('}').next().unwrap();
        let schema = if name == "id" { json!({ "type": "integer" }) } else { json!({ "type": "string" }) };
        parameters.push(match name {
            "owner" => json!({ "$ref": "#/components/parameters/owner" }),
            _ => parameter(name, "path", schema),
        });
    }
    let mut definition = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "description": description(operation),
        "tags": [operation.area],
        "externalDocs": { "url": "https://docs.test/".repeat(8) },
        "parameters": parameters,
        "responses": { "200": { "description": "OK", "content": { "application/json": {
            "schema": { "type": "array", "items": reference(index) },
            "examples": { "default": { "value": vec![json!({ "id": 1, "url": "https://api.test/".repeat(12), "name": "x".repeat(90) }); 20] } },
        } } } },
    });
    if matches!(operation.method, "post" | "put" | "patch") {
        let schema = match index % 3 {
            0 => reference(index),
            1 => {
                json!({ "type": "object", "required": ["id"], "properties": { "id": { "type": "string" }, "model": reference(index * 3) } })
            }
            _ => json!({ "oneOf": [reference(index), { "type": "array", "items": reference(index + 5) }] }),
        };
        definition["requestBody"] =
            json!({ "required": index % 8 != 3, "content": { "application/json": { "schema": schema } } });
    }
    definition
}

/// Returns the document, which has more than 11 MB.
pub(crate) fn text() -> String {
    text_of(OPERATIONS)
}

/// Returns the document of the first operations, with as many schemas as belong to them.
pub(crate) fn text_of(operations: usize) -> String {
    let schema_count = operations * SCHEMAS / OPERATIONS;
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for (index, operation) in self::operations().iter().take(operations).enumerate() {
        let path = paths.entry(operation.path.clone()).or_default();
        let before = path.insert(operation.method.to_owned(), definition(index, operation, schema_count));
        assert!(before.is_none(), "{} {} is twice in the table", operation.method, operation.path);
    }
    let mut document = document("3.0.3", &json!(paths));
    let owner = json!({ "name": "owner", "in": "path", "required": true, "schema": { "type": "string" } });
    document["components"] = json!({ "schemas": schemas(schema_count), "parameters": { "owner": owner } });
    document.to_string()
}
