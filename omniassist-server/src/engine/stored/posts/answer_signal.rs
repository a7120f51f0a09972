//! The signal that brings an answer to its run.

use std::collections::BTreeMap;

use omniassist_core::{JsonText, Text};
use serde::Deserialize;

use super::input::Input;
use crate::engine::stores::answers::Answer;
use crate::store::{Received, Signal, SignalKind, StoreError};

/// The field of an answer that has the input of its post. Earlier versions ignore it.
const INPUT: &str = "input";

/// Creates the signal of an answer. `input` is that of its post: the leg that begins with the answer has its context and tools,
/// also if another server begins it. One answer of a post has it.
///
/// # Errors
///
/// Returns an error if the answer or the input has no JSON form.
pub(in crate::engine::stored) fn answer_signal(
    call: Text,
    answer: &Answer,
    input: Option<&Input>,
    by: &str,
) -> Result<Signal, StoreError> {
    let mut signal = Signal::new(SignalKind::Answer(call), by);
    let data = match input {
        None => serde_json::to_vec(answer),
        Some(input) => with_input(answer, input),
    };
    signal.data = data.map_err(StoreError::invalid)?.into();
    Ok(signal)
}

/// Returns `true` if two signals bring the same answer.
pub(in crate::engine::stored) fn is_same_answer(one: &Signal, other: &Signal) -> bool {
    let answer = |signal: &Signal| serde_json::from_slice::<Answer>(&signal.data).ok();
    answer(one).is_some_and(|one| answer(other) == Some(one))
}

/// Returns an answer with an input. An answer is an object of its kind, so that the input is one of its fields.
fn with_input(answer: &Answer, input: &Input) -> Result<Vec<u8>, serde_json::Error> {
    let mut fields: BTreeMap<Text, BTreeMap<Text, JsonText>> = JsonText::from_serialize(answer)?.to()?;
    let input = JsonText::from_serialize(input)?;
    if let Some(fields) = fields.values_mut().next() {
        fields.insert(Text::from_static(INPUT), input);
    }
    serde_json::to_vec(&fields)
}

/// Returns the input of the latest post with answers among the signals of a run. `None` if none of them has one, as those of
/// earlier versions.
///
/// # Errors
///
/// Returns an error if it cannot be read.
pub(in crate::engine::stored) fn latest_input(signals: &[Received]) -> Result<Option<Input>, StoreError> {
    #[derive(Deserialize)]
    struct Given {
        #[serde(default)]
        input: Option<Input>,
    }
    for received in signals.iter().rev() {
        if let SignalKind::Answer(_) = received.signal.kind {
            let given: BTreeMap<Text, Given> =
                serde_json::from_slice(&received.signal.data).map_err(StoreError::corrupt)?;
            if let Some(input) = given.into_values().find_map(|given| given.input) {
                return Ok(Some(input));
            }
        }
    }
    Ok(None)
}
