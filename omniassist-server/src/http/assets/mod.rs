//! Scripts and pages: the widget, the components and the playground.

#[cfg(feature = "widget")]
mod coding;
#[cfg(feature = "playground")]
pub(super) mod playground;
pub(super) mod script;
#[cfg(feature = "widget")]
pub(super) mod widget;
