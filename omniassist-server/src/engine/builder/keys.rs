//! The seal keys of an assistant, and what instances with the same keys share.

use crate::seal::SealKeys;
use crate::{Error, Result};

/// Logs what instances with the same keys do not share.
pub(super) fn report_local_state(has_store: bool) {
    if has_store {
        tracing::info!(
            "approvals of stored conversations count once at all instances; used approvals of anonymous users are kept \
             in this process: share them with `AssistantBuilder::replay_guard`"
        );
    } else {
        tracing::info!(
            "instances share nothing: a stop reaches the runs of its own process, and another instance, or this one \
             after a restart, can run an approved call again until the approval expires; share both with \
             `AssistantBuilder::store`, or the used approvals with `AssistantBuilder::replay_guard`"
        );
    }
}

pub(super) fn process_keys() -> Result<SealKeys> {
    tracing::warn!(
        "no seal keys are set: seals of this process cannot be verified by another instance or after a restart; \
         set keys with `AssistantBuilder::seal_keys`, or the environment variable that `seal_keys_from_env` reads"
    );
    SealKeys::random().map_err(|error| Error::configuration("no seal key could be made").with_source(error))
}
