//! Viewers of stored runs.

mod connect;
mod leg_events;
mod view;

pub(crate) use connect::Connection;
pub(crate) use leg_events::LegEvents;
pub(crate) use view::View;
