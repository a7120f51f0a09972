use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use omniassist_core::ToolSpec;
use serde_json::{Value, json};

use super::all;
use crate::Assistant;
use crate::testing::ScriptedProvider;

/// The variable that writes the file of the browser instead of comparing it.
const UPDATE: &str = "UPDATE_SCHEMAS";

/// Returns the tools as models are offered them.
fn specs() -> Arc<[Arc<ToolSpec>]> {
    let assistant = Assistant::builder(ScriptedProvider::new()).components(all()).build().unwrap();
    assistant.tools().snapshot().specs()
}

#[test]
fn the_schemas_of_the_browser_are_current() {
    let mut schemas = BTreeMap::new();
    for spec in &*specs() {
        let mut schema = spec.input_schema.clone();
        // The page has the instance from the output of the call.
        schema.get_mut("properties").and_then(Value::as_object_mut).unwrap().remove("instanceId");
        let entry = json!({ "description": spec.description, "schema": schema });
        schemas.insert(spec.name.trim_start_matches("ui_").to_owned(), entry);
    }
    assert_eq!(schemas.len(), 12);
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../widget/src/components/schemas.json");
    let text = serde_json::to_string_pretty(&schemas).unwrap() + "\n";
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "{UPDATE}=1 writes {}", file.display());
}

#[test]
fn a_model_reads_at_most_250_tokens_for_each_component() {
    let mut total = 0;
    for spec in &*specs() {
        let text =
            json!({ "name": spec.name, "description": spec.description, "parameters": spec.input_schema });
        let size = text.to_string().len();
        println!("{:12} {size:5} characters {:4} tokens", spec.name.as_str(), size.div_ceil(4));
        total += size.div_ceil(4);
        assert!(size <= 1_000, "{}: {size}", spec.name);
    }
    println!("all {total:31} tokens");
}
