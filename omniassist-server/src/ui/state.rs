use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use omniassist_core::{Limits, Text};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::afs::{Afs, AfsEntry, StoredInstance, UpdateError};
use crate::store::{Scope, StoreError};
use crate::tool::schema::{PartialCheck, generate};

/// The state of one instance of a component, as the [history](crate::afs) of a chat keeps it.
///
/// A change is made to the stored state, so that no change of another server is lost. This value has it after the write
/// succeeded. With [`Afs::transcript`], nothing is stored and only this value changes.
///
/// ```
/// use omniassist_server::Principal;
/// use omniassist_server::store::Scope;
/// use omniassist_server::ui::ComponentState;
/// use omniassist_server::afs::{Afs, AfsHistory};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let afs = Afs::new().mount(AfsHistory::in_memory());
/// let ada = Scope::of(&Principal::new("ada")).ok_or("a history needs a principal")?;
///
/// let mut cart = ComponentState::load("cart_1", &afs, &ada, "chat-1").await;
/// cart.set("count", 3).await?;
///
/// let again = ComponentState::load("cart_1", &afs, &ada, "chat-1").await;
/// assert_eq!(again.get("count"), Some(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ComponentState {
    instance: Text,
    afs: Afs,
    scope: Scope,
    session: Text,
    state: Map<String, Value>,
    check: Option<Arc<PartialCheck>>,
}

impl ComponentState {
    /// Creates the state of an instance with initial members, which are not stored before the first change.
    #[must_use]
    pub fn new(
        instance: impl Into<Text>,
        afs: &Afs,
        scope: &Scope,
        session: impl Into<Text>,
        initial: Map<String, Value>,
    ) -> Self {
        Self {
            instance: instance.into(),
            afs: afs.clone(),
            scope: scope.clone(),
            session: session.into(),
            state: initial,
            check: None,
        }
    }

    /// Loads the latest state of an instance. One that cannot be read is logged, and the state is empty.
    pub async fn load(instance: impl Into<Text>, afs: &Afs, scope: &Scope, session: impl Into<Text>) -> Self {
        let (instance, session) = (instance.into(), session.into());
        let state = get_component_state(afs, scope, &session, &instance).await.unwrap_or_default();
        Self::new(instance, afs, scope, session, state)
    }

    /// Checks each change against the schema of a type. Members that are absent are not missed. Default: no check.
    ///
    /// # Errors
    ///
    /// Returns an error if the type has no schema that can be checked.
    pub fn checked<S: schemars::JsonSchema>(mut self) -> Result<Self, ComponentStateError> {
        self.check =
            Some(Arc::new(PartialCheck::new(generate::<S>(), &Limits::default()).map_err(Kind::Invalid)?));
        Ok(self)
    }

    /// Returns a member. `None` if it is absent or of another type.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        T::deserialize(self.state.get(key)?).ok()
    }

    /// Returns all members.
    #[must_use]
    pub fn get_all(&self) -> &Map<String, Value> {
        &self.state
    }

    /// Sets a member, and stores the state.
    ///
    /// # Errors
    ///
    /// Returns an [invalid](ComponentStateError::is_invalid) error for a value that does not fit the schema, and an error
    /// if the state cannot be stored. The state is then as before.
    pub async fn set(
        &mut self,
        key: impl Into<String> + Send,
        value: impl Serialize + Send,
    ) -> Result<(), ComponentStateError> {
        let value = serde_json::to_value(value).map_err(|error| Kind::Invalid(error.to_string()))?;
        self.update([(key.into(), value)].into_iter().collect()).await
    }

    /// Sets several members, and stores the state once. Other members stay.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`set`](Self::set).
    pub async fn update(&mut self, updates: Map<String, Value>) -> Result<(), ComponentStateError> {
        if !self.afs.stores() {
            self.state = merged(self.state.clone(), &updates, self.check.as_deref())?;
            return Ok(());
        }
        let (initial, check) = (&self.state, self.check.as_deref());
        let mut change = |before: Option<StoredInstance>| {
            let mut next = before.unwrap_or_else(|| StoredInstance::new(&self.instance, initial.clone()));
            next.state = merged(next.state, &updates, check)?;
            next.rev += 1;
            Ok(next)
        };
        let written = self.afs.update_instance(&self.scope, &self.session, &self.instance, &mut change).await;
        self.state = written?.state;
        Ok(())
    }

    /// Returns a copy of all members.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        self.state.clone()
    }
}

impl fmt::Debug for ComponentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComponentState").field("instance", &self.instance).finish_non_exhaustive()
    }
}

fn merged(
    mut state: Map<String, Value>,
    updates: &Map<String, Value>,
    check: Option<&PartialCheck>,
) -> Result<Map<String, Value>, Kind> {
    state.extend(updates.clone());
    match check.and_then(|check| check.faults(&state)) {
        None => Ok(state),
        Some(faults) => Err(Kind::Invalid(faults)),
    }
}

/// Returns the latest state of an instance. `None` if there is none, or if it cannot be read, which is logged.
pub async fn get_component_state(
    afs: &Afs,
    scope: &Scope,
    session: &str,
    instance: &str,
) -> Option<Map<String, Value>> {
    let loaded = afs.load_instance(scope, session, instance).await.unwrap_or_else(|error| {
        tracing::error!(error = %crate::one_line::chain(&error), instance, "the state of a component cannot be read");
        None
    });
    Some(loaded?.state)
}

/// Replaces the state of an instance.
///
/// # Errors
///
/// Returns an error if it cannot be stored, and an [invalid](StoreError::is_invalid) one without a history.
pub async fn save_component_state(
    afs: &Afs,
    scope: &Scope,
    session: &str,
    instance: &str,
    state: Map<String, Value>,
) -> Result<(), StoreError> {
    let path = format!("/modules/history/by-session/{session}/new");
    afs.write(scope, &path, AfsEntry::component_state(instance, state)).await?;
    Ok(())
}

/// The reason why the state of a component was not changed.
#[derive(Debug)]
pub struct ComponentStateError(Kind);

#[derive(Debug)]
enum Kind {
    Invalid(String),
    Deleted,
    Store(StoreError),
}

impl ComponentStateError {
    /// Returns `true` if the state does not fit its schema. The text names the faults.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        matches!(self.0, Kind::Invalid(_))
    }

    /// Returns `true` if the conversation was deleted.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        matches!(self.0, Kind::Deleted)
    }
}

impl From<Kind> for ComponentStateError {
    fn from(kind: Kind) -> Self {
        Self(kind)
    }
}

impl From<UpdateError<Kind>> for ComponentStateError {
    fn from(error: UpdateError<Kind>) -> Self {
        Self(match error {
            UpdateError::Refused(kind) => kind,
            UpdateError::Deleted => Kind::Deleted,
            UpdateError::Store(error) => Kind::Store(error),
        })
    }
}

impl fmt::Display for ComponentStateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Invalid(faults) => write!(f, "The state of the component does not fit: {faults}"),
            Kind::Deleted => f.write_str("The conversation was deleted."),
            Kind::Store(_) => f.write_str("The state of the component cannot be stored."),
        }
    }
}

impl StdError for ComponentStateError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0 {
            Kind::Store(error) => Some(error),
            _ => None,
        }
    }
}
