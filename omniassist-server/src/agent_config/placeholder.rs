//! Placeholders in prompts: `{{name}}`.

use std::collections::BTreeMap;

use omniassist_core::Text;

use super::error::Kind;

/// Replaces the placeholders of a prompt. What is put in is not searched again.
///
/// # Errors
///
/// Returns the reason if a placeholder has no value, or no end.
pub(crate) fn fill(prompt: &Text, values: &BTreeMap<Text, Text>) -> Result<Text, Kind> {
    if !prompt.contains("{{") {
        return Ok(prompt.clone());
    }
    let mut filled = String::with_capacity(prompt.len());
    let mut rest = prompt.as_str();
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").ok_or(Kind::OpenPlaceholder)?;
        let value = values.get(name.trim()).ok_or_else(|| Kind::Unknown {
            what: "placeholder",
            name: name.trim().into(),
            known: values.keys().cloned().collect(),
        })?;
        filled.push_str(before);
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled.into())
}
