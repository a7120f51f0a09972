//! The payload of a notification: for each hint a letter and the id of its run, in 32 hexadecimal digits.

use omniassist_server::store::{Hint, RunId};
use uuid::Uuid;

/// The bytes of a hint.
const LENGTH: usize = 33;

/// The hints of a notification, whose payload has less than 8,000 bytes.
const MAX_HINTS: usize = 240;

/// Writes the payloads of as many notifications as are needed.
pub(super) fn write<'h>(hints: impl IntoIterator<Item = &'h Hint>) -> Vec<String> {
    let mut payloads: Vec<String> = Vec::new();
    for hint in hints {
        let (letter, run) = match hint {
            Hint::Grown(run) => ('g', run),
            Hint::Signalled(run) => ('s', run),
            Hint::Free(run) => ('f', run),
            _ => continue,
        };
        if payloads.last().is_none_or(|last| last.len() >= MAX_HINTS * LENGTH) {
            payloads.push(String::new());
        }
        if let Some(last) = payloads.last_mut() {
            last.push(letter);
            last.push_str(
                Uuid::from_bytes(*run.as_bytes()).simple().encode_lower(&mut Uuid::encode_buffer()),
            );
        }
    }
    payloads
}

/// Reads a payload. `None`: it is of a later version, or of somebody else.
pub(super) fn read(payload: &str) -> Option<Vec<Hint>> {
    let (hints, rest) = payload.as_bytes().as_chunks::<LENGTH>();
    let read = hints.iter().map(|[letter, run @ ..]| {
        let run = RunId::from_bytes(Uuid::try_parse_ascii(run).ok()?.into_bytes());
        Some(match letter {
            b'g' => Hint::Grown(run),
            b's' => Hint::Signalled(run),
            b'f' => Hint::Free(run),
            _ => return None,
        })
    });
    rest.is_empty().then(|| read.collect())?
}

#[cfg(test)]
mod tests {
    use omniassist_server::store::{Hint, RunId};

    use super::{read, write};

    #[test]
    fn hints_are_read_as_written() {
        let run = RunId::random;
        let hints = [Hint::Grown(run()), Hint::Signalled(run()), Hint::Free(run())];
        let many: Vec<Hint> = hints.into_iter().cycle().take(1000).collect();
        for hints in [&hints[..], &many, &[]] {
            let payloads = write(hints);
            assert!(payloads.iter().all(|payload| payload.len() < 8000));
            let found: Vec<Hint> = payloads.iter().flat_map(|payload| read(payload).unwrap()).collect();
            assert_eq!(found, hints);
        }
    }

    #[test]
    fn other_payloads_are_no_hints() {
        let hint = write(&[Hint::Free(RunId::random())]).remove(0);
        for payload in ["x".to_owned(), format!("{hint}f"), hint.replace('f', "x"), format!("é{hint}")] {
            assert_eq!(read(&payload), None, "{payload}");
        }
    }
}
