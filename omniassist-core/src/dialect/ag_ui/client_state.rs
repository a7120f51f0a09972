//! State that the client stores and posts back. The reader and the encoder share its form.
//!
//! Provider state and seals go into `encryptedValue`, as the JSON of a metadata map; notes of this dialect go under
//! `omniassist` in `metadata`.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::ProviderMetadata;
use crate::message::body::Body;
use crate::message::raw::{self, Reader};
use crate::{JsonText, Limits, Result, Text};

/// In a call's `encryptedValue`: the id of the interrupt that asks for the call.
pub(super) const INTERRUPT: &str = "interrupt";
/// In a tool message's `encryptedValue`: the seal of the output.
pub(super) const SEAL: &str = "seal";
/// In a tool message's `metadata`: a [`ResultKind`].
pub(super) const RESULT: &str = "result";
/// In a call's `metadata`: `true` where the provider ran it itself.
pub(super) const PROVIDER_EXECUTED: &str = "providerExecuted";
/// In a call's `metadata`: the arguments, where they are not what the client was streamed.
pub(super) const INPUT: &str = "input";

/// The text of a call that was stopped, for the user.
pub(super) const INTERRUPTED: &str = "The call was interrupted; its outcome is unknown.";
/// The text of a call that was denied without a reason, for the user.
pub(super) const DENIED: &str = "The user denied this call; it was not run.";
/// The text of a form that the user closed, for the model.
pub(super) const CANCELLED: &str = "The user cancelled the form.";

/// The result of a call, as a tool message notes it beside the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ResultKind {
    /// The call ran.
    Output,
    /// It failed or could not be run.
    Error,
    /// Somebody denied it.
    Denied,
    /// The run ended first. The message only keeps clients from running the call themselves; it is no result.
    Interrupted,
    /// Likewise, and the arguments never arrived whole.
    Cut,
}

/// A JSON value as the text of a tool message or of arguments: the content of a string, or else JSON.
///
/// A string that the reader would take for something else keeps its quotes, so that it comes back as what it was.
pub(super) fn text_of(value: &JsonText) -> Cow<'_, str> {
    match value.to_str_value() {
        Some(text) if !text.trim().is_empty() && !is_json(&text) => Cow::Owned(text),
        _ => Cow::Borrowed(value.as_str()),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Reads an `encryptedValue`. Returns `None` for what is not a map in two levels: another server wrote it.
///
/// # Errors
///
/// Returns an error when the body has more trees than its budget allows.
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

/// Takes what stands under `omniassist.<key>` out of a map.
pub(super) fn take_own(map: &mut Option<ProviderMetadata>, key: &str) -> Option<Text> {
    let taken = map.as_mut()?.take_own(key)?;
    if map.as_ref().is_some_and(|map| map.is_empty()) {
        *map = None;
    }
    taken.as_str().map(Text::from)
}

/// A map with `omniassist.<key>` set.
pub(super) fn with_own(map: Option<&ProviderMetadata>, key: &str, value: &str) -> ProviderMetadata {
    let mut map = map.cloned().unwrap_or_default();
    map.set_own(key, value);
    map
}
