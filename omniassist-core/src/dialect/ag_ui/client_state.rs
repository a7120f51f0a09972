//! State that the client stores and posts back. The reader and the encoder share its form.
//!
//! Provider state and seals are stored in `encryptedValue`, as the JSON of a metadata map. Notes of this dialect are
//! stored under `omniassist` in `metadata`.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::ProviderMetadata;
use crate::message::body::Body;
use crate::message::raw::{self, Reader};
use crate::{JsonText, Limits, Result, Text};

/// Key in a call's `encryptedValue`: the id of the interrupt for the call.
pub(super) const INTERRUPT: &str = "interrupt";
/// Key in a tool message's `encryptedValue`: the seal of the output.
pub(super) const SEAL: &str = "seal";
/// Key in a tool message's `metadata`: a [`ResultKind`].
pub(super) const RESULT: &str = "result";
/// Key in a call's `metadata`: `true` if the provider executed the call.
pub(super) const PROVIDER_EXECUTED: &str = "providerExecuted";
/// Key in a call's `metadata`: the arguments, if they differ from those streamed to the client.
pub(super) const INPUT: &str = "input";

/// The text shown to the user for a call that was stopped.
pub(super) const INTERRUPTED: &str = "The call was interrupted; its outcome is unknown.";
/// The text shown to the user for a call that was denied without a reason.
pub(super) const DENIED: &str = "The user denied this call; it was not run.";
/// The text sent to the model for a form that the user closed.
pub(super) const CANCELLED: &str = "The user cancelled the form.";

/// The kind of a call's result, stored in a tool message beside its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ResultKind {
    /// The call ran.
    Output,
    /// The call failed or could not be run.
    Error,
    /// The call was denied.
    Denied,
    /// The run ended before the call did. This is not a result: the message only keeps clients from running the call
    /// themselves.
    Interrupted,
    /// Like `Interrupted`, and the arguments are incomplete.
    Cut,
}

/// Returns a JSON value as the text of a tool message or of arguments: the content of a string, or JSON for other
/// values.
///
/// A string whose content the reader would parse as another value keeps its quotes, so that it is read back as a
/// string.
pub(super) fn text_of(value: &JsonText) -> Cow<'_, str> {
    match value.to_str_value() {
        Some(text) if !text.trim().is_empty() && !is_json(&text) => Cow::Owned(text),
        _ => Cow::Borrowed(value.as_str()),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Reads an `encryptedValue`. Returns `None` if it is not a map of two levels, which means that another server wrote
/// it.
///
/// # Errors
///
/// Returns an error if the body exceeds its budget of JSON trees.
pub(super) fn state(body: Body<'_>, text: &str, limits: &Limits) -> Result<Option<ProviderMetadata>> {
    let Ok(raw) = raw::read(text, limits.max_json_depth, Reader::raw) else { return Ok(None) };
    match body.tree(raw, "encryptedValue") {
        Ok(Value::Object(map)) if !map.is_empty() && map.values().all(Value::is_object) => {
            Ok(Some(map.into()))
        }
        Err(error) if error.is_limit() => Err(error),
        _ => Ok(None),
    }
}

/// Removes and returns `omniassist.<key>`.
pub(super) fn take_own(map: &mut Option<ProviderMetadata>, key: &str) -> Option<Text> {
    let taken = map.as_mut()?.take_own(key)?;
    if map.as_ref().is_some_and(|map| map.is_empty()) {
        *map = None;
    }
    taken.as_str().map(Text::from)
}

/// Returns a copy of the map with `omniassist.<key>` set.
pub(super) fn with_own(map: Option<&ProviderMetadata>, key: &str, value: &str) -> ProviderMetadata {
    let mut map = map.cloned().unwrap_or_default();
    map.set_own(key, value);
    map
}
