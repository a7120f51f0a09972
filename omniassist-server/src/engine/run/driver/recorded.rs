//! The events of a run that has observers.

use omniassist_core::RunEvent;

use super::Driver;

impl Driver {
    /// Records and returns the next event.
    pub(super) fn record_next(&mut self) -> Option<RunEvent> {
        let event = self.next_event()?;
        if let Some(recording) = &mut self.recording {
            recording.take(&event, &self.tools);
        }
        if event.is_terminal() {
            self.end_recording();
        }
        Some(event)
    }

    /// Completes the recording, with the events that were not read.
    pub(super) fn end_recording(&mut self) {
        let Some(mut recording) = self.recording.take() else { return };
        while let Some(event) = self.next_event() {
            recording.take(&event, &self.tools);
        }
        if let Some(report) = self.trace.take_report(self.setup.config.prices.as_ref()) {
            recording.end(report);
        }
    }
}
