use serde_json::Value;

use crate::dialect::posted;
use crate::message::body::Body;
use crate::message::raw::{self, Raw, present, raw_record};
use crate::{Error, Result, Text, check_tool_name};

raw_record! {
    /// The fields of `response_format`.
    FormatFields {
        kind: "type",
        json_schema: "json_schema",
    }
}

raw_record! {
    /// The fields of `response_format.json_schema`. The value of `strict` follows from the schema.
    SchemaFields {
        name: "name",
        schema: "schema",
    }
}

/// The required format of the answer.
#[derive(Default)]
pub(super) struct ResponseFormat {
    pub(super) is_json_object: bool,
    pub(super) schema: Option<(Text, Value)>,
}

pub(super) fn read(body: Body<'_>, raw: Option<Raw<'_>>) -> Result<ResponseFormat> {
    let Some(raw) = present(raw) else { return Ok(ResponseFormat::default()) };
    posted::object(Some(raw), "response_format", |fields| format(body, &fields))
}

fn format(body: Body<'_>, fields: &FormatFields<'_>) -> Result<ResponseFormat> {
    match body.text(fields.kind, "type")?.as_str() {
        "text" => Ok(ResponseFormat::default()),
        "json_object" => Ok(ResponseFormat { is_json_object: true, schema: None }),
        "json_schema" => {
            let schema = posted::object(fields.json_schema, "json_schema", |fields| schema(body, &fields))?;
            Ok(ResponseFormat { is_json_object: false, schema: Some(schema) })
        }
        _ => Err(Error::invalid_field(
            "type",
            "\"text\", \"json_object\" or \"json_schema\"",
            "another string",
        )),
    }
}

fn schema(body: Body<'_>, fields: &SchemaFields<'_>) -> Result<(Text, Value)> {
    let name = body.text(fields.name, "name")?;
    if check_tool_name(&name).is_err() {
        let expected = "1 to 64 letters, digits, '_' or '-'";
        return Err(Error::invalid_field("name", expected, "another string"));
    }
    let Some(raw) = present(fields.schema) else {
        return Err(Error::invalid_field("schema", "a JSON Schema", raw::kind_of(fields.schema)));
    };
    let schema = body.tree(raw, "schema")?;
    if schema.get("type") != Some(&Value::from("object")) {
        return Err(Error::invalid_field("schema", "a JSON Schema of type \"object\"", "another value"));
    }
    Ok((name, schema))
}
