//! Integers whose digits a parsed value does not keep.

use std::collections::BTreeMap;

use omniassist_server::core::JsonText;
use serde_json::value::RawValue;

/// Returns the place of the first integer that has more than 64 bits, such as `lines[0].id`.
pub(crate) fn long_integer(json: &JsonText) -> Option<String> {
    find(json.as_str(), "")
}

/// Searches in the text of one value. The recursion ends, because the arguments were parsed, which bounds their depth.
fn find(json: &str, place: &str) -> Option<String> {
    match json.bytes().next()? {
        b'{' => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
            let separator = if place.is_empty() { "" } else { "." };
            fields.iter().find_map(|(name, value)| find(value.get(), &format!("{place}{separator}{name}")))
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            items.iter().enumerate().find_map(|(index, item)| find(item.get(), &format!("{place}[{index}]")))
        }
        b'-' | b'0'..=b'9' => {
            let is_integer = json.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
            let fits = json.parse::<i64>().is_ok() || json.parse::<u64>().is_ok();
            (is_integer && !fits).then(|| place.to_owned())
        }
        _ => None,
    }
}
