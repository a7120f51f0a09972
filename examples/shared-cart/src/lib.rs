//! A shop whose page and assistant share one cart, for pages with AG-UI or CopilotKit. The page shows the cart, and the
//! assistant fills it (`tools.rs`); both see each change at once. Paying waits for the user's approval. The assistant asks
//! for missing details with a form. It shows cards of teas, on which the user notes and orders packs (`components.rs`).
//!
//! `main.rs` serves the application.

mod app;
mod components;
#[cfg(test)]
mod tests;
mod tools;

pub use app::assistant;
