//! The instances of components in a run: their stored states, and the message with which the model learns of them.

use std::borrow::Cow;

use omniassist_core::event::{InstanceState, RunErrorCode};
use omniassist_core::{ContextMessage, JsonText};
use serde_json::{Map, Value, json};

use crate::RunContext;
use crate::afs::ChatHistory;
use crate::instances::{Instance, Instances};
use crate::one_line;

/// The type of the context message that describes the instances, and its id. Clients have no messages of this type.
const CONTEXT: &str = "shown-components";

/// The bytes of that message, less than the compressor cuts off.
const MAX_CONTEXT_BYTES: usize = 1_900;

/// The bytes of a value, after which the compressor cuts it off.
const MAX_VALUE_BYTES: usize = 512;

/// Takes the stored states of the instances of a run, where they are newer than those of the conversation.
///
/// # Errors
///
/// Returns an error if they cannot be read.
pub(in crate::engine) async fn load(run: &RunContext) -> Result<(), RunErrorCode> {
    let Some(history) = run.extensions().get::<ChatHistory>() else { return Ok(()) };
    let instances = run.instances();
    for Instance { id, state: known, .. } in instances.list().into_iter().filter(|known| known.has_state) {
        let stored = history.load(&id).await.map_err(|error| {
            let error = one_line::chain(&error);
            tracing::error!(instance = id.as_str(), %error, "the state of a component cannot be read");
            RunErrorCode::Internal
        })?;
        if let Some(stored) = stored {
            instances.refresh(&id, newest(known, stored));
        }
    }
    Ok(())
}

/// Returns the stored state, with what the user has changed in the page since it was sent.
fn newest(known: InstanceState, stored: InstanceState) -> InstanceState {
    if stored.rev > known.rev { stored } else { stored.with_state(known.state) }
}

/// Returns the message with which the model learns of the newest instances, by their ids.
pub(in crate::engine) fn context(instances: &Instances) -> Option<ContextMessage> {
    let mut shown = Map::new();
    let mut bytes = 0_usize;
    for instance in instances.list().into_iter().rev() {
        let entry = described(&instance);
        let entry_bytes = entry.to_string().len().min(MAX_VALUE_BYTES);
        bytes =
            bytes.saturating_add(instance.id.len()).saturating_add(entry_bytes).saturating_add(" = , ".len());
        if bytes > MAX_CONTEXT_BYTES {
            break;
        }
        shown.insert(instance.id.as_str().to_owned(), entry);
    }
    (!shown.is_empty()).then(|| ContextMessage::new(CONTEXT, CONTEXT, Value::Object(shown)))
}

/// Returns the context of a client without messages that look like that of the instances.
pub(super) fn of_client(context: &[ContextMessage]) -> Cow<'_, [ContextMessage]> {
    let is_ours = |message: &ContextMessage| message.kind.trim().eq_ignore_ascii_case(CONTEXT);
    if context.iter().any(is_ours) {
        return context.iter().filter(|message| !is_ours(message)).cloned().collect();
    }
    Cow::Borrowed(context)
}

fn described(Instance { state, has_state, .. }: &Instance) -> Value {
    let mut entry = json!({ "component": state.component });
    if let (true, Some(entry)) = (*has_state, entry.as_object_mut()) {
        if let Some(server) = &state.server {
            entry.insert("server".to_owned(), server.to_value());
        }
        if state.state != JsonText::EMPTY_OBJECT {
            entry.insert("state".to_owned(), state.state.to_value());
        }
    }
    entry
}
