//! A schema that a client declares, and arguments for it: two lines of JSON. Reading the schema and checking the
//! arguments takes little time, and an accepted schema has TypeScript declarations.
#![no_main]

use std::sync::Arc;

use omniassist_core::{JsonText, ToolSpec, typescript};
use omniassist_server::tool::ToolSnapshot;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let (schema, arguments) = text.split_once('\n').unwrap_or((text, "{}"));
    let Ok(schema) = serde_json::from_str(schema) else { return };
    let declared = [Arc::new(ToolSpec::new("tool", "d", schema).front_end())];
    omniassist_fuzz::bounded(text.len(), || {
        let Ok(tools) = ToolSnapshot::default().with_declared(&declared) else { return };
        if let Ok(arguments) = JsonText::parse(arguments.to_owned()) {
            let _ = tools.check("tool", &arguments);
        }
        assert!(typescript::declarations(&tools.specs()).contains("export type ToolInput"), "no declaration");
    });
});
