//! The cases that all transports share, one file per concern.

pub(crate) mod access;
pub(crate) mod agents;
pub(crate) mod apps;
pub(crate) mod connections;
pub(crate) mod errors;
pub(crate) mod files;
pub(crate) mod host_data;
pub(crate) mod keep_alive;
pub(crate) mod leaving;
pub(crate) mod limits;
pub(crate) mod order;
pub(crate) mod paths;
pub(crate) mod playground;
pub(crate) mod readers;
pub(crate) mod routes;
pub(crate) mod shutdown;
pub(crate) mod sockets;
pub(crate) mod widget;
