//! The shop of the quickstart, for a team with roles. The application keeps control of its assistant: who uses which tool,
//! which model answers, which calls need an approval, what leaves the server, and what is recorded. README.md has the
//! commands to try it.
//!
//! | file | content |
//! |---|---|
//! | `staff.rs` | the members of the staff, their roles and the login |
//! | `tools.rs` | the tools, each with the role that it needs |
//! | `decisions.rs` | the decisions about runs, calls and input |
//! | `conversations.rs` | the finished conversations |
//! | `app.rs` | the assistant with all of them |

mod app;
mod conversations;
mod decisions;
mod staff;
mod tools;

pub use app::BackOffice;
