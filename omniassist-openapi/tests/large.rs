//! A document in the style of the largest public ones.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use omniassist_openapi::OpenApi;
use omniassist_server::core::Limits;
use omniassist_server::tool::{StateMap, Tools};

use crate::hub::{OPERATIONS, operations, text, text_of};
use crate::server::schema;

#[test]
fn twelve_hundred_operations_become_tools() {
    let text = text();
    assert!((11_000_000..14_000_000).contains(&text.len()), "{} bytes", text.len());
    let start = Instant::now();
    let open = OpenApi::from_json("hub", &text).unwrap().server("https://api.test");
    let read = start.elapsed();
    let tools = open.tools().unwrap();
    println!(
        "{} bytes: read in {read:?}, {} tools in {:?}, {} loosened",
        text.len(),
        tools.tools().len(),
        start.elapsed() - read,
        tools.loosened().len(),
    );
    assert!(tools.skipped().is_empty(), "{:?}", tools.skipped());
    // Every schema is accepted as a whole.
    assert!(tools.loosened().is_empty(), "{:?}", tools.loosened().first());
    let names: BTreeSet<&str> = tools.tools().iter().map(omniassist_server::Tool::name).collect();
    assert_eq!((operations().len(), names.len()), (OPERATIONS, OPERATIONS));
    assert!(names.iter().all(|name| name.len() <= 64 && name.starts_with("hub_")));
    assert!(names.iter().filter(|name| name.len() == 64).count() > 10);
    // A registry takes each of them.
    let schemas: Vec<String> = tools.tools().iter().map(|tool| schema(tool).to_string()).collect();
    assert!(schemas.iter().all(|schema| !schema.contains("#/components")));
    println!("{} bytes of schemas", schemas.iter().map(String::len).sum::<usize>());

    // As a source, the tools have the same names.
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let registry = Tools::new(StateMap::new(), Limits::default());
    let start = Instant::now();
    registry.attach(tools).unwrap();
    println!("attached in {:?}", start.elapsed());
    assert_eq!(registry.names(), names.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(registry.sources()[0].withheld.is_empty());
}

/// Returns the shortest of some times that the tools of a document take.
fn time(text: &str, rounds: usize) -> Duration {
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        let tools = OpenApi::from_json("hub", text).unwrap().server("https://api.test").tools().unwrap();
        let time = start.elapsed();
        drop(tools);
        time
    });
    times.min().unwrap()
}

#[test]
fn the_time_grows_no_faster_than_the_document() {
    let [quarter, half, whole] = [OPERATIONS / 4, OPERATIONS / 2, OPERATIONS].map(text_of);
    let times = [time(&quarter, 3), time(&half, 2), time(&whole, 1)];
    println!("{} {} {} bytes: {times:?}", quarter.len(), half.len(), whole.len());
    // Four times the document: work in proportion takes about 4 times as long, and quadratic work 16 times.
    assert!(times[2] < times[0] * 8, "{times:?}");
}
