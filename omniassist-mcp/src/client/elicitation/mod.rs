//! Questions of a server to the user: the protocol calls them elicitation.

mod held;
mod question;
mod waiting;

pub(super) use held::{HeldCalls, OpenCall};
pub(super) use question::{Question, Unshown};
pub(super) use waiting::{Asked, Then, Waiting, not_shown};
