//! What a mistake is, and all that there are.

use super::{ag_ui, ai_sdk, chat_completions, copilotkit, plain, runs, seals};

/// One mistake: a piece of the product's source, what stands in its place, and the file of the client suite that must
/// fail. Where `replace` says `SLIP`, the built code asks whether this is the one to make.
#[derive(Debug)]
pub(super) struct Slip {
    pub(super) what: &'static str,
    pub(super) file: &'static str,
    /// Stands in the file exactly once.
    pub(super) find: &'static str,
    pub(super) replace: &'static str,
    /// A file of `tests/clients`, without `.test.mjs`: the quickest that notices.
    pub(super) red: &'static str,
}

impl Slip {
    pub(super) const fn new(
        what: &'static str,
        file: &'static str,
        find: &'static str,
        replace: &'static str,
        red: &'static str,
    ) -> Self {
        Self { what, file, find, replace, red }
    }
}

/// All slips, each under the number that the built code knows it by. The numbers begin at 1.
pub(super) fn all() -> impl Iterator<Item = (usize, &'static Slip)> {
    let parts = [
        ai_sdk::SLIPS,
        runs::SLIPS,
        seals::SLIPS,
        plain::SLIPS,
        ag_ui::SLIPS,
        copilotkit::SLIPS,
        chat_completions::SLIPS,
    ];
    parts.into_iter().flatten().enumerate().map(|(index, slip)| (index + 1, slip))
}
