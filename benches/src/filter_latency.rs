//! The delay that the filter of personal data adds to text that contains none.

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use omniassist_core::filter::{FilteredTurn, Pii};
use omniassist_core::{EventBuf, LlmEvent, Text};

/// English text with Markdown, code and links.
const TEXT: &str = include_str!("../../README.md");

/// The number of answers.
const ROUNDS: usize = 200;

/// Prints the time from a delta to the release of its last byte, for deltas of one word at full speed.
pub(crate) fn print() -> Result<(), Box<dyn Error>> {
    let words: Vec<Text> = TEXT.split_inclusive(' ').map(Text::from).collect();
    let mut delays = Vec::with_capacity(ROUNDS * words.len());
    for _ in 0..ROUNDS {
        answer(&words, &mut delays)?;
    }
    delays.sort_unstable();
    let at = |part: usize| {
        let index = (delays.len() * part / 1000).min(delays.len().saturating_sub(1));
        delays.get(index).map_or(f64::NAN, |delay| delay.as_secs_f64() * 1e6)
    };
    writeln!(
        io::stdout(),
        "{} deltas: p50 {:.1} µs, p99 {:.1} µs, p99.9 {:.1} µs, most {:.1} µs",
        delays.len(),
        at(500),
        at(990),
        at(999),
        at(1000)
    )?;
    Ok(())
}

/// Filters one answer and appends the delay of each delta.
fn answer(words: &[Text], delays: &mut Vec<Duration>) -> Result<(), Box<dyn Error>> {
    let mut turn = FilteredTurn::new(vec![Arc::new(Pii::new())]);
    let mut out = EventBuf::new();
    let mut waiting = VecDeque::new();
    let (mut received, mut released) = (0, 0);
    for word in words {
        received += word.len();
        waiting.push_back((received, Instant::now()));
        turn.take(LlmEvent::TextDelta { block: 0, delta: word.clone() }, &mut out)?;
        released += bytes(&mut out);
        let now = Instant::now();
        let ready = waiting.iter().take_while(|(end, _)| *end <= released).count();
        delays.extend(waiting.drain(..ready).map(|(_, start)| now - start));
    }
    turn.end(&mut out)?;
    released += bytes(&mut out);
    // The filter replaces a match by a text of another length.
    if released != received {
        return Err(format!("{released} bytes were released of {received}").into());
    }
    Ok(())
}

/// Takes the events and counts the bytes of text in them.
fn bytes(events: &mut EventBuf<LlmEvent>) -> usize {
    let mut bytes = 0;
    while let Some(event) = events.pop() {
        if let LlmEvent::TextDelta { delta, .. } = event {
            bytes += delta.len();
        }
    }
    bytes
}
