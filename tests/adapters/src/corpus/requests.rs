use serde_json::json;

use super::Entry;
use crate::stage::{adder, adding, assistant, invoice, run, says};
use crate::wire::Ask;

fn entry(name: &'static str, ask: Ask, make: fn() -> omniassist_server::Assistant) -> Entry {
    Entry { name, mount: "/assistant", ask, assistant: make, is_cut: false }
}

fn talker() -> omniassist_server::Assistant {
    assistant(says("Hello")).tool(adder()).object(invoice()).build().unwrap()
}

fn adder_of_numbers() -> omniassist_server::Assistant {
    assistant(adding()).tool(adder()).build().unwrap()
}

pub(crate) fn entries() -> Vec<Entry> {
    vec![
        entry("run", run("/assistant"), talker),
        entry("run with a tool", run("/assistant"), adder_of_numbers),
        entry("completion", Ask::json("/assistant/completion", &json!({ "prompt": "hi" })), talker),
    ]
}
