//! A chat with an assistant in a terminal. The assistant runs in this process, and no HTTP is between them.
//!
//! `assistant.rs` has its tools and components. `conversation.rs` runs it and keeps the messages, as any client does:
//! begin there. `transcript.rs` writes the messages as lines, `question/` asks the user for what the model waits for, and
//! `chat.rs` connects them with the keyboard and the screen.
//!
//! `cargo run -p terminal-chat` starts it; `cargo run -p terminal-chat -- --help` lists the keys.

mod assistant;
mod chat;
mod components;
mod conversation;
mod demo;
mod partial_props;
mod question;
mod table_rows;
#[cfg(test)]
mod tests;
mod transcript;

pub use assistant::assistant;
pub use chat::Chat;
pub use conversation::Conversation;
pub use demo::Demo;

/// The text of `--help`.
pub const HELP: &str = "\
A chat with an assistant in a terminal, which shows its components.

Usage: terminal-chat [--demo | --help]

  --demo    A script answers instead of a model. Also the default without a key and a model server.

Keys:
  Enter             Sends the message. Alt+Enter begins a new line.
  Tab               Selects the rows of the last table: arrows move, space ticks, Escape leaves.
  PageUp, PageDown  Scroll.
  Ctrl+C            Stops the answer. Without one, quits.
  y, n              Answer a request for approval.
  Tab, space, Enter Fill in a form or choose: Tab goes to the next field, space changes a box or a choice, Enter
                    goes on and sends at the end. Escape leaves the question open.

The environment chooses the model, by the variables of `cargo run -p quickstart -- --help`.
";
