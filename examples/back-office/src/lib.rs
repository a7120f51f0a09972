//! The shop of the quickstart, for a team with roles. The application controls its assistant: the tools of each user,
//! the model of a run, the calls that need an approval, the output of the server, and the audit records. README.md has
//! the commands to try it.
//!
//! | file | content |
//! |---|---|
//! | `staff.rs` | the members of the staff, their roles and the login |
//! | `tools.rs` | the tools, each with the role that it needs |
//! | `decisions.rs` | the decisions about runs, calls and input |
//! | `conversations.rs` | the finished conversations |
//! | `app.rs` | the assistant with all of them |

mod agents;
mod app;
mod conversations;
mod decisions;
mod staff;
mod tools;

pub use app::BackOffice;
