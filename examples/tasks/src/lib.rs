//! The domain of the four backends `axum-backend`, `actix-backend`, `hyper-backend` and `tower-backend`: each user with
//! a token has a list of tasks. It depends on no web framework and no assistant.

mod error;
mod list;
mod settings;
mod users;

pub use error::TaskError;
pub use list::{Task, Tasks};
pub use settings::Settings;
pub use users::{User, Users};
