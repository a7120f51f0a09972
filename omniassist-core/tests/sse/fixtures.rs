//! Tests with recorded streams of model providers, from the folder `OMNIASSIST_FIXTURES` if it is set.

use std::fs;
use std::path::Path;

use super::{bytewise, whole};

/// Streams of providers for test runs without recordings: the bytes and the number of data frames.
const SMALL: [(&str, usize); 3] = [
    (
        ": OPENROUTER PROCESSING\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hé\"}}]}\n\ndata: [DONE]\n\n",
        2,
    ),
    ("data: {\"candidates\": []}\r\n\r\ndata: {\"usageMetadata\": {}}\r\n\r\n", 2),
    (
        "event: ping\ndata: {\"type\": \"ping\"}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n",
        2,
    ),
];

#[test]
fn recorded_streams_do_not_depend_on_the_chunk_size() {
    for (stream, frames) in SMALL {
        let outcome = whole(stream.as_bytes());
        assert_eq!(outcome.events.len(), frames);
        assert_eq!(bytewise(stream.as_bytes()), outcome);
    }
    let Some(folder) = std::env::var_os("OMNIASSIST_FIXTURES") else {
        println!("OMNIASSIST_FIXTURES is not set: only the small streams were read");
        return;
    };
    let folder = Path::new(&folder);
    let index = fs::read_to_string(folder.join("INDEX.tsv")).unwrap();
    let mut rows = index.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let (path, framing, frames) = (column("path"), column("framing"), column("events"));
    let (mut files, mut events) = (0, 0);
    for row in rows {
        let bytes = fs::read(folder.join(row[path])).unwrap();
        let outcome = whole(&bytes);
        assert_eq!(outcome.error, None, "{}", row[path]);
        assert_eq!(bytewise(&bytes), outcome, "{}", row[path]);
        // In streams with reconstructed frames, `[DONE]` is not a recorded frame and is not counted.
        let counted = outcome.events.iter().filter(|event| row[framing] == "raw" || event.data != "[DONE]");
        assert_eq!(counted.count().to_string(), row[frames], "{}", row[path]);
        files += 1;
        events += outcome.events.len();
    }
    assert!(files > 0);
    println!("{files} recorded streams, {events} events");
}
