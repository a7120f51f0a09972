use crate::ContextMessage;

/// Turns the messages of one kind into a line of the block.
///
/// Register one with [`ContextCompressor::template`](super::ContextCompressor::template). A closure from
/// `&ContextMessage` to `String` or `Option<String>` is one; its parameter needs the type written out.
///
/// The message comes with its secrets already replaced, and what the template returns is escaped and cut before it
/// goes into the block: a template need not care for either. Equal lines are merged with a count. A template should
/// depend on nothing but the message, else the block is not the same for the same context. It must not panic:
/// a panic goes to whoever compresses.
///
/// ```
/// use omniassist_core::ContextMessage;
/// use omniassist_core::context::{ContextCompressor, ContextTemplate};
///
/// struct Flags;
///
/// impl ContextTemplate for Flags {
///     fn render(&self, message: &ContextMessage) -> Option<String> {
///         let name = message.data.get("name")?.as_str()?;
///         Some(format!("Feature {name} is on"))
///     }
/// }
///
/// let compressor = ContextCompressor::new().template("feature_flag", Flags);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a context template",
    label = "expected a closure from `&ContextMessage` to `String` or `Option<String>`",
    note = "write the type of a closure's parameter: `|message: &ContextMessage| format!(…)`",
    note = "or implement `ContextTemplate` for a type of your own"
)]
pub trait ContextTemplate: Send + Sync {
    /// The line for this message, without a bullet; `None` leaves the message out.
    fn render(&self, message: &ContextMessage) -> Option<String>;
}

#[diagnostic::do_not_recommend]
impl<F, R> ContextTemplate for F
where
    F: Fn(&ContextMessage) -> R + Send + Sync,
    R: Into<Option<String>>,
{
    fn render(&self, message: &ContextMessage) -> Option<String> {
        self(message).into()
    }
}
