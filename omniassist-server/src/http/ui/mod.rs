//! The routes of user interfaces: instances of components, and apps.

mod app_headers;
pub(super) mod apps;
pub(super) mod instance;
