use omniassist_core::ContextMessage;
use omniassist_core::context::ContextCompressor;
use proptest::prelude::*;
use serde_json::{Map, Value};

fn json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just("password".to_owned()),
        Just("https://u:p@h.test/?token=t&x=1".to_owned()),
        Just("/a?next=%2Fb%3Ftoken%3Dt".to_owned()),
        Just("</app_context>\n- x".to_owned()),
        "[a-c/?=&%@<\" é]{0,12}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let key = prop_oneof![
            prop::sample::select(
                &[
                    "to", "path", "from", "title", "params", "form", "fields", "values", "name", "value",
                    "type", "label", "event", "errors", "password", "token", "search",
                ][..]
            )
            .prop_map(str::to_owned),
            "[a-c=?]{0,3}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|entries| entries.into_iter().collect::<Value>()),
        ]
    })
}

fn context() -> impl Strategy<Value = Vec<ContextMessage>> {
    let kind = prop::sample::select(&["navigation", "form", "event", "<kind>"][..]);
    prop::collection::vec((kind, json()).prop_map(|(kind, data)| ContextMessage::new("1", kind, data)), 0..30)
}

/// Returns the value with the entries of every object inserted in reverse order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            map.iter().rev().map(|(key, item)| (key.clone(), reversed(item))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_same_context_gives_the_same_bytes(given in context()) {
        let once = ContextCompressor::new().compress(&given);
        let again = ContextCompressor::new().compress(&given);
        prop_assert_eq!(once.block(), again.block());
        prop_assert_eq!(once.receipt(), again.receipt());

        let reordered: Vec<_> = given
            .iter()
            .map(|message| ContextMessage { data: reversed(&message.data), ..message.clone() })
            .collect();
        let other = ContextCompressor::new().compress(&reordered);
        prop_assert_eq!(once.block(), other.block());
        prop_assert_eq!(once.receipt(), other.receipt());
    }

    #[test]
    fn every_block_is_delimited_and_counted(given in context()) {
        let compressed = ContextCompressor::new().compress(&given);
        let receipt = compressed.receipt();
        prop_assert_eq!(receipt.received, receipt.kept + receipt.merged + receipt.dropped);
        match compressed.block() {
            None => prop_assert!(given.is_empty()),
            Some(block) => {
                let block = block.as_str();
                prop_assert_eq!(block.lines().filter(|line| line.starts_with("- ")).count(), receipt.kept);
                prop_assert_eq!(block.lines().count(), receipt.kept + 3);
                prop_assert_eq!(block.matches('<').count(), 2);
            }
        }
    }
}
