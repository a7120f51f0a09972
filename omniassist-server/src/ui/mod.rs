//! The components that come with the crate, and what stored components have left behind.
//!
//! | module | use it to |
//! |---|---|
//! | [`component`](crate::component) | define a component, its state and its actions, and to show one from a tool |
//! | `ui::builtin` (feature `components`) | add a component that needs no code of your own: a card, a table, a form … |
//! | this module | read or change the state of an instance outside a run: [`ComponentState`] |
//! | [`afs`] | list and read the entries of a conversation under paths, or to mount a module of your own |
//!
//! Within a run, tools and actions change a state by the [`ComponentContext`](crate::component::ComponentContext). A
//! [`ComponentState`] is for other code of the backend, such as a webhook that marks an order as paid.

#[cfg(feature = "components")]
pub mod builtin;
mod message;
mod state;

pub use crate::afs;
pub use message::{UiMessage, UiMessageComponent};
pub use state::{ComponentState, ComponentStateError, get_component_state, save_component_state};
