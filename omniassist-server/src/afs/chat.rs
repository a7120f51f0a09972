use omniassist_core::event::InstanceState;
use omniassist_core::{JsonText, Text};
use serde_json::{Map, Value};

use super::{Afs, AfsEntry, StoredInstance, UpdateError};
use crate::Principal;
use crate::store::{Scope, StoreError};

/// The stored states of the components of one chat.
#[derive(Debug, Clone)]
pub(crate) struct ChatHistory {
    afs: Afs,
    scope: Scope,
    chat: Text,
}

impl ChatHistory {
    /// Returns the history of a chat. `None` if nothing is stored for this principal.
    pub(crate) fn of(afs: &Afs, principal: &Principal, chat: &Text) -> Option<Self> {
        let scope = Scope::of(principal).filter(|_| afs.stores())?;
        Some(Self { afs: afs.clone(), scope, chat: chat.clone() })
    }

    /// Returns the stored state of an instance.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read.
    pub(crate) async fn load(&self, instance: &str) -> Result<Option<InstanceState>, StoreError> {
        let stored = self.afs.load_instance(&self.scope, &self.chat, instance).await?;
        Ok(stored.map(|stored| to_state(&stored)))
    }

    /// Changes the stored state of an instance, and raises its revision. `change` gets `None` for an instance that is not
    /// stored, and may be called several times.
    ///
    /// # Errors
    ///
    /// Returns the error of `change`, and an error if the state cannot be stored.
    pub(crate) async fn update<E>(
        &self,
        instance: &str,
        change: &mut (dyn FnMut(Option<InstanceState>) -> Result<InstanceState, E> + Send),
    ) -> Result<InstanceState, UpdateError<E>> {
        let mut change = |stored: Option<StoredInstance>| {
            let next = change(stored.as_ref().map(to_state))?;
            Ok(StoredInstance {
                component: next.component,
                rev: next.rev.saturating_add(1),
                state: to_object(&next.state),
                server: next.server.as_ref().map(to_object),
            })
        };
        let stored = self.afs.update_instance(&self.scope, &self.chat, instance, &mut change).await?;
        Ok(to_state(&stored))
    }

    /// Records that an instance was shown.
    ///
    /// # Errors
    ///
    /// Returns an error if the entry cannot be written.
    pub(crate) async fn rendered(
        &self,
        instance: &str,
        component: &str,
        props: Value,
        state: &JsonText,
    ) -> Result<(), StoreError> {
        let path = format!("/modules/history/by-session/{}/new", self.chat);
        let entry = AfsEntry::component_render(instance, component, props, to_object(state));
        self.afs.write(&self.scope, &path, entry).await.map(drop)
    }
}

fn to_state(stored: &StoredInstance) -> InstanceState {
    let json = |object: &Map<String, Value>| JsonText::from_value(&Value::Object(object.clone()));
    let mut state = InstanceState::new(stored.component.clone());
    state.rev = stored.rev;
    state.state = json(&stored.state);
    state.server = stored.server.as_ref().map(json);
    state
}

fn to_object(json: &JsonText) -> Map<String, Value> {
    match json.to_value() {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
