//! A leg that viewers of this process join: one that it drives, or one that another instance drives.

use std::sync::Arc;

use omniassist_core::message::Message;
use omniassist_core::{JsonText, Text};

use super::journal::Position;
use super::tail::Tail;

/// The tail of a leg, and what came before the leg.
#[derive(Clone)]
pub(in crate::engine) struct ShownLeg {
    pub(in crate::engine) tail: Arc<Tail>,
    /// The message as it was before the leg. `None` if the leg begins it.
    pub(in crate::engine) earlier: Option<Arc<Message>>,
    /// The message before the one that the leg writes. `None` for a leg of another instance.
    pub(in crate::engine) parent: Option<Text>,
    /// The client's shared state before the leg. `None` for a leg of another instance.
    pub(in crate::engine) state: Option<JsonText>,
    /// The position in the journal before the leg.
    pub(in crate::engine) from: Position,
}
