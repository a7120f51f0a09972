//! A shop whose page and assistant share one cart. For pages that speak AG-UI or CopilotKit: the page shows the cart,
//! the assistant fills it (`tools.rs`), both see each change at once; paying waits for the user's approval, and the
//! assistant asks for what it does not know with a form.
//!
//! `main.rs` serves it.

mod app;
#[cfg(test)]
mod tests;
mod tools;

pub use app::{assistant, model};
