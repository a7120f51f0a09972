use std::fs;
use std::path::PathBuf;

use omniassist_core::partial_json::Growing;
use serde_json::{Value, json};

use super::Screen;
use crate::components;
use crate::demo::samples;
use crate::partial_props::completed;

/// The variable that writes the screens instead of comparing them.
const UPDATE: &str = "UPDATE_SCREENS";

fn check(name: &str, columns: u16, screen: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("screens/{columns}/{name}.txt"));
    if std::env::var_os(UPDATE).is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, screen).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(screen, expected, "{name} at {columns} columns: {UPDATE}=1 writes {}", file.display());
}

#[tokio::test]
async fn every_component_is_shown_at_80_and_40_columns() {
    let samples = samples();
    assert_eq!(samples.len(), 12);
    for name in samples.keys() {
        for (columns, lines) in [(80, 24), (40, 40)] {
            let (mut screen, _) = Screen::demo(columns, lines);
            screen.ask(&format!("Show me {name}")).await;
            check(name, columns, &screen.text());
        }
    }
}

#[test]
fn the_other_kinds_of_components_are_readable() {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let series = |names: &[&str]| {
        let values = [31.0, 28.5, 40.0, 44.0, 61.0, 58.0, 72.0, 70.5, 66.0, 49.0, 38.0, 52.0];
        names.iter().map(|name| json!({ "name": name, "values": values })).collect::<Vec<_>>()
    };
    let chart = |kind: &str, names: &[&str]| json!({ "title": "Orders", "kind": kind, "labels": months, "series": series(names), "unit": "a day" });
    let table = json!({
        "columns": [{ "label": "City" }, { "label": "Paid" }, { "label": "Note" }],
        "rows": [["Rome", true, "Two letters are missing in the street"], ["Oslo", false, null]],
    });
    let card = json!({ "component": "card", "props": { "title": "A card within a row" } });
    let wrong = json!({ "component": "chart", "props": { "kind": "radar" } });
    let multiple = json!({
        "question": "Which days?", "multiple": true,
        "options": [{ "id": "1", "label": "Monday" }, { "id": "2", "label": "Tuesday" }],
    });
    for (file, name, props) in [
        ("chart-line", "chart", chart("line", &["Shop"])),
        ("chart-area", "chart", chart("area", &["Shop", "Web"])),
        ("chart-pie", "chart", chart("pie", &["Shop"])),
        ("chart-spark", "chart", chart("spark", &["Shop", "Web"])),
        ("table-plain", "table", table),
        ("stack-wrong-child", "stack", json!({ "direction": "row", "children": [card, wrong] })),
        ("choices-multiple", "choices", multiple),
    ] {
        for columns in [80, 40] {
            let text = components::text(name, &props, columns.into()).unwrap();
            check(file, columns, &(text + "\n"));
        }
    }
}

#[test]
fn no_line_is_wider_than_the_area() {
    use unicode_width::UnicodeWidthStr as _;
    for (name, props) in samples() {
        let props: Value = serde_json::from_str(props.get()).unwrap();
        for columns in 1..=120 {
            let text = components::text(&name, &props, columns).unwrap();
            let widest = text.lines().map(|line| line.width()).max().unwrap_or_default();
            assert!(widest <= columns, "{name} at {columns}: {widest}\n{text}");
        }
    }
}

#[test]
fn props_that_grow_are_shown_before_they_are_complete() {
    for (name, props) in samples() {
        let schema = components::schema(&name).unwrap();
        let whole = components::text(&name, &serde_json::from_str(props.get()).unwrap(), 80).unwrap();
        let (mut growing, mut shown, mut last) = (Growing::new(), 0, String::new());
        for char in props.get().chars() {
            growing.push(char.encode_utf8(&mut [0; 4])).unwrap();
            let written = growing.shown(schema).and_then(|props| completed(props.into_owned(), schema));
            if let Some(text) = written.and_then(|props| components::text(&name, &props, 80)) {
                shown += 1;
                last = text;
            }
        }
        assert_eq!(last, whole, "{name}");
        assert!(shown > props.get().len() / 2, "{name}: {shown} of {}", props.get().len());
    }
}

#[test]
fn hostile_props_reach_the_terminal_as_plain_text() {
    let evil = "a\u{1b}[2Jb\u{7}\u{9b}31m\u{202e}c\u{200b}\r\nd\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{e0041}\u{85}";
    for (name, props) in samples() {
        let mut props: Value = serde_json::from_str(props.get()).unwrap();
        replace_texts(&mut props, evil);
        let Some(text) = components::text(&name, &props, 40) else { continue };
        let is_plain = |char: char| {
            char == '\n'
                || !(char.is_control()
                    || matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{e0000}'..='\u{e0fff}'))
        };
        assert!(text.chars().all(is_plain), "{name}: {text:?}");
        assert!(!text.contains("\u{301}\u{301}\u{301}\u{301}\u{301}"), "{name}: {text:?}");
        assert!(text.contains("[2J"), "{name}: {text:?}");
    }
}

/// Replaces the texts that a user reads, and not those that select something.
fn replace_texts(value: &mut Value, text: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace_texts(item, text)),
        Value::Object(members) => {
            let kept = ["kind", "direction", "component", "status", "trend"];
            let members = members.iter_mut().filter(|(name, _)| !kept.contains(&name.as_str()));
            members.for_each(|(_, value)| replace_texts(value, text));
        }
        Value::String(old) => text.clone_into(old),
        _ => {}
    }
}

#[test]
fn a_thousand_items_are_shown_with_a_note() {
    let items: Vec<Value> = (0..1_234).map(|at| json!({ "text": format!("item {at}") })).collect();
    let text = components::text("list", &json!({ "items": items }), 40).unwrap();
    assert!(text.ends_with("• item 999\n… and 234 more"), "{text}");
    let rows: Vec<Value> = (0..1_234).map(|at| json!([at])).collect();
    let text =
        components::text("table", &json!({ "columns": [{ "label": "n" }], "rows": rows }), 40).unwrap();
    assert!(text.contains("│ 999") && !text.contains("│ 1000") && text.ends_with("… and 234 more"));
}
