use bytes::BytesMut;

use crate::RunEvent;

/// Writes one run's events in a client's format.
///
/// One encoder serves one response. What it appends to `out` goes to the client in order; it may append nothing for
/// an event, and several frames for another.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not write run events in a client's format",
    note = "implement `DialectEncoder`, or take the encoder of a module in `omniassist_core::dialect`"
)]
pub trait DialectEncoder: Send + Sync {
    /// Appends an event.
    fn encode(&mut self, event: &RunEvent, out: &mut BytesMut);

    /// Appends what ends the response. It follows every run, also one that failed or was stopped. A run that nobody
    /// read for too long ends without a terminal event.
    fn finish(&mut self, out: &mut BytesMut);

    /// Returns `true` if a comment line (`: …`) may stand between two frames, to keep an idle connection open. Default: yes, as
    /// in every event stream.
    fn takes_comments(&self) -> bool {
        true
    }

    /// Returns `true` if the response must break off at its end, as a lost connection does: the run did not end well, and the
    /// format has no word for that. Asked once, after [`finish`](Self::finish). Default: no.
    fn is_cut(&self) -> bool {
        false
    }
}
