//! The wire formats that chat clients speak, as pure functions.

pub mod ai_sdk;
