use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Text;

/// A JSON value stored as text, on one line.
///
/// Tool arguments and outputs pass through the engine unchanged: key order, number spelling and escapes are kept, and
/// nothing is parsed until the value is needed. The text never contains a raw line feed or carriage return, so it can
/// be written into a server-sent event unchanged.
///
/// ```
/// use omniassist_core::JsonText;
///
/// let json = JsonText::parse("{\"n\": 1}")?;
/// assert_eq!(json.as_str(), "{\"n\": 1}");
/// assert_eq!(json.to_value()["n"], 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct JsonText(Text);

impl JsonText {
    /// JSON `null`.
    pub const NULL: Self = Self(Text::from_static("null"));
    /// The empty object.
    pub const EMPTY_OBJECT: Self = Self(Text::from_static("{}"));

    /// Checks that a text is one JSON value. Removes surrounding white space, and the white space between the tokens of
    /// a value with several lines.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not one complete JSON value.
    pub fn parse(text: impl Into<Text>) -> Result<Self, serde_json::Error> {
        let text = text.into();
        let raw: &RawValue = serde_json::from_str(&text)?;
        Ok(Self::from_raw(text.slice_ref(raw.get())))
    }

    /// Wraps text that is one JSON value without surrounding white space.
    pub(crate) fn from_raw(text: Text) -> Self {
        if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none() {
            return Self(text);
        }
        Self(without_white_space(&text).into())
    }

    /// Serialises a value.
    ///
    /// # Errors
    ///
    /// Returns an error if the value has no JSON form, such as a map with keys that are not strings.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// Returns the text of a value.
    #[must_use]
    pub fn from_value(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }

    /// Returns a JSON string with this content.
    #[must_use]
    pub fn from_str_value(text: &str) -> Self {
        Self(serde_json::Value::from(text).to_string().into())
    }

    /// Returns the JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the JSON text, shared.
    #[must_use]
    pub fn text(&self) -> &Text {
        &self.0
    }

    /// Parses into a type.
    ///
    /// # Errors
    ///
    /// Returns an error if the value does not match the type.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// Parses into a tree. A value nested deeper than the parser's limit becomes null.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        self.to().unwrap_or_default()
    }

    /// Returns `true` if the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// Returns the content of a JSON string, or `None` for any other kind of value.
    #[must_use]
    pub fn to_str_value(&self) -> Option<String> {
        if self.0.starts_with('"') { self.to().ok() } else { None }
    }
}

/// Removes the white space between the tokens of a JSON value. Key order, escapes and the spelling of numbers are kept.
fn without_white_space(json: &str) -> String {
    let mut compact = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for character in json.chars() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if matches!(character, ' ' | '\t' | '\n' | '\r') {
            continue;
        } else {
            in_string = character == '"';
        }
        compact.push(character);
    }
    compact
}

impl Default for JsonText {
    /// JSON `null`.
    fn default() -> Self {
        Self::NULL
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(String::from(Box::<str>::from(raw))).map_err(serde::de::Error::custom)
    }
}
