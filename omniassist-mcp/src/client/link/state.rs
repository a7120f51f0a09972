use std::sync::Arc;

use crate::client::McpError;
use crate::client::connection::{Connection, Listing};

/// The state of a link, as calls see it.
#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) ready: Option<Ready>,
    /// The attempts that have failed.
    pub(super) failures: u64,
    pub(super) last_failure: Option<Arc<McpError>>,
    /// The link waits until it is wanted.
    pub(super) is_at_rest: bool,
    /// The link has ended.
    pub(super) is_stopped: bool,
}

/// A connection with the tools that the server has.
#[derive(Clone)]
pub(in crate::client) struct Ready {
    pub(in crate::client) connection: Arc<Connection>,
    pub(in crate::client) listing: Arc<Listing>,
}
