//! What the four backends `axum-backend`, `actix-backend`, `hyper-backend` and `tower-backend` are about: everybody
//! who has a token keeps a list of tasks. Nothing here knows of a web framework, or of an assistant.

mod error;
mod list;
mod settings;
mod users;

pub use error::TaskError;
pub use list::{Task, Tasks};
pub use settings::{Settings, stopped};
pub use users::{User, Users};
