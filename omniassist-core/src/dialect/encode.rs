use bytes::BytesMut;

use crate::RunEvent;

/// Writes one run's events in a client's format.
///
/// One encoder serves one response. The bytes appended to `out` are sent to the client in order. An event may produce
/// no frame or several.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not write run events in a client's format",
    note = "implement `DialectEncoder`, or take the encoder of a module in `omniassist_core::dialect`"
)]
pub trait DialectEncoder: Send + Sync {
    /// Appends an event.
    fn encode(&mut self, event: &RunEvent, out: &mut BytesMut);

    /// Appends the end of the response. It is called after every run, including one that failed or was stopped. A run
    /// that was ended because its client stopped reading has no terminal event.
    fn finish(&mut self, out: &mut BytesMut);

    /// Returns `true` if comment lines (`: …`) may be sent between frames to keep an idle connection open. Default:
    /// `true`, as in every event stream.
    fn takes_comments(&self) -> bool {
        true
    }

    /// Returns `true` if the server must abort the connection instead of ending the response: the run did not succeed,
    /// and the format cannot express that. It is called once, after [`finish`](Self::finish). Default: `false`.
    fn is_cut(&self) -> bool {
        false
    }
}
