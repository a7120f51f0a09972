use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The host's values for [`State<T>`](crate::State), one per type.
///
/// ```
/// use omniassist_server::tool::StateMap;
///
/// let mut state = StateMap::new();
/// state.insert(42_u32);
/// assert_eq!(state.get::<u32>(), Some(&42));
/// assert_eq!(state.get::<u64>(), None);
/// ```
#[derive(Clone, Default)]
pub struct StateMap {
    values: HashMap<TypeId, Value>,
}

#[derive(Clone)]
struct Value {
    type_name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
}

impl StateMap {
    /// Creates an empty map.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts a value. It replaces an earlier one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        let value = Value { type_name: type_name::<T>(), value: Arc::new(value) };
        self.values.insert(TypeId::of::<T>(), value);
    }

    /// Returns the value of a type.
    #[must_use]
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.values.get(&TypeId::of::<T>())?.value.downcast_ref()
    }

    pub(crate) fn contains(&self, need: &StateNeed) -> bool {
        self.values.contains_key(&need.type_id)
    }
}

impl fmt::Debug for StateMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self.values.values().map(|value| value.type_name).collect();
        names.sort_unstable();
        f.debug_tuple("StateMap").field(&names).finish()
    }
}

/// A type that a tool requires in the [`StateMap`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct StateNeed {
    type_id: TypeId,
    pub(crate) type_name: &'static str,
}

impl StateNeed {
    pub(crate) fn of<T: 'static>() -> Self {
        Self { type_id: TypeId::of::<T>(), type_name: type_name::<T>() }
    }
}
