use serde::{Serialize, Serializer};

/// A wrapper that marks a tool's output as JSON. It serialises as the value inside: `Ok(Json(order))` and `Ok(order)` are
/// the same.
///
/// ```
/// use omniassist_server::tool::Json;
///
/// assert_eq!(serde_json::to_string(&Json([1, 2])).unwrap(), "[1,2]");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize> Serialize for Json<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T> From<T> for Json<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}
