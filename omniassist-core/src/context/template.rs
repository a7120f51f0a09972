use crate::ContextMessage;

/// A template that renders the messages of one kind as a line of the block.
///
/// Register it with [`ContextCompressor::template`](super::ContextCompressor::template). A closure from
/// `&ContextMessage` to `String` or `Option<String>` is a template; the type of its parameter must be written out.
///
/// Secrets of the message are already replaced. The returned line is escaped and truncated before it is added to the
/// block. Equal lines are merged with a count. The line should depend on the message only, so that the same context
/// gives the same block. A template must not panic; a panic propagates to the caller of the compressor.
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
    /// Returns the line for this message without a bullet, or `None` to omit the message.
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
