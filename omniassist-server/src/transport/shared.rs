use std::sync::atomic::AtomicBool;
use std::time::Duration;

use omniassist_core::Limits;

use crate::outbound::Clients;

pub(super) struct Shared {
    pub(super) clients: Clients,
    pub(super) limits: Limits,
    pub(super) first_byte: Duration,
    /// `true` if the provider has ever answered, so that a connection may have come from the pool.
    pub(super) answered: AtomicBool,
}
