use omniassist_core::JsonText;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tool::schema;

/// A type of a component's state: every type that is [`Serialize`], [`Deserialize`](serde::Deserialize), [`JsonSchema`] and
/// [`Default`]. The default is the state of a new instance. There is nothing to implement; the trait exists for the
/// compiler's message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the state of a component",
    label = "it needs `Serialize`, `Deserialize`, `JsonSchema` and `Default`",
    note = "add `#[derive(Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]` to `{Self}`"
)]
pub trait StateData: Serialize + DeserializeOwned + JsonSchema + Default + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema + Default + Send + 'static> StateData for T {}

/// The type of one part of a state.
#[derive(Clone)]
pub(super) struct DataType {
    pub(super) schema: Value,
    pub(super) initial: fn() -> JsonText,
    /// Fails for a value that is not of the type.
    pub(super) fits: fn(&JsonText) -> Result<(), serde_json::Error>,
}

impl DataType {
    pub(super) fn of<T: StateData>() -> Self {
        Self {
            schema: schema::generate::<T>(),
            initial: || JsonText::from_serialize(&T::default()).unwrap_or(JsonText::EMPTY_OBJECT),
            fits: |value| value.to::<T>().map(drop),
        }
    }

    /// Returns `true` if the type has a field of this name.
    pub(super) fn has(&self, field: &str) -> bool {
        self.schema.pointer("/properties").is_some_and(|fields| fields.get(field).is_some())
    }
}
